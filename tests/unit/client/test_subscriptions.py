import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from lockstitch import Client, SessionHandle, errors
from lockstitch.types import Commit, CommitReceipt, Role, Session, SubscribeResponse
from lockstitch.v1 import session_service_pb2 as sessions
from lockstitch.v1 import subscription_pb2 as wire
from support.waiting import until

Code = grpc.StatusCode
OPENED = SubscribeResponse(opened=wire.SubscriptionOpened(store_epoch="e", version=9))
SHORT = timedelta(milliseconds=200)


def commit(version: int, **more: Any) -> SubscribeResponse:
    return SubscribeResponse(commit=Commit(version=version, **more))


def heartbeat(version: int) -> SubscribeResponse:
    return SubscribeResponse(heartbeat=wire.Heartbeat(version=version))


async def versions(session: SessionHandle, last: int, **asked: Any) -> list[int]:
    """What a subscription gives up to a version."""
    found: list[int] = []
    async for one in session.subscribe(**asked):
        found.append(one.version)
        if one.version == last:
            break
    return found


async def test_each_commit_comes_once_over_as_many_streams_as_it_takes(scripted: Any, fail: Any) -> None:
    scripted.will_stream(OPENED, commit(1), commit(2), fail(Code.UNAVAILABLE, "DRAINING"))
    scripted.will_stream(fail(Code.UNAVAILABLE))
    scripted.will_stream(OPENED, commit(2), commit(3), fail(Code.RESOURCE_EXHAUSTED, "SLOW_CONSUMER"))
    scripted.will_stream(OPENED, commit(4))  # and ends as if all were well
    scripted.will_stream(OPENED, commit(5), fail(Code.CANCELLED))
    scripted.will_stream(OPENED, commit(6), fail(Code.INTERNAL, text="RST_STREAM"))
    scripted.will_stream(OPENED, commit(7))
    async with Client(scripted.target, token="t") as client:
        assert await versions(client.session("s"), 7) == [1, 2, 3, 4, 5, 6, 7]
    assert [request.after_version for request in scripted.requests] == [0, 2, 2, 3, 4, 5, 6]
    assert [request.store_epoch for request in scripted.requests] == ["", *["e"] * 6]
    assert {request.session_id for request in scripted.requests} == {"s"}


async def test_it_begins_behind_what_the_handle_has_seen(scripted: Any) -> None:
    scripted.will(sessions.GetSessionResponse(session=Session(session_id="s", version=4)))
    scripted.will_stream(OPENED, commit(5, session=Session(session_id="s", version=5, title="T")))
    scripted.will(sessions.AppendResponse(receipt=CommitReceipt(version=6)))
    async with Client(scripted.target, token="t") as client:
        session = await client.get("s")
        assert await versions(session, 5) == [5]
        assert session.version == 5
        assert session.info is not None
        assert session.info.title == "T"
        await session.append(expected_version=session.version)
    assert session.version == 6
    assert scripted.requests[1].after_version == 4


async def test_commits_that_roles_may_hide_are_not_taken_as_seen(scripted: Any, fail: Any) -> None:
    scripted.will_stream(OPENED, commit(2), heartbeat(7), fail(Code.UNAVAILABLE))
    scripted.will_stream(OPENED, commit(9))
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        assert await versions(session, 9, after_version=1, roles=[Role.ROLE_USER]) == [2, 9]
    assert session.version == 0
    assert [request.after_version for request in scripted.requests] == [1, 7]
    assert [list(request.roles) for request in scripted.requests] == [[Role.ROLE_USER]] * 2


async def test_frames_tell_live_from_catching_up(scripted: Any, fail: Any) -> None:
    caught_up = SubscribeResponse(caught_up=wire.CaughtUp(version=1))
    fell_behind = SubscribeResponse(fell_behind=wire.FellBehind(version=1))
    given = [OPENED, commit(1), caught_up, fell_behind, heartbeat(1)]
    scripted.will_stream(*given, fail(Code.UNAVAILABLE))
    scripted.will_stream(OPENED, caught_up)
    async with Client(scripted.target, token="t") as client, aclosing(client.session("s").frames()) as frames:
        assert [await anext(frames) for _ in range(7)] == [*given, OPENED, caught_up]


async def test_a_server_that_goes_away_says_when_to_come_again(scripted: Any) -> None:
    draining = wire.Draining(version=3, reconnect_after=Duration(nanos=300_000_000))
    scripted.will_stream(OPENED, commit(3), SubscribeResponse(draining=draining))
    scripted.will_stream(OPENED, commit(4))
    async with Client(scripted.target, token="t") as client:
        began = time.monotonic()
        assert await versions(client.session("s"), 4) == [3, 4]
    assert time.monotonic() - began >= 0.3
    assert scripted.requests[1].after_version == 3


async def test_a_connection_that_says_nothing_is_replaced(scripted: Any, wait: Any) -> None:
    scripted.will_stream(OPENED, commit(1), wait)
    scripted.will_stream(OPENED, commit(2))
    async with Client(scripted.target, token="t") as client:
        assert await versions(client.session("s"), 2, heartbeat_interval=SHORT) == [1, 2]
        await client.session("s").get()
    # The network of the old one may be dead: what comes later goes over a new one.
    first, second, later = scripted.peers
    assert first != second
    assert later == second
    assert scripted.requests[0].heartbeat_interval.ToTimedelta() == SHORT


async def test_a_reader_that_takes_its_time_loses_nothing(scripted: Any, wait: Any) -> None:
    scripted.will_stream(OPENED, commit(1), commit(2), wait)
    async with Client(scripted.target, token="t") as client:
        subscription = client.session("s").subscribe(heartbeat_interval=SHORT)
        async with aclosing(subscription):
            assert (await anext(subscription)).version == 1
            await asyncio.to_thread(scripted.left[0].wait, 3 * SHORT.total_seconds())
            assert (await anext(subscription)).version == 2
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (Code.NOT_FOUND, "SESSION_NOT_FOUND", errors.SessionNotFound),
        (Code.OUT_OF_RANGE, "CURSOR_AHEAD", errors.CursorAhead),
        (Code.OUT_OF_RANGE, "STORE_RESTORED", errors.StoreRestored),
        (Code.UNAUTHENTICATED, "TOKEN_INVALID", errors.TokenInvalid),
        (Code.INTERNAL, "INTERNAL", errors.Internal),
        (Code.UNIMPLEMENTED, "", errors.Unimplemented),
    ],
)
async def test_what_no_attempt_can_mend_is_raised(
    scripted: Any, fail: Any, code: grpc.StatusCode, reason: str, kind: type[Exception]
) -> None:
    scripted.will_stream(OPENED, commit(1), fail(Code.UNAVAILABLE))
    scripted.will_stream(fail(code, reason))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(kind):
            await versions(client.session("s"), 2)
    assert len(scripted.requests) == 2


async def test_a_fresh_token_is_asked_for_at_each_attempt(scripted: Any, fail: Any) -> None:
    numbers = iter(range(9))
    scripted.will_stream(OPENED, commit(1), fail(Code.UNAUTHENTICATED, "TOKEN_EXPIRED"))
    scripted.will_stream(fail(Code.UNAUTHENTICATED, "TOKEN_EXPIRED"))
    scripted.will_stream(OPENED, commit(2))
    for _ in range(3):
        scripted.will_stream(fail(Code.UNAUTHENTICATED, "TOKEN_EXPIRED"))
    async with Client(scripted.target, token=lambda: f"t{next(numbers)}") as client:
        session = client.session("s")
        with pytest.raises(errors.TokenExpired):
            await versions(session, 3)
    assert session.version == 2
    assert scripted.tokens == [f"Bearer t{number}" for number in range(6)]


async def test_a_place_that_our_own_dead_stream_holds_is_waited_for(scripted: Any, fail: Any) -> None:
    limit = fail(Code.RESOURCE_EXHAUSTED, "SUBSCRIPTION_LIMIT", metadata={"limit": "7"})
    scripted.will_stream(OPENED, commit(1), fail(Code.UNAVAILABLE))
    scripted.will_stream(limit)
    scripted.will_stream(OPENED, commit(2))
    scripted.will_stream(limit)
    async with Client(scripted.target, token="t") as client:
        assert await versions(client.session("s"), 2) == [1, 2]
        with pytest.raises(errors.SubscriptionLimit) as caught:
            await versions(client.session("s"), 2)
    assert caught.value.limit == 7


async def test_a_server_that_never_was_there_is_said_to_be_unavailable() -> None:
    async with Client("127.0.0.1:1", token="t") as client:
        with pytest.raises(errors.Unavailable):
            await versions(client.session("s"), 1, timeout=timedelta(milliseconds=500))


async def test_text_that_cannot_be_sent_is_refused(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(errors.InvalidField):
            await versions(client.session("s"), 1, store_epoch="\udc88")
    assert scripted.requests == []


async def test_leaving_the_loop_ends_the_stream_and_leaves_no_task(scripted: Any, wait: Any) -> None:
    scripted.will_stream(OPENED, commit(1), wait)
    async with Client(scripted.target, token="t") as client:
        before = asyncio.all_tasks()
        assert await versions(client.session("s"), 1) == [1]
        assert await asyncio.to_thread(scripted.left[0].wait, 10)
        assert {task for task in asyncio.all_tasks() - before if "lockstitch" in repr(task.get_coro())} == set()


async def test_a_cancelled_reader_ends_its_stream(scripted: Any, wait: Any) -> None:
    scripted.will_stream(OPENED, wait)
    async with Client(scripted.target, token="t") as client:
        opened = asyncio.Event()

        async def follow() -> None:
            async for _ in client.session("s").frames():
                opened.set()

        task = asyncio.create_task(follow())
        await opened.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(scripted.left[0].wait, 10)


@pytest.mark.parametrize("entered", [True, False])
async def test_a_subscription_ends_with_its_client(scripted: Any, *, entered: bool) -> None:
    client = Client(scripted.target, token="t")
    if entered:
        await client.__aenter__()
    following = asyncio.create_task(versions(client.session("s"), 1))
    await until(lambda: bool(scripted.requests), "a stream")
    await client.close()
    with pytest.raises(errors.Cancelled):
        await following


def test_other_loops_threads_and_plain_code_follow_too(scripted: Any, fail: Any, wait: Any) -> None:
    for _ in range(3):
        scripted.will_stream(OPENED, commit(1), fail(Code.UNAVAILABLE))
    for _ in range(3):
        scripted.will_stream(OPENED, commit(2), wait)
    with Client(scripted.target, token="t") as client:

        def plain() -> list[int]:
            found: list[int] = []
            for one in client.iterate(client.session("s").subscribe()):
                found.append(one.version)
                if one.version == 2:
                    break
            return found

        with ThreadPoolExecutor(3) as threads:
            loops = [threads.submit(lambda: asyncio.run(versions(client.session("s"), 2))) for _ in range(2)]
            assert threads.submit(plain).result(30) == [1, 2]
            assert [loop.result(30) for loop in loops] == [[1, 2]] * 2
        assert all(left.wait(10) for left in scripted.left)
    assert [thread for thread in threading.enumerate() if thread.name == "lockstitch"] == []
