"""What may be subscribed to, from where, and what is told to those who may not."""

from typing import Any

import grpc
import pytest
from grpc import aio

from factories import fresh, said
from lockstitch.v1.subscription_pb2 import SubscribeRequest
from support.rpc import Refusal, taken_apart
from support.stage import MakeStage, Stage
from support.streams import span

NOT_FOUND = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")


async def refused(call: Any) -> Refusal:
    """Read a stream that must be refused before its first frame."""
    with pytest.raises(aio.AioRpcError) as caught:
        await call.read()
    return taken_apart(caught.value)


@pytest.mark.parametrize("ahead", [1, 993, 2**63 - 1])
async def test_a_cursor_ahead_of_the_session_is_refused(one_server: Stage, ahead: int) -> None:
    session_id = await one_server.session()
    after_version = min(1 + ahead, 2**63 - 1)
    told = await refused(one_server.open(session_id, after_version=after_version))
    assert told.what == (grpc.StatusCode.OUT_OF_RANGE, "CURSOR_AHEAD")
    assert told.metadata["current_version"] == "1"


async def test_a_cursor_at_the_session_s_version_waits(one_server: Stage) -> None:
    session_id = await one_server.session()
    call = one_server.open(session_id, after_version=1)
    assert (await call.read()).opened.version == 1
    assert (await call.read()).caught_up.version == 1


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"after_version": -1}, "after_version"),
        ({"after_version": -(2**63)}, "after_version"),
        ({"heartbeat_interval": span(0.999)}, "heartbeat_interval"),
        ({"heartbeat_interval": span(3601)}, "heartbeat_interval"),
        ({"heartbeat_interval": span(-1)}, "heartbeat_interval"),
        ({"roles": [1, 99]}, "roles[1]"),
        ({"roles": [0]}, "roles[0]"),
        ({"session_id": ""}, "session_id"),
        ({"session_id": "x" * 129}, "session_id"),
        ({"store_epoch": "x" * 129}, "store_epoch"),
    ],
)
async def test_a_field_that_is_wrong_is_named(one_server: Stage, asked: dict[str, Any], field: str) -> None:
    session_id = await one_server.session()
    told = await refused(one_server.open(**{"session_id": session_id} | asked))
    assert (told.what, told.field) == ((grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"), field)


# Case A18, its streams
async def test_a_foreign_session_and_one_that_never_was_are_told_alike_byte_for_byte(one_server: Stage) -> None:
    """A session id is a locator, not a credential."""
    session_id = await one_server.session(session_id=fresh("shared-name"))
    server = one_server.servers[0]
    strangers = [
        one_server.token("u2", "user"),
        one_server.token("U1", "user"),
        server.token(tenant=fresh("tenant"), user="u1", role="user"),
        server.token(tenant=fresh("tenant"), user="engine-1", role="engine"),
        server.token(tenant=fresh("tenant"), user="admin-1", role="admin"),
    ]
    for token in strangers:
        for after_version in (0, 1, 7):
            answers = [
                await refused(one_server.open(name, token=token, after_version=after_version))
                for name in (session_id, fresh("never-was"))
            ]
            assert answers[0] == answers[1]
            assert answers[0].what == NOT_FOUND


async def test_a_stranger_s_refusal_leaves_the_owner_s_stream_alone(one_server: Stage) -> None:
    session_id = await one_server.session()
    owner = await one_server.follow(session_id, token=one_server.token("u1", "user"))
    await owner.caught_up()
    assert (await refused(one_server.open(session_id, token=one_server.token("u2", "user")))).what == NOT_FOUND
    await one_server.rpc().Append(session_id=session_id, messages=[said("hello")])
    await owner.reached(2)
    assert len(owner.streams) == 1
    assert owner.texts == ["hello"]


async def test_a_caller_without_a_token_is_refused(one_server: Stage) -> None:
    stub = one_server.caller().sessions
    call: Any = stub.Subscribe(SubscribeRequest(session_id=await one_server.session()))
    assert (await refused(call)).what == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING")


async def test_bytes_that_are_no_request_are_refused(one_server: Stage) -> None:
    subscribe: Any = one_server.caller().channel.unary_stream("/lockstitch.v1.SessionService/Subscribe")
    call = subscribe(b"\xff\xff", metadata=[("authorization", f"Bearer {one_server.token()}")])
    assert (await refused(call)).what == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


async def test_another_store_s_epoch_is_refused_and_this_one_s_is_not(one_server: Stage) -> None:
    session_id = await one_server.session()
    told = await refused(one_server.open(session_id, store_epoch="another"))
    assert told.what == (grpc.StatusCode.OUT_OF_RANGE, "STORE_RESTORED")
    call = one_server.open(session_id, store_epoch=told.metadata["store_epoch"])
    assert (await call.read()).opened.store_epoch == told.metadata["store_epoch"]


async def test_a_refused_stream_does_not_count(make_stage: MakeStage) -> None:
    stage = await make_stage(LOCKSTITCH_STREAMS_MAX="1")
    session_id = await stage.session()
    for _ in range(3):
        assert (await refused(stage.open(fresh("never-was")))).what == NOT_FOUND
    call = stage.open(session_id)
    assert (await call.read()).opened.version == 1
