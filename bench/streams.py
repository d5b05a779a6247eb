"""What streams cost those who do not read them: the writers, and the server's memory."""

from statistics import median

import load
import processes
from followers import followed
from lockstitch import SessionHandle
from results import Figure, Target
from stage import Stage, message

IN_FLIGHT = 32
SUBSCRIBED = 100
IDLE = 1000


async def beside_writers(stage: Stage, *, rounds: int, calls: int) -> list[Target | Figure]:
    """Alternate appends to 100 sessions that are followed, each by one stream, and to 100 that are not."""
    sessions = await stage.sessions(2 * SUBSCRIBED)
    subscribed, alone = sessions[:SUBSCRIBED], sessions[SUBSCRIBED:]
    rates: list[tuple[float, float]] = []
    async with followed(stage.server, [session.session_id for session in subscribed]) as followers:
        for turn in range(-1, rounds):
            without = await _append(alone, calls)
            due = followers.delivered + calls
            with_streams = await _append(subscribed, calls)
            await followers.have(due)
            if turn >= 0:  # the first turn warms both up
                rates.append((with_streams.rate, without.rate))
    return [
        Target("subscribed_append", median(one / other for one, other in rates)),
        Figure("appends a second to subscribed sessions", f"{median(one for one, _ in rates):,.0f}"),
    ]


async def idle(stage: Stage) -> list[Target | Figure]:
    """Open 1,000 streams on as many sessions, and look at what the server's memory has grown by."""
    sessions = await stage.sessions(IDLE)
    pid = stage.server.process.pid
    before = processes.resident_bytes(pid)
    async with followed(stage.server, [session.session_id for session in sessions]):
        grown = processes.resident_bytes(pid) - before
    return [Target("idle_stream_memory", grown / IDLE / 1024)]


async def _append(sessions: list[SessionHandle], calls: int) -> load.Load:
    async def append(number: int) -> object:
        return await sessions[number % len(sessions)].append(messages=[message()])

    return await load.run(append, calls=calls, in_flight=IN_FLIGHT)
