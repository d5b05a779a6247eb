"""Streams of sessions that are deleted and purged: each is given the deletion, then ends."""

from typing import Any

import grpc
import pytest

from factories import ASSISTANT, fresh, said
from lockstitch.v1 import admin_service_pb2
from lockstitch.v1.session_pb2 import SESSION_STATUS_DELETED
from support.drafts import Drafting, drafts_of
from support.proxy import proxy_to, to_tcp
from support.rpc import Refusal, refusal
from support.stage import MakeStage, Stage
from support.streams import Reader

GONE = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")


async def followed(stage: Stage, session_id: str, **asked: Any) -> list[Reader]:
    """A reader at each server, in the present, that does not resume."""
    targets = [server.target for server in stage.servers]
    readers = [await stage.follow(session_id, targets=[target], resume=False, **asked) for target in targets]
    for reader in readers:
        await reader.caught_up()
    return readers


async def ended_as_gone(reader: Reader) -> None:
    """Wait until a stream has ended because there is no such session."""
    end = (await reader.ended()).end
    assert isinstance(end, Refusal), end
    assert end.what == GONE


async def purge(stage: Stage, session_id: str) -> None:
    admin = stage.caller(user="admin-1", role="admin").admin
    await admin.PurgeSession(
        admin_service_pb2.PurgeSessionRequest(session_id=session_id, request_id=fresh("request"), force=True)
    )


async def test_a_deletion_is_given_and_then_the_stream_ends_on_every_server(stage: Stage) -> None:
    session_id, rpc = await stage.session(), stage.rpc()
    await rpc.Append(session_id=session_id, messages=[said("before")])
    readers = await followed(stage, session_id)
    deleted = (await rpc.DeleteSession(session_id=session_id)).session
    for reader in readers:
        await ended_as_gone(reader)
        assert reader.versions == [1, 2, 3]
        assert reader.commits[-1].session == deleted
        assert deleted.status == SESSION_STATUS_DELETED


async def test_a_stream_whose_roles_hide_the_deletion_ends_all_the_same(stage: Stage) -> None:
    session_id = await stage.session()
    readers = await followed(stage, session_id, roles=[ASSISTANT])
    await stage.rpc().Append(session_id=session_id, messages=[said("its", role=ASSISTANT)])
    await stage.rpc().DeleteSession(session_id=session_id)
    for reader in readers:
        await ended_as_gone(reader)
        assert reader.versions == [2]


async def test_a_deleted_session_is_not_there_to_subscribe_to(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.rpc().DeleteSession(session_id=session_id)
    for server in stage.servers:
        for who in ({"user": "engine-1", "role": "engine"}, {"user": "u1", "role": "user"}):
            token = stage.token(**who)
            refused = await refusal(stage.open(session_id, token=token, target=server.target).read())
            assert refused.what == GONE
    await stage.rpc().UndeleteSession(session_id=session_id)
    for reader in await followed(stage, session_id):
        assert reader.versions == [1, 2, 3]


async def test_a_stream_that_catches_up_goes_on_over_a_deletion_that_was_taken_back(stage: Stage) -> None:
    session_id, rpc = await stage.session(), stage.rpc()
    for _ in range(3):
        await rpc.DeleteSession(session_id=session_id)
        await rpc.UndeleteSession(session_id=session_id)
    for roles in ([], [ASSISTANT]):
        readers = await followed(stage, session_id, roles=roles)
        version = (await rpc.Append(session_id=session_id, messages=[said("on", role=ASSISTANT)])).receipt.version
        for reader in readers:
            await reader.reached(version)
            assert reader.texts[-1] == "on"
            assert reader.stream.end is None


@pytest.mark.parametrize("roles", [[], [ASSISTANT]])
async def test_a_stream_that_is_catching_up_when_its_session_is_deleted_ends_behind_the_deletion(
    one_server: Stage, roles: list[Any]
) -> None:
    session_id, rpc = await one_server.session(), one_server.rpc()
    await rpc.DeleteSession(session_id=session_id)
    await rpc.UndeleteSession(session_id=session_id)
    for _ in range(6):
        await rpc.Append(session_id=session_id, messages=[said("x" * 1_000_000, role=ASSISTANT)])
    async with proxy_to(to_tcp(one_server.servers[0].target)) as proxy:
        options = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 64 * 1024))
        reader = await one_server.follow(session_id, targets=[proxy.target], roles=roles, resume=False, options=options)
        await reader.until(lambda: bool(reader.stream.frames), "the opening")
        proxy.stall()
        assert "caught_up" not in reader.stream.kinds
        await rpc.DeleteSession(session_id=session_id)
        proxy.restore()
        await ended_as_gone(reader)
        assert reader.versions == (list(range(1, 11)) if not roles else list(range(4, 10)))


async def test_the_streams_of_a_purged_session_end_on_every_server(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.rpc().Append(session_id=session_id, messages=[said("secret")])
    readers = [*await followed(stage, session_id), *await followed(stage, session_id, roles=[ASSISTANT])]
    await purge(stage, session_id)
    for reader in readers:
        await ended_as_gone(reader)


async def test_streams_end_with_a_session_that_was_purged_without_their_being_told(
    make_stage: MakeStage, stage: Stage
) -> None:
    """The wake-up is lost: the one who purges is on another bus."""
    apart = await make_stage(LOCKSTITCH_NATS_URL="nats://127.0.0.1:1")
    apart.tenant = stage.tenant
    session_id = await stage.session()
    readers = await followed(stage, session_id)
    await purge(apart, session_id)
    for reader in readers:
        await ended_as_gone(reader)


async def test_what_is_drafted_when_its_session_is_deleted_is_stored_before_the_deletion(stage: Stage) -> None:
    session_id = await stage.session()
    readers = await followed(stage, session_id)
    draft = Drafting(stage.caller(), session_id)
    await draft.say("so far")
    for reader in readers:
        await reader.until(lambda reader=reader: draft.draft_id in drafts_of(reader.stream), "its text")  # type: ignore[misc]
    await stage.rpc().DeleteSession(session_id=session_id)
    assert (await refusal(draft.ended())).reason == "SESSION_DELETED"
    for reader in readers:
        await ended_as_gone(reader)
        assert reader.versions == [1, 2, 3]
        assert (reader.texts, reader.commits[1].messages[0].incomplete) == (["so far"], True)
        assert drafts_of(reader.stream) == {draft.draft_id: "so far"}


async def test_a_closed_sessions_stream_waits_through_what_was_drafted(stage: Stage) -> None:
    session_id = await stage.session()
    readers = await followed(stage, session_id)
    draft = Drafting(stage.caller(), session_id)
    await draft.say("so far")
    await readers[1].until(lambda: draft.draft_id in drafts_of(readers[1].stream), "its text")
    await stage.rpc().CloseSession(session_id=session_id)
    await stage.rpc().RestoreSession(session_id=session_id)
    await stage.rpc().Append(session_id=session_id, messages=[said("after")])
    for reader in readers:
        await reader.reached(5)
        assert reader.texts == ["so far", "after"]
        assert drafts_of(reader.stream).get(draft.draft_id, "so far") == "so far"
        assert reader.stream.end is None
