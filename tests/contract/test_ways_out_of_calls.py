"""CONTRACT 9 and 10: no state exists that no call can leave: a walk over those of tool calls and drafts."""

import asyncio
from typing import Any

import pytest

from factories import (
    AWAITING_APPROVAL,
    CANCELLED,
    FAILED,
    INTERRUPTED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    answered,
    called,
    said,
    texts_of,
)
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import StreamDraftRequest
from lockstitch.v1.tool_call_pb2 import ToolCallStatus
from support import drafted as drafts
from support import running
from support.databases import Database
from support.rpc import Create, Rpc
from support.running import INTERRUPT, drafted, fence_of, started
from support.ways import Build, Call, State, World, ways


@pytest.fixture
def world(engine: Rpc, create: Create, shared_database: Database, tenant: str) -> World:
    return World(engine, create, shared_database, tenant)


async def _pending(world: World) -> str:
    return await world.create(messages=[called("c")])


async def _acting(world: World) -> str:
    session_id = await _pending(world)
    await world.engine.UpdateToolCall(session_id=session_id, call_id="c", status=RUNNING)
    return session_id


async def _acting_under_a_lost_run(world: World) -> str:
    session_id = await _pending(world)
    run = await started(world.engine, session_id, run_id="r")
    await world.engine.UpdateToolCall(session_id=session_id, fence=fence_of(run), call_id="c", status=RUNNING)
    await world.lapse(session_id)
    return session_id


async def _left_running_by_a_run_that_ended(world: World) -> str:
    session_id = await _acting_under_a_lost_run(world)
    fence = {"run_id": "r", "fencing_token": 1}
    await world.engine.FinishRun(session_id=session_id, fence=fence, status=running.DONE)
    return session_id


async def _waiting(world: World) -> str:
    session_id = await _pending(world)
    await world.engine.UpdateToolCall(session_id=session_id, call_id="c", status=AWAITING_APPROVAL)
    return session_id


async def _unknown(world: World) -> str:
    session_id = await _pending(world)
    await world.engine.CompleteToolCall(session_id=session_id, call_id="c", status=INTERRUPTED)
    return session_id


async def _lost(world: World) -> str:
    session_id = await _acting_under_a_lost_run(world)
    await started(world.engine, session_id)
    return session_id


ENDS: list[Call] = [
    ("CompleteToolCall", {"call_id": "c", "result_json": "1"}),
    ("CompleteToolCall", {"call_id": "c", "error": "e"}),
    ("CompleteToolCall", {"call_id": "c", "status": CANCELLED}),
    ("Append", {"messages": [answered("c")]}),
    ("Append", {"tool_calls": [{"call_id": "c", "result_json": "1"}]}),
    ("RemoveMessages", {"from_seq": 1}),
]
TOOL_CALLS: list[State] = [
    (
        "pending",
        _pending,
        PENDING,
        [
            *ENDS,
            ("UpdateToolCall", {"call_id": "c", "status": RUNNING}),
            ("UpdateToolCall", {"call_id": "c", "status": AWAITING_APPROVAL}),
        ],
    ),
    ("running", _acting, RUNNING, ENDS),
    ("running under a lost run", _acting_under_a_lost_run, RUNNING, [*ENDS, ("StartRun", {})]),
    ("left running by its run", _left_running_by_a_run_that_ended, RUNNING, ENDS),
    (
        "waiting",
        _waiting,
        AWAITING_APPROVAL,
        [
            *ENDS,
            ("UpdateToolCall", {"call_id": "c", "approval": {"granted": True}}),
            ("UpdateToolCall", {"call_id": "c", "approval": {"granted": False}}),
        ],
    ),
    ("unknown", _unknown, INTERRUPTED, ENDS),
    ("lost with its run", _lost, INTERRUPTED, ENDS),
]


def test_every_status_that_is_not_final_is_walked() -> None:
    ended = {SUCCEEDED, FAILED, CANCELLED}
    assert {left for _, __, left, ___ in TOOL_CALLS} == set(ToolCallStatus.values()) - {0} - ended


@ways(TOOL_CALLS)
async def test_a_tool_call_leaves_every_state(world: World, build: Build, left: int, call: Call) -> None:
    session_id = await build(world)

    async def statuses() -> list[int]:
        return [each.status for each in (await world.engine.ListToolCalls(session_id=session_id)).tool_calls]

    assert await statuses() == [left]
    await getattr(world.engine, call[0])(session_id=session_id, **call[1])
    assert await statuses() != [left]


TEXT = "half a sentence"


async def _drafting(world: World) -> str:
    session_id = await world.create()
    await drafts.drafted(world.database, world.tenant, session_id, TEXT)
    return session_id


async def _drafting_under_a_run(world: World) -> str:
    session_id = await world.create()
    await started(world.engine, session_id, run_id="r")
    await drafts.drafted(world.database, world.tenant, session_id, TEXT, run_id="r", fencing_token=1)
    return session_id


DRAFTS: list[State] = [
    ("without a run", _drafting, 0, [("CloseSession", {}), ("DeleteSession", {})]),
    (
        "under a run",
        _drafting_under_a_run,
        0,
        [
            ("StartRun", {"on_busy": INTERRUPT}),
            ("CancelRun", {"run_id": "r", "now": True}),
            ("CloseSession", {"force": True}),
            ("DeleteSession", {"force": True}),
        ],
    ),
]


@ways(DRAFTS)
async def test_a_draft_whose_caller_is_gone_is_stored_incomplete(
    world: World, build: Build, left: int, call: Call
) -> None:
    session_id = await build(world)
    assert len((await world.engine.ListMessages(session_id=session_id)).messages) == left
    await getattr(world.engine, call[0])(session_id=session_id, **call[1])
    await world.engine.UndeleteSession(session_id=session_id)
    (message,) = (await world.engine.ListMessages(session_id=session_id)).messages
    assert (texts_of([message]), message.incomplete) == ([TEXT], True)
    await world.engine.RestoreSession(session_id=session_id)
    await world.engine.Append(session_id=session_id, messages=[said("on")])


@pytest.mark.parametrize("under_a_run", [False, True])
async def test_a_draft_whose_caller_broke_off_is_gone_on_with(world: World, *, under_a_run: bool) -> None:
    session_id = await world.create()
    fence = fence_of(await started(world.engine, session_id)) if under_a_run else None
    first = StreamDraftRequest(request_id="d", session_id=session_id, text=TEXT, message=Message(), fence=fence)
    call: Any = world.engine.caller.sessions.StreamDraft(metadata=world.engine.caller.headers)
    await call.write(first)
    stored = "select from lockstitch.draft_steps where tenant_id = $1"
    async with asyncio.timeout(20):
        while not await world.database.as_superuser(stored, world.tenant):
            await asyncio.sleep(0.01)
    call.cancel()
    rest = {"fence": fence} if under_a_run else {}
    await drafted(world.engine, session_id=session_id, request_id="d", offset=len(TEXT), text=", and more", **rest)
    (message,) = (await world.engine.ListMessages(session_id=session_id)).messages
    assert (texts_of([message]), message.incomplete) == ([f"{TEXT}, and more"], False)


async def test_what_a_run_drafts_is_left_when_the_run_ends_too(world: World) -> None:
    """An end of the run's own leaves what it drafts to be gone on with, or to be closed with the session."""
    session_id = await _drafting_under_a_run(world)
    fence = {"run_id": "r", "fencing_token": 1}
    await world.engine.FinishRun(session_id=session_id, fence=fence, status=running.DONE)
    await world.engine.CloseSession(session_id=session_id)
    (message,) = (await world.engine.ListMessages(session_id=session_id)).messages
    assert (texts_of([message]), message.incomplete) == ([TEXT], True)
