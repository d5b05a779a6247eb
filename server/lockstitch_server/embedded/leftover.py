"""A postmaster that outlived its server: found, known for ours, and ended."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import structlog

POLL_SECONDS = 0.01
QUIT_SECONDS_MAX = 10.0

log = structlog.get_logger()


async def end_leftover(cluster: Path) -> None:
    """End the postmaster that still runs on this cluster, if there is one.

    We hold the folder's lock, so its server is gone. It is ended and not adopted: only the parent of a postmaster is
    told when it dies.
    """
    pid = _pid(cluster)
    if pid is not None and not _is_ours(pid, cluster):
        _disown(cluster)
    for sign, seconds in ((signal.SIGQUIT, QUIT_SECONDS_MAX), (signal.SIGKILL, QUIT_SECONDS_MAX)):
        if pid is None or not _is_ours(pid, cluster):
            return
        log.warning("ending a postmaster that outlived its server", pid=pid, signal=sign.name)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while _is_ours(pid, cluster):  # noqa: ASYNC110 - another's child: there is nothing to wait on
                    await asyncio.sleep(POLL_SECONDS)


def _pid(cluster: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
        return int((cluster / "postmaster.pid").read_text().splitlines()[0])
    return None


def _disown(cluster: Path) -> None:
    """Put our own number in the place of a dead postmaster's.

    That may have passed to a stranger, for whose sake Postgres would not start; its parent's it takes for stale. The
    file stays, since Postgres finds the memory of surviving backends by it.
    """
    descriptor = os.open(cluster / "postmaster.pid", os.O_RDWR | os.O_NOFOLLOW)
    with open(descriptor, "r+", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, not a path
        _, *rest = file.read().splitlines()
        file.seek(0)
        file.truncate()
        file.write("\n".join([str(os.getpid()), *rest, ""]))


def _is_ours(pid: int, cluster: Path) -> bool:
    """Whether the process works in our cluster's folder; a number alone may have passed to a stranger."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cwd").samefile(cluster)
    return False
