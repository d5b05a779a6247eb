"""Streams of sessions that are closed or expired, of tokens that end, and of readers who want some roles only."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import grpc
from grpc import aio

from factories import ASSISTANT, USER, fresh, said
from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import LEEWAY, TokenSigner
from lockstitch_server.model import CallerRole
from support.guarantees import check_guarantees
from support.journal import Journal
from support.rpc import Refusal, refusal
from support.stage import Stage
from support.streams import Reader, bookmark_of, span
from support.waiting import POLL_SECONDS


async def test_a_closed_session_is_caught_up_with_then_waited_on_and_gone_on_with_after_its_restore(
    one_server: Stage,
) -> None:
    session_id, rpc = await one_server.session(), one_server.rpc()
    await rpc.Append(session_id=session_id, messages=[said("before")])
    early = await one_server.follow(session_id)
    await early.caught_up()
    await rpc.CloseSession(session_id=session_id)
    late = await one_server.follow(session_id)
    for reader in (early, late):
        await reader.reached(3)
        await reader.until(_has_beaten(reader), "a heartbeat")
    await rpc.RestoreSession(session_id=session_id)
    await rpc.Append(session_id=session_id, messages=[said("after")])
    for reader in (early, late):
        await reader.reached(5)
        assert (reader.versions, len(reader.streams)) == ([1, 2, 3, 4, 5], 1)
        assert reader.texts == ["before", "after"]


async def test_an_expired_session_is_waited_on_until_it_has_a_new_life(one_server: Stage) -> None:
    session_id, rpc = await one_server.session(ttl={"seconds": 1}), one_server.rpc()
    early = await one_server.follow(session_id)
    async with asyncio.timeout(20):
        while (await refusal_of_append(one_server, session_id)) != "SESSION_EXPIRED":
            await asyncio.sleep(POLL_SECONDS)
    late = await one_server.follow(session_id)
    for reader in (early, late):
        await reader.until(_has_beaten(reader), "a heartbeat")
    await rpc.RestoreSession(session_id=session_id, ttl={"seconds": 3600})
    await rpc.Append(session_id=session_id, messages=[said("alive")])
    version = (await rpc.GetSession(session_id=session_id)).session.version
    for reader in (early, late):
        await reader.reached(version)
        assert reader.texts[-1] == "alive"
        assert (reader.versions, len(reader.streams)) == (list(range(1, version + 1)), 1)


async def test_a_quiet_stream_beats_as_often_as_was_asked(one_server: Stage) -> None:
    session_id = await one_server.session()
    often = await one_server.follow(session_id, heartbeat_interval=span(1))
    seldom = await one_server.follow(session_id, heartbeat_interval=span(3600))
    started = time.monotonic()
    await often.until(lambda: often.stream.kinds.count("heartbeat") >= 3, "three heartbeats")
    assert time.monotonic() - started >= 2.9
    assert seldom.stream.kinds == ["opened", "commit", "caught_up"]
    assert often.stream.frames[-1].heartbeat.version == 1


async def test_bookmarks_pass_what_roles_hide(one_server: Stage) -> None:
    session_id, journal = await one_server.session(), Journal()
    writer = one_server.writer(session_id, journal)
    await writer.write(5, role=USER)
    await writer.write(1, role=ASSISTANT)
    await writer.write(5, role=USER)
    reader = await one_server.follow(session_id, roles=[ASSISTANT])
    await reader.caught_up()
    assert (reader.stream.kinds, reader.cursor) == (["opened", "commit", "caught_up"], 12)
    await writer.write(3, role=USER)
    await reader.reached(15)
    reader.leave()
    await reader.resumed(1)
    assert reader.stream.after_version == 15
    await writer.write(1, role=ASSISTANT)
    await reader.reached(16)
    check_guarantees(journal, [reader])


async def test_a_commit_of_several_roles_is_given_with_the_messages_that_were_asked_for(one_server: Stage) -> None:
    session_id = await one_server.session()
    await one_server.rpc().Append(session_id=session_id, messages=[said("mine"), said("its", role=ASSISTANT)])
    for roles, texts in (([USER], ["mine"]), ([ASSISTANT], ["its"]), ([USER, ASSISTANT], ["mine", "its"])):
        reader = await one_server.follow(session_id, roles=roles)
        await reader.caught_up()
        assert reader.texts == texts


async def test_a_stream_whose_roles_hide_all_that_happens_beats_all_the_same(one_server: Stage) -> None:
    """A busy session is not a silent one, but a stream that shows nothing of it would be."""
    session_id, journal = await one_server.session(), Journal()
    writer = one_server.writer(session_id, journal)
    reader = await one_server.follow(session_id, roles=[ASSISTANT])
    await reader.caught_up()
    while reader.stream.kinds.count("heartbeat") < 2:
        await writer.write(1, role=USER)
    await writer.write(1, role=ASSISTANT)
    await reader.reached(journal.last_version)
    check_guarantees(journal, [reader])
    bookmarks = [bookmark_of(frame) for frame in reader.stream.frames if frame.HasField("heartbeat")]
    assert bookmarks[0] != bookmarks[1], "it did not say how far it had passed"


async def test_a_stream_ends_when_its_token_does(one_server: Stage) -> None:
    session_id = await one_server.session()
    reader = await one_server.follow(session_id, token=ending_token(one_server, seconds=2), resume=False)
    end = (await reader.ended()).end
    assert isinstance(end, Refusal)
    assert end.what == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
    assert reader.stream.kinds[:3] == ["opened", "commit", "caught_up"]


async def test_a_busy_stream_ends_when_its_token_does(one_server: Stage) -> None:
    session_id, journal = await one_server.session(), Journal()
    writer = one_server.writer(session_id, journal)
    token = ending_token(one_server, seconds=2)
    ends = time.time() + 1  # a token's time is told in whole seconds
    reader = await one_server.follow(session_id, token=token, resume=False)
    await reader.caught_up()
    while reader.stream.end is None:
        await writer.write(1)
        assert time.time() < ends + 10
    end = reader.stream.end
    assert isinstance(end, Refusal)
    assert end.what == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
    assert time.time() >= ends


def ending_token(stage: Stage, *, seconds: int) -> str:
    """A token that is taken for so long yet; that clocks may differ by LEEWAY is granted."""
    signer = TokenSigner(keys.load_or_make(stage.servers[0].data_dir))
    ttl = timedelta(seconds=seconds) - LEEWAY
    return signer.sign(tenant=stage.tenant, subject="engine-1", role=CallerRole.ENGINE, ttl=ttl)


async def refusal_of_append(stage: Stage, session_id: str) -> str:
    try:
        await stage.rpc().Append(session_id=session_id, messages=[said(fresh("too early"))])
    except aio.AioRpcError:
        return (await refusal(stage.rpc().Append(session_id=session_id, messages=[said("late")]))).reason
    return ""


def _has_beaten(reader: Reader) -> Callable[[], bool]:
    return lambda: "heartbeat" in reader.stream.kinds
