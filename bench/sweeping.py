"""Sweeping: what a backlog of expired sessions costs those who write."""

import asyncio
from statistics import median

import load
from lockstitch import SessionHandle
from results import Figure, Target
from stage import Stage, message

IN_FLIGHT = 32
SESSIONS = 100
SECONDS_MAX = 30.0
LOOK_SECONDS = 0.05


async def beside_a_backlog(stage: Stage, *, expired: int, rounds: int, calls: int) -> list[Target | Figure]:
    """Append with nothing to sweep, then beside a backlog that is being swept, by turns of the backlog's being due."""
    sessions = await stage.sessions(SESSIONS)
    await stage.database.add_expired(expired)
    rates: list[tuple[float, float]] = []
    swept, seconds = 0, 0.0
    for turn in range(-1, rounds):
        await stage.database.postpone_sweeps()
        without = await _append(sessions, calls)
        before = await stage.database.swept()
        await stage.database.recall_sweeps()
        await _begun(stage, before)
        before = await stage.database.swept()
        beside = await _append(sessions, calls)
        if turn >= 0:  # the first turn warms up
            rates.append((beside.rate, without.rate))
            swept += await stage.database.swept() - before
            seconds += beside.seconds
    await stage.database.postpone_sweeps()
    if not swept:
        raise RuntimeError("nothing was swept beside appends")
    return [
        Target("append_beside_sweeping", median(one / other for one, other in rates)),
        Figure(f"expired sessions swept a second beside appends, of {expired:,}", f"{swept / seconds:,.0f}"),
    ]


async def _begun(stage: Stage, before: int) -> None:
    """Wait until the server's sweeper has found that something is due."""
    async with asyncio.timeout(SECONDS_MAX):
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if await stage.database.swept() > before:
                return


async def _append(sessions: list[SessionHandle], calls: int) -> load.Load:
    async def append(number: int) -> object:
        return await sessions[number % len(sessions)].append(messages=[message()])

    return await load.run(append, calls=calls, in_flight=IN_FLIGHT)
