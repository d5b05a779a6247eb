"""The command line: serve, migrate, check, token."""

import faulthandler
import os
import sys

EXIT_NOT_INSTALLED = 2


def main() -> None:
    """Run a command of `lockstitch-server`."""
    # Where a library that is no Python crashes the process, its last words say where.
    faulthandler.enable()
    # gRPC reads this when it is imported, and would else note on stderr each time that Postgres is started again: a
    # child of ours becomes another program at once, and needs none of its care for forks.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    try:
        from lockstitch_server.command_line import run  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        print(f"lockstitch-server: {error.name} is missing: pip install 'lockstitch[server]'", file=sys.stderr)  # noqa: T201
        sys.exit(EXIT_NOT_INSTALLED)
    run()


if __name__ == "__main__":
    main()
