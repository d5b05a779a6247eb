"""`lockstitch`: its commands, and how it ends."""

import sys
from io import TextIOWrapper

import typer

from lockstitch.cli import doctor, sessions
from lockstitch.cli.failures import Refused
from lockstitch.cli.output import say

EXIT_INTERRUPTED = 130

cli = typer.Typer(
    help="Sessions of AI agents, in a lockstitch store.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.add_typer(sessions.cli, name="sessions")
cli.command("doctor")(doctor.doctor)


def run() -> None:
    """Run a command; what is wrong is one sentence on stderr."""
    if isinstance(sys.stdout, TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8, whatever this machine's texts are
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")
    try:
        cli()
    except Refused as refused:
        say(str(refused))
        sys.exit(refused.exit_code)
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(EXIT_INTERRUPTED)
