"""What the command line does, command by command."""

import asyncio
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from textwrap import dedent

from lockstitch_migrations import expected_schema, grant_app, migrate, new_store_epoch
from lockstitch_server import listening, workers
from lockstitch_server.app import check_database, running_server
from lockstitch_server.auth import keys
from lockstitch_server.auth.identity import running_identity
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.config import Settings
from lockstitch_server.data_folder import FolderInUse
from lockstitch_server.embedded import EmbeddedPostgres, running_urls
from lockstitch_server.model import CallerRole
from lockstitch_server.startup import StartupError


async def serve(settings: Settings) -> None:
    """Serve until told to stop."""
    address = _address(settings)
    listening.ensure_free(address)
    with _told_to_stop() as stop:
        async with _database(settings) as database_url:
            if settings.workers > 1:
                await check_database(database_url, settings)
                async with workers.running_workers(settings, database_url) as served:
                    _announce(settings, served)
                    await stop.wait()
            else:
                async with (
                    running_identity(settings) as identity,
                    running_server(settings, database_url, identity, listen=settings.listen) as server,
                ):
                    _announce(settings, listening.Address(address.host, server.port))
                    await stop.wait()


async def serve_as_worker() -> None:
    """Be one of the processes that `serve --workers` starts."""
    with _told_to_stop() as stop:
        await workers.serve_as_worker(stop)


async def bring_up_to_date(settings: Settings, *, restored: bool) -> None:
    """Migrate the database, and mark it as restored where that is what happened to it."""
    if settings.migration_url:
        await _migrate(settings.migration_url, settings.database_url, restored=restored)
    elif settings.database_url:
        raise StartupError("to migrate this database, name it as its owner with LOCKSTITCH_MIGRATION_URL")
    else:
        async with await _embedded(settings) as postgres:
            await _migrate(postgres.owner_url, postgres.app_url, restored=restored)


async def check(settings: Settings) -> None:
    """Say whether `serve` would serve, and on what."""
    _address(settings)
    if settings.database_url:
        await _report(settings, settings.database_url)
        return
    if not (settings.data_dir / "pg").exists():
        raise StartupError(f"there is no database in {settings.data_dir} yet: `lockstitch-server serve` makes it")
    try:
        async with await _embedded(settings) as postgres:
            await _report(settings, postgres.app_url)
    except FolderInUse:  # by a server, whose Postgres answers us as well
        await _report(settings, running_urls(settings.data_dir).app)


def token(settings: Settings, *, tenant: str, subject: str, role: CallerRole, ttl: timedelta) -> str:
    """Sign a token with the data folder's own key."""
    try:
        return TokenSigner(keys.load_or_make(settings.data_dir)).sign(
            tenant=tenant, subject=subject, role=role, ttl=ttl
        )
    except ValueError as error:
        raise StartupError(str(error)) from error


def _address(settings: Settings) -> listening.Address:
    """Where to serve; refuses to put tokens on a network in plain text, unless told so by name."""
    address = listening.parse(settings.listen)
    if settings.failpoints is not None and not listening.is_loopback(address):
        raise StartupError("LOCKSTITCH_FAILPOINTS makes a server fail on purpose: it is for tests, on loopback only")
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise StartupError("LOCKSTITCH_TLS_CERTIFICATE and LOCKSTITCH_TLS_KEY go together")
    if settings.tls_certificate is None:
        if settings.tls_client_authority is not None or settings.client_certificates:
            raise StartupError("client certificates need TLS: set LOCKSTITCH_TLS_CERTIFICATE and LOCKSTITCH_TLS_KEY")
        if not settings.allow_plaintext and not listening.is_loopback(address):
            raise StartupError(
                f"serving on {address} without TLS would put tokens on the network: set LOCKSTITCH_TLS_CERTIFICATE and "
                "LOCKSTITCH_TLS_KEY, or allow it with LOCKSTITCH_ALLOW_PLAINTEXT=true"
            )
    return address


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[str]:
    """Have a database to serve from, migrated where we may, and give the app's URL of it."""
    if settings.database_url:
        if settings.migration_url:
            await _migrate(settings.migration_url, settings.database_url)
        yield settings.database_url
    else:
        async with await _embedded(settings) as postgres:
            await _migrate(postgres.owner_url, postgres.app_url)
            yield postgres.app_url


async def _embedded(settings: Settings) -> EmbeddedPostgres:
    return await EmbeddedPostgres.start(settings.data_dir, postgres_bin=settings.postgres_bin)


async def _migrate(owner_url: str, app_url: str | None, *, restored: bool = False) -> None:
    applied = await migrate(owner_url)
    if app_url:
        await grant_app(owner_url, app_url)
    for name in applied:
        _say(f"applied {name}")
    if restored:
        _say(f"the store's epoch is now {await new_store_epoch(owner_url)}")


async def _report(settings: Settings, database_url: str) -> None:
    report = await check_database(database_url, settings)
    keys.load_or_make(settings.data_dir)
    for name, value in asdict(report).items():
        _say(f"{name.replace('_', ' ')}: {value}")
    _say(f"schema of this release: {expected_schema()}")
    _say("ready to serve")


@contextmanager
def _told_to_stop() -> Iterator[asyncio.Event]:
    """Turn the signals that end a server into an event."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)
    for sign in signals:
        loop.add_signal_handler(sign, stop.set)
    try:
        yield stop
    finally:
        for sign in signals:
            loop.remove_signal_handler(sign)


def _announce(settings: Settings, address: listening.Address) -> None:
    """Say how to make a first call, then that calls are taken."""
    script = Path(sys.argv[0])
    command = shlex.quote(str(script.absolute())) if script.name == "lockstitch-server" else "lockstitch-server"
    data_dir = shlex.quote(str(settings.data_dir.absolute()))
    # Not indented: a shell that it is copied into ends it only at a line that is END alone.
    first_call = f"""\
        A first call, from another terminal:

        export LOCKSTITCH_TARGET={address}
        export LOCKSTITCH_TOKEN="$({command} token --data-dir {data_dir} --tenant demo --user you --role engine)"
        {shlex.quote(sys.executable)} - <<'END'
        import asyncio, os
        from lockstitch import Client

        async def main():
            async with Client(os.environ["LOCKSTITCH_TARGET"], token=os.environ["LOCKSTITCH_TOKEN"]) as client:
                session = await client.create(user_id="you")
                print("created", session.session_id)

        asyncio.run(main())
        END
    """
    _say(dedent(first_call))
    _say(f"lockstitch ready on {address}")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - this is the command's answer
