"""What a fork costs: how fast a long session is copied, and what the server needs for it."""

import asyncio
from contextlib import suppress
from statistics import median

import load
import processes
from lockstitch import SessionHandle, assistant, call, tool
from results import Figure, Target
from stage import TEXT, Stage, message

TURNS_A_BATCH = 25
MESSAGES_A_TURN = 4
_LOOK_SECONDS = 0.005
_MIB = 1024 * 1024


async def long_sessions(stage: Stage, *, messages: int, rounds: int) -> list[Target | Figure]:
    """Fork a long session, now and as it was, and look at the server's memory meanwhile."""
    (source,) = await stage.sessions(1)
    await _grow(source, messages)
    half = source.version // 2
    pid = stage.server.process.pid

    async def fork_now(_number: int) -> None:
        fork = await source.fork()
        if fork.info is None or fork.info.message_count != messages:
            raise AssertionError("a fork holds all that its source does")

    async def fork_half(_number: int) -> object:
        return await source.fork(at_version=half)

    await load.run(fork_now, calls=1, in_flight=1)
    resident = processes.resident_bytes(pid)
    seen: list[int] = []
    looking = asyncio.create_task(_look(pid, seen))
    whole = [await load.run(fork_now, calls=1, in_flight=1) for _ in range(rounds)]
    halves = [await load.run(fork_half, calls=1, in_flight=1) for _ in range(rounds)]
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    seconds = median(one.seconds for one in whole)
    grown = max([*seen, processes.resident_bytes(pid)]) - resident
    return [
        Target("forked_messages_a_second", messages / seconds),
        Target("fork_server_memory_mib", grown / _MIB),
        Figure(f"fork of {messages:,} messages, a quarter of them calls and a quarter results", f"{seconds:.2f} s"),
        Figure(
            "fork of its first half, which looks for what it would split",
            f"{median(one.seconds for one in halves):.2f} s",
        ),
    ]


async def _look(pid: int, seen: list[int]) -> None:
    while True:
        seen.append(processes.resident_bytes(pid))
        await asyncio.sleep(_LOOK_SECONDS)


async def _grow(session: SessionHandle, messages: int) -> None:
    for batch in range(messages // (TURNS_A_BATCH * MESSAGES_A_TURN)):
        turns = []
        for turn in range(TURNS_A_BATCH):
            call_id = f"call-{batch}-{turn}"
            turns += [
                message(),
                assistant(tool_calls=[call(call_id, "search", {"q": TEXT})]),
                tool(call_id, {"found": TEXT}),
                assistant(TEXT),
            ]
        await session.append(messages=turns)
