"""Case A18: naming another owner's session tells nothing, reads nothing and changes nothing.

Foreign streams are refused in tests/streams/test_opening.py.
"""

from typing import Any

import grpc
import pytest
from grpc import aio

from factories import called, fresh, patched, said
from lockstitch.v1.run_pb2 import Fence
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.rpc import As, Create, Rpc, refusal
from support.running import UNDER_A_FENCE, drafted

NOT_FOUND = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
RUN_X = {"run_id": "run-x", "fencing_token": 1}

READS: list[tuple[str, dict[str, Any]]] = [
    ("GetSession", {"recent_messages": 5, "include_memory": True, "include_open_tool_calls": True}),
    ("ListMessages", {}),
    ("ListMessages", {"descending": True, "roles": [1]}),
    ("ListCommits", {}),
    ("ListToolCalls", {}),
    ("GetMemory", {}),
    ("GetContext", {}),
    ("GetSession", {"show_deleted": True}),
    ("GetSession", {"at_version": 1}),
    ("GetSession", {"at_version": 99}),
    ("ListMemoryVersions", {}),
    ("GetMemory", {"run_id": "run-x"}),
    ("ListMemoryVersions", {"run_id": "run-x"}),
    ("ListMessages", {"run_id": "run-x"}),
    ("ListToolCalls", {"run_id": "run-x"}),
    ("GetRun", {"run_id": "run-x"}),
    ("GetRun", {"run_id": "never-was"}),
    ("ListRuns", {}),
]
USER_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("Append", {"messages": [said("hi")]}),
    ("Append", {"messages": [said("hi")], "expected_version": 99}),
    ("Append", {"messages": [said("hi")], "request_id": "rq-1"}),
    ("UpdateToolCall", {"call_id": "c1", "approval": {"granted": True}}),
    ("CloseSession", {}),
    ("CloseSession", {"expected_version": 99}),
    ("RestoreSession", {"ttl": {"seconds": 60}}),
    ("DeleteSession", {}),
    ("DeleteSession", {"expected_version": 99}),
    ("UndeleteSession", {}),
    ("CancelRun", {"run_id": "run-x"}),
    ("CancelRun", {"run_id": "never-was"}),
    ("CancelRun", {"run_id": "run-x", "request_id": "rq-1"}),
]
ENGINE_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("Append", {"messages": [called("c2")]}),
    ("UpdateMemory", {"change": patched('{"a":1}')}),
    ("UpdateMemory", {"change": patched('{"a":{"b":1}}'), "expected_memory_version": 1}),
    ("UpdateToolCall", {"call_id": "c1", "status": 2}),
    ("CompleteToolCall", {"call_id": "c1", "result_json": "1"}),
    ("StartRun", {}),
    ("StartRun", {"run_id": "run-x", "on_busy": 2}),
    ("StartRun", {"on_busy": 3}),
    ("RenewRun", {"fence": RUN_X}),
    ("FinishRun", {"fence": RUN_X, "status": 2}),
    ("CancelRun", {"run_id": "run-x", "now": True}),
    ("Append", {"fence": RUN_X, "messages": [said("hi")]}),
    ("Append", {"fence": RUN_X, "finish_run": {"status": 2}}),
    ("UpdateMemory", {"run_id": "run-x", "change": patched('{"a":1}')}),
    ("CompleteToolCall", {"fence": RUN_X, "call_id": "c1", "result_json": "1"}),
    ("RemoveMessages", {"last": 1}),
    ("UpdateMessage", {"message_id": "first", "message": said("x")}),
    ("CloseSession", {"force": True}),
    ("DeleteSession", {"force": True}),
]


async def _all_of(engine: Rpc, session_id: str) -> Any:
    """Give all that a stranger could have changed."""
    return await engine.GetContext(session_id=session_id), (await engine.ListRuns(session_id=session_id)).runs


def _strangers(call_as: As) -> dict[str, Rpc]:
    return {
        "another user": call_as("u2"),
        "another tenant's user of the same name": call_as("u1", tenant=fresh("tenant")),
        "the same name in capitals": call_as("U1"),
        "the same name with a blank": call_as("u1 "),
    }


async def _shared(engine: Rpc, create: Create) -> str:
    session_id = await create(
        session_id="shared-name",
        messages=[said("codeword 4417", message_id="first"), called("c1", text="working on it")],
        memory={"goal": "secret"},
        title="secret",
    )
    await engine.StartRun(session_id=session_id, run_id="run-x", worker="secret")
    return session_id


@pytest.mark.parametrize(("method", "fields"), [*READS, *USER_CHANGES])
async def test_a_foreign_session_is_answered_like_one_that_never_was(
    call_as: As, engine: Rpc, create: Create, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _shared(engine, create)
    await engine.Append(session_id=session_id, request_id="rq-1", messages=[said("first")])
    before = await _all_of(engine, session_id)
    for who, stranger in _strangers(call_as).items():
        foreign = await refusal(getattr(stranger, method)(session_id=session_id, **fields))
        unknown = await refusal(getattr(stranger, method)(session_id="does-not-exist-91", **fields))
        assert foreign.what == NOT_FOUND, who
        assert foreign == unknown, who
    assert await _all_of(engine, session_id) == before


@pytest.mark.parametrize(("method", "fields"), ENGINE_CHANGES)
async def test_another_tenants_engine_is_answered_likewise(
    call_as: As, engine: Rpc, create: Create, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _shared(engine, create)
    before = await _all_of(engine, session_id)
    for role in ("engine", "admin"):
        stranger = call_as("engine-1", role, tenant=fresh("tenant"))
        foreign = await refusal(getattr(stranger, method)(session_id=session_id, **fields))
        unknown = await refusal(getattr(stranger, method)(session_id="does-not-exist-91", **fields))
        assert foreign.what == NOT_FOUND
        assert foreign == unknown
    assert await _all_of(engine, session_id) == before


@pytest.mark.parametrize(("method", "fields"), ENGINE_CHANGES)
async def test_a_user_who_may_not_is_told_that_and_not_whether_the_session_exists(
    call_as: As, engine: Rpc, create: Create, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _shared(engine, create)
    told = [
        await refusal(getattr(call_as("u2"), method)(session_id=name, **fields))
        for name in (session_id, "does-not-exist-91")
    ]
    assert told[0] == told[1]
    assert told[0].what == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")


async def test_a_foreign_session_that_is_deleted_is_answered_likewise(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await _shared(engine, create)
    await engine.DeleteSession(session_id=session_id, force=True)
    before = (await engine.GetSession(session_id=session_id, show_deleted=True)).session
    stranger = call_as("u2")
    for method, fields in [*READS, *USER_CHANGES]:
        foreign = await refusal(getattr(stranger, method)(session_id=session_id, **fields))
        unknown = await refusal(getattr(stranger, method)(session_id="does-not-exist-91", **fields))
        assert foreign.what == NOT_FOUND, method
        assert foreign == unknown, method
    assert not (await stranger.ListSessions(user_id="u1", show_deleted=True)).sessions
    assert (await engine.GetSession(session_id=session_id, show_deleted=True)).session == before


async def test_a_foreign_draft_is_answered_likewise(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await _shared(engine, create)
    before = await _all_of(engine, session_id)
    stranger = call_as("engine-1", "engine", tenant=fresh("tenant"))
    for fields in ({}, {"fence": RUN_X}):
        told = [
            await refusal(drafted(stranger, session_id=name, **fields)) for name in (session_id, "does-not-exist-91")
        ]
        assert told[0] == told[1]
        assert told[0].what == NOT_FOUND
    assert await _all_of(engine, session_id) == before


async def test_another_sessions_run_is_answered_like_one_that_never_was(engine: Rpc, create: Create) -> None:
    await _shared(engine, create)
    own = await create(messages=[called("c1")])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("GetRun", {}),
        ("CancelRun", {}),
        ("CancelRun", {"now": True}),
        ("GetMemory", {}),
        ("ListMemoryVersions", {}),
        ("UpdateMemory", {"change": patched('{"a":1}')}),
    ]
    for method, fields in calls:
        told = [
            await refusal(getattr(engine, method)(session_id=own, run_id=run_id, **fields))
            for run_id in ("run-x", "never-was")
        ]
        assert told[0] == told[1], method
        assert told[0].reason == "RUN_NOT_FOUND"
    for send in UNDER_A_FENCE.values():
        fences = [Fence(run_id=run_id, fencing_token=1) for run_id in ("run-x", "never-was")]
        told = [await refusal(send(engine, own, fence)) for fence in fences]
        assert told[0] == told[1]
    assert not (await engine.ListMessages(session_id=own, run_id="run-x")).messages
    assert not (await engine.ListToolCalls(session_id=own, run_id="run-x")).tool_calls


async def test_a_ledger_id_of_a_foreign_session_tells_nothing_either(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await _shared(engine, create)
    (call,) = (await engine.ListToolCalls(session_id=session_id)).tool_calls
    answers = [
        await refusal(
            call_as("u2").UpdateToolCall(session_id=name, tool_call_id=call.tool_call_id, approval={"granted": True})
        )
        for name in (session_id, "does-not-exist-91")
    ]
    assert answers[0] == answers[1]
    assert answers[0].what == NOT_FOUND


@pytest.mark.parametrize(("method", "fields"), [*READS, *USER_CHANGES, *ENGINE_CHANGES, ("ListSessions", {})])
async def test_nobody_is_let_in_without_a_token(
    shared_servers: tuple[ServerProcess, ServerProcess],
    engine: Rpc,
    create: Create,
    method: str,
    fields: dict[str, Any],
) -> None:
    session_id = await _shared(engine, create)
    named = {} if method == "ListSessions" else {"session_id": session_id}
    async with Caller(shared_servers[0].target) as nobody:
        refused = await refusal(getattr(Rpc(nobody), method)(**named, **fields))
        assert refused.what == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING")


async def test_lists_show_a_user_its_own_only(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await _shared(engine, create)
    await create(user_id="u2", session_id="theirs")
    await create(user_id="", session_id="nobody's")
    assert [s.session_id for s in (await call_as("u1").ListSessions()).sessions] == [session_id]
    assert [s.session_id for s in (await call_as("u1").ListSessions(user_id="u1")).sessions] == [session_id]
    assert [s.session_id for s in (await call_as("u2").ListSessions()).sessions] == ["theirs"]
    for who, stranger in _strangers(call_as).items():
        assert list((await stranger.ListSessions(user_id="u1")).sessions) == [], who
    assert len((await engine.ListSessions()).sessions) == 3
    assert [s.session_id for s in (await engine.ListSessions(user_id="u2")).sessions] == ["theirs"]


async def test_another_tenant_may_use_the_same_id_and_request_id(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await _shared(engine, create)
    await engine.Append(session_id=session_id, request_id="rq-1", messages=[said("theirs")])
    other = call_as("u1", tenant=fresh("tenant"))
    created = await other.CreateSession(session_id=session_id)
    assert (created.session.version, created.session.message_count) == (1, 0)
    receipt = (await other.Append(session_id=session_id, request_id="rq-1", messages=[said("theirs")])).receipt
    assert (receipt.replayed, receipt.version) == (False, 2)
    assert [m.parts[0].text for m in (await other.ListMessages(session_id=session_id)).messages] == ["theirs"]


async def test_a_taken_id_says_that_it_is_taken_and_nothing_else(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await _shared(engine, create)
    answers = [
        await refusal(call_as("u2").CreateSession(session_id=session_id, request_id=fresh())),
        await refusal(call_as("u2").Append(session_id=session_id, create_if_missing={}, messages=[said("hi")])),
        await refusal(
            call_as("e", "engine").Append(
                session_id=session_id, create_if_missing={"user_id": "u2"}, messages=[said("hi")]
            )
        ),
        await refusal(call_as("u1").CreateSession(session_id=session_id, title="another")),
    ]
    assert {answer.what for answer in answers} == {(grpc.StatusCode.ALREADY_EXISTS, "SESSION_EXISTS")}
    assert len({answer.details for answer in answers}) == 1
    assert answers[0].metadata == {}


async def test_unknown_methods_and_services_are_unimplemented(engine: Rpc) -> None:
    for method in ("/lockstitch.v1.SessionService/Nothing", "/lockstitch.v1.Nothing/GetSession"):
        call: Any = engine.caller.channel.unary_unary(method)
        with pytest.raises(aio.AioRpcError) as caught:
            await call(b"")
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
