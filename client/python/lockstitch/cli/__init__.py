"""The command line `lockstitch`: sessions listed, shown, exported and imported, and what is wrong with a connection."""

import sys

EXIT_NOT_INSTALLED = 2
_OF_THE_EXTRA = frozenset({"typer", "rich"})


def main() -> None:
    """Run a command of `lockstitch`."""
    try:
        from lockstitch.cli.app import run  # noqa: PLC0415 - the client is installed without what it needs
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _OF_THE_EXTRA:
            raise
        print(f"lockstitch: {missing} is missing: pip install 'lockstitch[cli]'", file=sys.stderr)  # noqa: T201
        sys.exit(EXIT_NOT_INSTALLED)
    run()
