"""Drafts: what text that is being generated costs the server, against appends."""

import asyncio
from collections.abc import AsyncIterator
from statistics import median

import load
import processes
from direct import Direct, engine
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import StreamDraftRequest
from results import Figure, Target
from stage import Stage

DRAFTS = 100
TOKENS_A_SECOND = 50
PIECE = "word "
IN_FLIGHT = 32
APPENDS_A_SECOND = 1000


async def against_appends(stage: Stage, *, rounds: int, seconds: int, appends: int) -> list[Target | Figure]:
    """Hold the work of 100 drafts of 50 tokens a second each against that of 1,000 appends a second, by turns."""
    turns: list[tuple[float, float]] = []
    async with engine(stage) as calling:
        names = [await calling.create(f"draft-{number}") for number in range(DRAFTS)]
        for turn in range(-1, rounds):
            append_cost = await _work_of_appends(stage, calling, names, f"{turn}", appends)
            draft_cost = await _work_of_drafts(stage, calling, names, f"{turn}", seconds)
            if turn >= 0:  # the first turn warms up
                turns.append((draft_cost, append_cost))
    return [
        Target("drafts_vs_1000_appends", median(drafts / one for drafts, one in turns)),
        Figure(
            f"work of {DRAFTS} drafts of {TOKENS_A_SECOND} tokens a second",
            f"{median(drafts for drafts, _ in turns):.2f} of a core",
        ),
        Figure("work of 1,000 appends a second", f"{median(one for _, one in turns):.2f} of a core"),
    ]


async def _work_of_appends(stage: Stage, calling: Direct, names: list[str], turn: str, appends: int) -> float:
    before = _worked(stage)
    await load.run(
        lambda number: calling.append(names[number % DRAFTS], f"a{turn}-{number}"), calls=appends, in_flight=IN_FLIGHT
    )
    return (_worked(stage) - before) / appends * APPENDS_A_SECOND


async def _work_of_drafts(stage: Stage, calling: Direct, names: list[str], turn: str, seconds: int) -> float:
    before = _worked(stage)
    async with asyncio.TaskGroup() as group:
        for number, name in enumerate(names):
            group.create_task(_draft(calling, name, f"d{turn}-{number}", seconds * TOKENS_A_SECOND))
            # Nobody's drafts all begin, and end, in one moment; and here nobody tries again.
            await asyncio.sleep(1 / DRAFTS)
    return (_worked(stage) - before) / seconds


async def _draft(calling: Direct, session_id: str, request_id: str, tokens: int) -> None:
    async def steps() -> AsyncIterator[StreamDraftRequest]:
        yield StreamDraftRequest(request_id=request_id, session_id=session_id, message=Message())
        clock = asyncio.get_running_loop().time
        began = clock()
        for number in range(tokens):
            yield StreamDraftRequest(offset=number * len(PIECE), text=PIECE)
            await asyncio.sleep(max(0.0, began + (number + 1) / TOKENS_A_SECOND - clock()))

    await calling.sessions.StreamDraft(steps(), metadata=calling.metadata)


def _worked(stage: Stage) -> float:
    """The seconds that the server and its database have worked so far."""
    server = processes.cpu_seconds(stage.server.process.pid)
    return server + processes.children_cpu_seconds(stage.postmaster_pid)
