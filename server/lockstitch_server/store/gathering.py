"""Gathering: how long a statement for many waits for more to come, without a time to wait."""

import asyncio
from collections.abc import Sized

_ENOUGH = 16
"""A statement for so many is not held back: it costs little more for each than a full one, and while the database is
at it there is work left for the loop."""

_IDLE_TURNS = 16
"""After so many turns of the loop that brought nothing a statement is sent, for however few."""

SECONDS_MAX = 0.005
"""A loop that is busy with other work brings none."""


async def gathered(waiting: Sized) -> None:
    """Let a loop that is busy go on while its turns bring more: a statement for a few costs as much as for many.

    What keeps it busy are the calls that will stand in line in a moment. A loop with nothing else to do turns so often
    in some twenty microseconds.
    """
    loop = asyncio.get_running_loop()
    ends = loop.time() + SECONDS_MAX
    idle, count = 0, len(waiting)
    while idle < _IDLE_TURNS and count < _ENOUGH and loop.time() < ends:
        await asyncio.sleep(0)
        idle = 0 if len(waiting) > count else idle + 1
        count = len(waiting)
