"""The command line's words: serve, migrate, check, token, and their flags."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import structlog
import typer
import uvloop
from pydantic import ValidationError

from lockstitch_migrations import MigrationError
from lockstitch_server import commands
from lockstitch_server.config import Settings
from lockstitch_server.model import CallerRole
from lockstitch_server.startup import StartupError
from lockstitch_server.telemetry import configure_logging
from lockstitch_server.workers import COMMAND

EXIT_FAILED = 1
EXIT_REFUSED = 2

cli = typer.Typer(
    help="A durable session store for AI agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DataDir = Annotated[
    Path | None,
    typer.Option(envvar="LOCKSTITCH_DATA_DIR", help="Where the data and keys lie.  [default: lockstitch-data]"),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        envvar="LOCKSTITCH_DATABASE_URL",
        help="A Postgres to use, as the app role.  [default: the embedded one]",
    ),
]
MigrationUrl = Annotated[
    str | None, typer.Option(envvar="LOCKSTITCH_MIGRATION_URL", help="The same database as its owner.")
]


@cli.command()
def serve(
    data_dir: DataDir = None,
    listen: Annotated[
        str | None,
        typer.Option(
            envvar="LOCKSTITCH_LISTEN",
            metavar="HOST:PORT",
            help="Where to serve; port 0 picks one.  [default: 127.0.0.1:50051]",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(envvar="LOCKSTITCH_WORKERS", help="How many processes serve.  [default: 1]")
    ] = None,
    database_url: DatabaseUrl = None,
    migration_url: MigrationUrl = None,
) -> None:
    """Serve; without a database URL, from a Postgres of our own in the data folder."""
    settings = _settings(
        data_dir=data_dir, listen=listen, workers=workers, database_url=database_url, migration_url=migration_url
    )
    uvloop.run(commands.serve(settings))


@cli.command()
def migrate(
    *,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    migration_url: MigrationUrl = None,
    new_store_epoch: Annotated[
        bool, typer.Option("--new-store-epoch", help="The database was restored from a backup.")
    ] = False,
) -> None:
    """Bring the database to this release's schema."""
    settings = _settings(data_dir=data_dir, database_url=database_url, migration_url=migration_url)
    uvloop.run(commands.bring_up_to_date(settings, restored=new_store_epoch))


@cli.command()
def check(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Check the settings and the database, and print what was found."""
    uvloop.run(commands.check(_settings(data_dir=data_dir, database_url=database_url)))


@cli.command()
def token(
    tenant: Annotated[str, typer.Option(help="The tenant it is for.")],
    user: Annotated[str, typer.Option(help="Who calls: a user's id, or an engine's name.")],
    role: Annotated[str, typer.Option(help="user, engine or admin.")],
    data_dir: DataDir = None,
    hours: Annotated[float, typer.Option(min=0.001, max=24 * 366, help="How long it is good for.")] = 24,
) -> None:
    """Sign a token with the data folder's key, for trying things out, and print it and nothing else."""
    try:
        caller_role = CallerRole(role)
    except ValueError:
        raise StartupError(f"a role is user, engine or admin, and {role!r} is none") from None
    settings = _settings(data_dir=data_dir)
    typer.echo(commands.token(settings, tenant=tenant, subject=user, role=caller_role, ttl=timedelta(hours=hours)))


@cli.command(COMMAND, hidden=True)
def serve_worker() -> None:
    """Be one of the processes that `serve --workers` starts."""
    configure_logging(Settings())
    uvloop.run(commands.serve_as_worker())


def _settings(**given: object) -> Settings:
    """Join flags, which win, with the environment."""
    try:
        settings = Settings.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(str(part) for part in first["loc"])
        raise StartupError(f"the setting LOCKSTITCH_{name.upper()} is wrong: {first['msg']}") from error
    configure_logging(settings)
    return settings


def run() -> None:
    """Run a command. What its operator has to mend is a sentence and exit code 2; what we have to, a log line and 1."""
    try:
        cli()
    except (StartupError, MigrationError) as error:
        print(f"lockstitch-server: {error}", file=sys.stderr)  # noqa: T201 - the answer to the operator
        sys.exit(EXIT_REFUSED)
    except Exception:  # Python would tell its words, which may quote what a caller sent
        if not structlog.is_configured():
            raise
        structlog.get_logger(__name__).exception("lockstitch-server failed")
        sys.exit(EXIT_FAILED)
