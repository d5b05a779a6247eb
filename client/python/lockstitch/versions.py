"""Which servers this client fits: within a major version the wire only grows."""

import re

from lockstitch.errors import ServerTooNew, ServerTooOld

SERVER_FROM = (0, 1, 0)
"""The first version of a server that has what this client calls."""

SERVER_BEFORE = (1, 0, 0)
"""The first version that may speak otherwise."""

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:[-+].*)?", re.ASCII)


def refuse_other_versions(version: str) -> None:
    """Raises what is wrong with a server's version, if anything is. What stands behind "-" or "+" does not count."""
    told = {"server_version": version, "from": _text(SERVER_FROM), "before": _text(SERVER_BEFORE)}
    read = _VERSION.fullmatch(version)
    number = tuple(int(part) for part in read.groups()) if read else ()
    if number < SERVER_FROM:
        raise ServerTooOld(
            f"The server is {version or 'of no version'}; this client needs {told['from']}.", metadata=told
        )
    if number >= SERVER_BEFORE:
        raise ServerTooNew(f"The server is {version}; this client knows those before {told['before']}.", metadata=told)


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
