"""CONTRACT 3: a retry is not a second write, whatever the change, the server and the state since."""

import asyncio
from typing import Any

import grpc
import pytest

from factories import fresh, keyed, patched, replaced, said
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.run_service_pb2 import ON_BUSY_INTERRUPT
from support.every_change import CREATES, ENDS, EVERY, WITH_CONTENT, ready_for, session_of
from support.rpc import Create, Rpc, as_replayed, field_refused, refusal

REUSED = (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")


def _as_replayed(answer: Any) -> Any:
    again = type(answer)()
    again.CopyFrom(answer)
    again.receipt.CopyFrom(as_replayed(answer.receipt))
    return again


def _session_of(request: Any, answer: Any) -> str:
    named: str = request.session_id if "session_id" in request.DESCRIPTOR.fields_by_name else request.session.session_id
    return named or str(answer.session.session_id)


async def _move_on(engine: Rpc, session_id: str) -> None:
    """Change all that an answer might show, end the run if there is one, then close the session."""
    await engine.Append(
        session_id=session_id,
        messages=[said("later")],
        memory_change=replaced(goal="later"),
        force=True,
    )
    await engine.UpdateSession(
        session={"session_id": session_id, "title": "later"}, update_mask={"paths": ["title", "labels"]}, force=True
    )
    await engine.RemoveMessages(session_id=session_id, last=2)
    await engine.StartRun(session_id=session_id, on_busy=ON_BUSY_INTERRUPT)
    await engine.CloseSession(session_id=session_id, force=True)


@pytest.mark.parametrize("name", EVERY)
async def test_a_retry_gives_the_first_answer_field_for_field(
    engines: tuple[Rpc, Rpc], create: Create, name: str
) -> None:
    engine, other = engines
    request = EVERY[name].on(await ready_for(name, engine, create))
    first = await engine.send(request)
    assert not first.receipt.replayed
    assert await other.send(request) == _as_replayed(first)

    session_id = _session_of(request, first)
    if name not in ENDS:
        await _move_on(engine, session_id)
    before = await session_of(engine, session_id)
    assert await engine.send(request) == _as_replayed(first)
    assert await other.send(request) == _as_replayed(first)
    assert await session_of(engine, session_id) == before


@pytest.mark.parametrize("name", EVERY)
async def test_a_retry_with_other_guards_is_the_same_request(engine: Rpc, create: Create, name: str) -> None:
    request = EVERY[name].on(await ready_for(name, engine, create))
    first = await engine.send(request)
    guarded = type(request)()
    guarded.CopyFrom(request)
    for field, value in (("expected_version", 77), ("expected_memory_version", 77), ("force", True)):
        if field in request.DESCRIPTOR.fields_by_name:
            setattr(guarded, field, value)
    if "fence" in request.DESCRIPTOR.fields_by_name:
        guarded.fence.run_id = guarded.fence.run_id or "never-was"
        guarded.fence.fencing_token = 77
    assert await engine.send(guarded) == _as_replayed(first)


@pytest.mark.parametrize("name", WITH_CONTENT)
async def test_other_content_under_a_known_id_is_refused_and_nothing_is_told(
    engines: tuple[Rpc, Rpc], create: Create, name: str
) -> None:
    change = EVERY[name]
    request = change.on(await ready_for(name, engines[0], create))
    first = await engines[0].send(request)
    refused = await refusal(engines[1].send(change.as_another(request)))
    if name == "CreateSession, own id":
        assert refused.what == (grpc.StatusCode.ALREADY_EXISTS, "SESSION_EXISTS")
    else:
        assert refused.what == REUSED
        assert (refused.metadata, refused.field) == ({}, "")
    assert await engines[1].send(request) == _as_replayed(first)


@pytest.mark.parametrize("name", EVERY)
async def test_a_known_id_on_another_method_is_refused(engine: Rpc, create: Create, name: str) -> None:
    request = EVERY[name].on(await ready_for(name, engine, create))
    session_id = _session_of(request, await engine.send(request))
    others = [
        engine.UpdateMemory(session_id=session_id, request_id=request.request_id, change=patched('{"z":1}')),
        engine.CloseSession(session_id=session_id, request_id=request.request_id, reason="z"),
        engine.RestoreSession(session_id=session_id, request_id=request.request_id, ttl={"seconds": 77}),
        engine.Append(session_id=session_id, request_id=request.request_id, messages=[said("z")]),
    ]
    for call in others:
        assert (await refusal(call)).what == REUSED


@pytest.mark.parametrize("name", EVERY)
async def test_duplicates_in_flight_wait_for_the_first(engines: tuple[Rpc, Rpc], create: Create, name: str) -> None:
    request = EVERY[name].on(await ready_for(name, engines[0], create))
    answers = await asyncio.gather(*(engines[number % 2].send(request) for number in range(6)))
    (first,) = [answer for answer in answers if not answer.receipt.replayed]
    assert all(answer == _as_replayed(first) for answer in answers if answer.receipt.replayed)
    assert (await session_of(engines[0], _session_of(request, first))).version == first.receipt.version


@pytest.mark.parametrize("name", CREATES)
async def test_content_that_loses_a_race_under_one_id_is_told_so(engines: tuple[Rpc, Rpc], name: str) -> None:
    change = CREATES[name]
    for _ in range(10):
        request = change.on(fresh("raced"))
        pair = [request, change.as_another(request)]
        answers = await asyncio.gather(
            *(engine.send(each) for engine, each in zip(engines, pair, strict=True)), return_exceptions=True
        )
        assert sorted(isinstance(answer, BaseException) for answer in answers) == [False, True]


async def test_map_entries_in_another_order_are_the_same_request(engine: Rpc) -> None:
    entries = [pb.CreateSessionRequest(labels={key: "v"}).SerializeToString() for key in ("a", "b", "c")]
    head = pb.CreateSessionRequest(request_id="r", user_id="u1").SerializeToString()
    answers = [
        pb.CreateSessionResponse.FromString(await engine.send_bytes("CreateSession", head + b"".join(order)))
        for order in (entries, entries[::-1], [entries[1], entries[0], entries[2], entries[1]])
    ]
    assert [answer.receipt.replayed for answer in answers] == [False, True, True]
    keys = [pb.UpdateMemoryRequest(change=keyed(**{key: "1"})).SerializeToString() for key in ("a", "b")]
    head = pb.UpdateMemoryRequest(request_id="k", session_id=answers[0].session.session_id).SerializeToString()
    changed = [
        pb.UpdateMemoryResponse.FromString(await engine.send_bytes("UpdateMemory", head + b"".join(order)))
        for order in (keys, keys[::-1])
    ]
    assert [answer.receipt.replayed for answer in changed] == [False, True]


async def test_a_success_that_changed_nothing_is_no_record(engine: Rpc, create: Create) -> None:
    session_id = await create()
    restoring = pb.RestoreSessionRequest(session_id=session_id, request_id="r")
    for _ in range(2):
        receipt = (await engine.send(restoring)).receipt
        assert (receipt.version, receipt.replayed) == (1, False)
    await engine.CloseSession(session_id=session_id)
    receipt = (await engine.send(restoring)).receipt
    assert (receipt.version, receipt.replayed) == (3, False)
    nothing = pb.UpdateMemoryRequest(session_id=session_id, request_id="n", change=patched('{"gone":null}'))
    assert [(await engine.send(nothing)).receipt.version for _ in range(2)] == [3, 3]


async def test_own_creations_are_told_apart_by_content_alone(engine: Rpc) -> None:
    session_id = fresh("own")
    first = await engine.CreateSession(session_id=session_id, title="t", request_id="r1")
    again = await engine.CreateSession(session_id=session_id, title="t", request_id="r2")
    assert again == _as_replayed(first)
    refused = await refusal(engine.CreateSession(session_id=session_id, title="u", request_id="r1"))
    assert refused.reason == "SESSION_EXISTS"


async def test_server_made_ids_are_of_tenant_user_and_request(engines: tuple[Rpc, Rpc]) -> None:
    request_id = fresh()
    ids = {
        user: (await engines[0].CreateSession(request_id=request_id, user_id=user)).session.session_id
        for user in ("u1", "u2", "")
    }
    assert len(set(ids.values())) == 3
    assert all(session_id.startswith("sess_") for session_id in ids.values())
    again = await engines[1].CreateSession(request_id=request_id, user_id="u1")
    assert (again.session.session_id, again.receipt.replayed) == (ids["u1"], True)


@pytest.mark.parametrize("request_id", ["", "x" * 129, "server:1", "a\nb", "\x7f", "\u200b"])
async def test_a_request_id_is_1_to_128_printable_characters_and_not_the_servers(
    engine: Rpc, create: Create, request_id: str
) -> None:
    session_id = await create()
    for call in (
        engine.CreateSession(request_id=request_id),
        engine.Append(request_id=request_id, session_id=session_id, messages=[said("hi")]),
        engine.CloseSession(request_id=request_id, session_id=session_id),
        engine.UpdateMemory(request_id=request_id, session_id=session_id, change=patched("{}")),
    ):
        assert await field_refused(call) == "request_id"


@pytest.mark.parametrize("request_id", ["x" * 128, "\U0001f600" * 128, " ", "é", "e\u0301", "Server:1"])
async def test_request_ids_are_compared_exactly(engine: Rpc, create: Create, request_id: str) -> None:
    session_id = await create()
    for given in (request_id, f"{request_id[1:]}\u00df"):
        receipt = (await engine.Append(session_id=session_id, request_id=given, messages=[said("hi")])).receipt
        assert not receipt.replayed
