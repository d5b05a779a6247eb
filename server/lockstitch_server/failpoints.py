"""Places where a server can be made to fail on purpose, so that tests find out what that does; off unless told so.

if failpoints.folder is not None:
    await failpoints.reached("before_commit", lost=ConnectionLost)
"""

import asyncio
import os
import random
import signal
from pathlib import Path

import structlog

from lockstitch_server.startup import StartupError

NAMES = (
    "before_commit",
    "after_commit",
    "before_wake_up",
    "between_pages",
    "before_handover",
    "during_drain",
)
"""Where: before a change is sent to the database; when it was made and nobody was told yet; before other processes are
told; before a stream reads a page of the log; before a stream that has caught up goes live; when streams were told that
the server goes away, and calls still run."""

_POLL_SECONDS = 0.005
_log = structlog.get_logger(__name__)

folder: Path | None = None
"""Where orders lie; None where nothing fails on purpose, and nothing but this is looked at.

It is the process's, not handed from constructor to constructor: what may fail should not show it in its interface.
"""


def obey(orders: Path | None) -> None:
    """Fail as the files of a folder say, from now on: what a file is named after does what stands in it."""
    global folder  # noqa: PLW0603 - see above
    if orders is not None:
        if not orders.is_dir():
            raise StartupError(f"the folder {orders} of LOCKSTITCH_FAILPOINTS is not there")
        _log.warning("THIS SERVER FAILS ON PURPOSE, as LOCKSTITCH_FAILPOINTS says: for tests only", folder=str(orders))
    folder = orders


async def reached(name: str, *, lost: type[Exception] | None = None) -> None:
    """Do what the failpoint's file says, if there is one; `lost` is what a lost connection would raise here.

    `die` ends the process as kill -9 would, `lose` raises; a share behind either makes that one in so many times.
    `pause` waits until the file is gone, or for the seconds behind it.
    """
    order, number = _order(name)
    if order == "pause":
        waited = 0.0
        while waited < number and _order(name)[0] == "pause":
            await asyncio.sleep(_POLL_SECONDS)
            waited += _POLL_SECONDS
    elif order and random.random() >= number:  # noqa: S311 - nothing secret is drawn
        return
    elif order == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif order == "lose" and lost is not None:
        raise lost


def _order(name: str) -> tuple[str, float]:
    """What is to be done, and its number: the share of times, or for how long."""
    try:
        words = "" if folder is None else (folder / name).read_text()
    except OSError:
        return "", 0.0
    order, _, number = words.strip().partition(" ")
    return order, float(number or ("inf" if order == "pause" else 1))
