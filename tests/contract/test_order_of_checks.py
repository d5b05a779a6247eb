"""CONTRACT 3, at its end: authenticate, authorise, validate, replay, exists and state, versions, write."""

from typing import Any

import grpc
import pytest

from factories import called, keyed, replaced, said
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.every_change import CHANGES, EVERY, RESTORE, UNDELETE, UPDATES, out_of_use, ready_for, session_of
from support.rpc import Create, Rpc, field_refused, refusal


@pytest.mark.parametrize("token", [None, "nonsense", "a.b.c", "é".encode().hex()])
async def test_who_calls_is_asked_first(
    shared_servers: tuple[ServerProcess, ServerProcess], create: Create, token: str | None
) -> None:
    session_id = await create()
    async with Caller(shared_servers[0].target, token) as nobody:
        for call in (
            Rpc(nobody).Append(session_id=session_id, request_id="", messages=[called("c")]),
            Rpc(nobody).ListSessions(page_size=-1),
            Rpc(nobody).send_bytes("Append", b"garbage"),
        ):
            refused = await refusal(call)
            assert refused.code == grpc.StatusCode.UNAUTHENTICATED
            assert refused.reason == ("TOKEN_INVALID" if token else "TOKEN_MISSING")


async def test_what_a_caller_may_not_comes_before_what_is_wrong(user: Rpc, create: Create) -> None:
    session_id = await create()
    for call in (
        user.Append(request_id="", session_id=session_id, messages=[called("c")]),
        user.UpdateMemory(request_id="", session_id=""),
        user.CompleteToolCall(request_id="server:", session_id=session_id, result_json="{"),
        user.CreateSession(request_id="", memory={"extra_json": "{"}),
        user.UpdateMemory(session_id="never-was", change=replaced(goal="g")),
    ):
        assert (await refusal(call)).reason == "ROLE_NOT_ALLOWED"


async def test_what_is_wrong_comes_before_whether_the_session_exists(engine: Rpc) -> None:
    for call in (
        engine.Append(session_id="never-was", messages=[said("x", message_id="msg_1")]),
        engine.UpdateMemory(session_id="never-was", change=keyed(k="{")),
        engine.ListMessages(session_id="never-was", page_size=-1),
        engine.CompleteToolCall(session_id="never-was", call_id="c", result_json="{"),
    ):
        assert await field_refused(call)


@pytest.mark.parametrize("name", UPDATES)
async def test_replay_comes_before_state_and_versions(engine: Rpc, create: Create, name: str) -> None:
    request = UPDATES[name].on(await ready_for(name, engine, create))
    await engine.send(request)
    await out_of_use(name, engine, _id(request))
    request.expected_version = 1
    assert (await engine.send(request)).receipt.replayed


@pytest.mark.parametrize("name", [name for name in UPDATES if UPDATES[name].other])
async def test_a_reused_id_comes_before_state_and_versions(engine: Rpc, create: Create, name: str) -> None:
    change = UPDATES[name]
    request = change.on(await ready_for(name, engine, create))
    await engine.send(request)
    await out_of_use(name, engine, _id(request))
    another = change.as_another(request)
    another.expected_version = 77
    assert (await refusal(engine.send(another))).reason == "REQUEST_ID_REUSED"


@pytest.mark.parametrize("name", CHANGES)
async def test_state_comes_before_fences_versions_guards_and_content(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    await engine.CloseSession(session_id=session_id, force=True)
    request = UPDATES[name].on(session_id, expected_version=77)
    if "force" in request.DESCRIPTOR.fields_by_name:
        request.force = False
    for field in ("call_id", "message_id"):
        if field in request.DESCRIPTOR.fields_by_name:
            setattr(request, field, "never-was")
    if "fence" in request.DESCRIPTOR.fields_by_name:
        request.fence.run_id, request.fence.fencing_token = "never-was", 77
    assert (await refusal(engine.send(request))).reason == "SESSION_CLOSED"


@pytest.mark.parametrize("life", [{}, {"ttl": {"seconds": 60}}])
async def test_restore_looks_at_the_state_before_the_version(
    engine: Rpc, create: Create, shared_database: Any, tenant: str, life: dict[str, Any]
) -> None:
    session_id = await create(ttl={"seconds": 3600})
    await shared_database.as_superuser(
        "update lockstitch.sessions set expire_time = now() - interval '1 s' where tenant_id = $1", tenant
    )
    refused = await refusal(engine.RestoreSession(session_id=session_id, expected_version=77, **life))
    assert refused.reason == ("VERSION_CONFLICT" if life else "SESSION_EXPIRED")


async def test_versions_come_before_the_content(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("x", message_id="taken")], memory={"goal": "g"})
    for call in (
        engine.Append(session_id=session_id, expected_version=7, messages=[said("y", message_id="taken")]),
        engine.Append(session_id=session_id, expected_version=7, memory_change=replaced(goal="h")),
        engine.CompleteToolCall(session_id=session_id, expected_version=7, call_id="never-was"),
    ):
        assert (await refusal(call)).reason == "VERSION_CONFLICT"


@pytest.mark.parametrize(
    "name", [name for name in CHANGES if "fence" in CHANGES[name].request.DESCRIPTOR.fields_by_name]
)
async def test_the_fence_comes_before_versions_and_content(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    request = CHANGES[name].on(session_id, expected_version=77)
    before = await session_of(engine, session_id)
    request.fence.run_id, request.fence.fencing_token = "never-was", 77
    for field in ("call_id", "message_id"):
        if field in request.DESCRIPTOR.fields_by_name:
            setattr(request, field, "never-was")
    assert (await refusal(engine.send(request))).reason == "RUN_NOT_FOUND"
    assert await session_of(engine, session_id) == before


@pytest.mark.parametrize("name", EVERY)
async def test_every_change_needs_an_id_for_itself(engine: Rpc, create: Create, name: str) -> None:
    request = EVERY[name].on(await ready_for(name, engine, create))
    request.request_id = ""
    assert await field_refused(engine.send(request)) == "request_id"


NAMED = {name: change for name, change in (UPDATES | RESTORE | UNDELETE).items() if name[:13] != "UpdateSession"}
"""Changes whose request has the session's id."""


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("session_id", ["", "x" * 129, "a\tb", "\u00a0"])
async def test_a_session_id_that_is_none_is_refused_by_name(engine: Rpc, name: str, session_id: str) -> None:
    assert await field_refused(engine.send(NAMED[name].on(session_id))) == "session_id"


def _id(request: Any) -> str:
    named: str = request.session_id if "session_id" in request.DESCRIPTOR.fields_by_name else request.session.session_id
    return named
