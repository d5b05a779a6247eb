"""A postmaster that outlived its server: found, known for ours, and ended."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import structlog

from lockstitch_server.startup import StartupError

POLL_SECONDS = 0.01
QUIT_SECONDS_MAX = 10.0
FILE_BYTES_MAX = 8192

log = structlog.get_logger()


async def end_leftover(cluster: Path) -> None:
    """End the postmaster that still runs on this cluster, if there is one.

    We hold the folder's lock, so its server is gone. It is ended and not adopted: only the parent of a postmaster is
    told when it dies.
    """
    pid = _pid(cluster)
    for sign, seconds in ((signal.SIGQUIT, QUIT_SECONDS_MAX), (signal.SIGKILL, QUIT_SECONDS_MAX)):
        if pid is None or not _is_ours(pid, cluster):
            break
        log.warning("ending a postmaster that outlived its server", pid=pid, signal=sign.name)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while _is_ours(pid, cluster):  # noqa: ASYNC110 - another's child: there is nothing to wait on
                    await asyncio.sleep(POLL_SECONDS)
    if pid is not None and _is_ours(pid, cluster):
        raise StartupError(f"a Postgres of an earlier server still runs as process {pid} and does not end")
    _disown(cluster / "postmaster.pid")


def _pid(cluster: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
        return int((cluster / "postmaster.pid").read_text().splitlines()[0])
    return None


def _disown(file: Path) -> None:
    """Put our own number in the place of a dead postmaster's.

    That may be a zombie nobody reaps, or have passed to a stranger, for whose sake Postgres would not start; its
    parent's it takes for stale. The file stays, since Postgres finds the memory of surviving backends by it, unless it
    is empty: then a kill cut its making off.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        _, _, rest = os.read(descriptor, FILE_BYTES_MAX).partition(b"\n")
        if rest:
            content = f"{os.getpid()}\n".encode() + rest
            os.pwrite(descriptor, content, 0)  # one call, which a kill does not cut in two
            os.ftruncate(descriptor, len(content))
        else:
            file.unlink()
    finally:
        os.close(descriptor)


def _is_ours(pid: int, cluster: Path) -> bool:
    """Whether the process works in our cluster's folder; a number alone may have passed to a stranger."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cwd").samefile(cluster)
    return False
