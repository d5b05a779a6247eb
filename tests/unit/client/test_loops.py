import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from lockstitch import Cancelled, Client, SessionNotFound, user
from lockstitch.types import Message
from lockstitch.v1.session_service_pb2 import ListMessagesResponse

BACKGROUND = "lockstitch"


def background_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == BACKGROUND]


async def append(client: Client, text: str) -> None:
    await client.session("s").append(messages=[user(text)])


def texts(scripted: Any) -> list[str]:
    return sorted(request.messages[0].parts[0].text for request in scripted.requests)


async def test_the_loop_that_entered_needs_no_thread(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        await append(client, "here")
        assert background_threads() == []
    assert texts(scripted) == ["here"]


def test_a_loop_for_each_call(scripted: Any) -> None:
    client = Client(scripted.target, token="t")  # made outside any loop
    for number in range(10):
        asyncio.run(append(client, str(number)))
    assert len(background_threads()) == 1
    asyncio.run(client.close())
    assert background_threads() == []
    assert texts(scripted) == [str(number) for number in range(10)]


def test_many_loops_in_many_threads_at_once(scripted: Any) -> None:
    async def several(client: Client, thread: int) -> None:
        await asyncio.gather(*(append(client, f"{thread}-{number}") for number in range(20)))

    client = Client(scripted.target, token="t")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda thread: asyncio.run(several(client, thread)), range(8)))
    assert len(background_threads()) == 1
    client.run(client.close())
    assert len(set(texts(scripted))) == 160


async def test_others_are_served_while_the_loop_that_entered_is_blocked(scripted: Any) -> None:
    # What frameworks do in a synchronous method that is called from a running loop.
    async with Client(scripted.target, token="t") as client:
        await append(client, "before")
        with ThreadPoolExecutor(1) as threads:
            threads.submit(lambda: asyncio.run(append(client, "other loop"))).result()
        client.run(append(client, "blocking"))
        await append(client, "after")
        assert len(background_threads()) == 1
    assert background_threads() == []
    assert texts(scripted) == ["after", "before", "blocking", "other loop"]


def test_plain_threads_use_it_without_a_loop(scripted: Any) -> None:
    with Client(scripted.target, token="t") as client, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: client.run(append(client, str(number))), range(50)))
    assert len(scripted.requests) == 50
    assert background_threads() == []


def test_iterators_are_gone_through_without_a_loop(scripted: Any) -> None:
    scripted.will(
        ListMessagesResponse(messages=[Message(seq=1), Message(seq=2)], next_page_token="more"),
        ListMessagesResponse(next_page_token="yet more"),
        ListMessagesResponse(messages=[Message(seq=3)]),
    )
    with Client(scripted.target, token="t") as client:
        assert [message.seq for message in client.iterate(client.session("s").messages())] == [1, 2, 3]
    assert [request.page_token for request in scripted.requests] == ["", "more", "yet more"]


def test_a_call_that_would_wait_for_itself_says_so(scripted: Any) -> None:
    async def nested(client: Client) -> None:
        client.run(append(client, "never"))

    with Client(scripted.target, token="t") as client, pytest.raises(RuntimeError, match="await instead"):
        client.run(nested(client))


def test_errors_come_through_the_background_loop(scripted: Any, fail: Any) -> None:
    scripted.will(fail(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND"))
    with Client(scripted.target, token="t") as client, pytest.raises(SessionNotFound):
        client.run(client.get("s"))


async def test_a_cancelled_call_ends_on_the_other_loop_too(scripted: Any) -> None:
    begun, ended = threading.Event(), threading.Event()

    def hang(context: grpc.ServicerContext) -> Message:
        context.add_callback(ended.set)
        begun.set()
        ended.wait()
        return Message()

    scripted.will(hang)
    client = Client(scripted.target, token="t")
    task = asyncio.create_task(client.get("s"))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 10)
    await client.close()


@pytest.mark.parametrize(
    "close", [lambda client: asyncio.run(client.close()), lambda client: client.run(client.close())]
)
def test_a_closed_client_says_so(scripted: Any, close: Callable[[Client], None]) -> None:
    client = Client(scripted.target, token="t")
    client.run(append(client, "one"))
    close(client)
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(append(client, "two"))
    for thread in background_threads():  # one that closes its own client ends behind the call
        thread.join(10)
    assert background_threads() == []


@pytest.mark.parametrize("entered", [True, False])
async def test_a_call_in_flight_is_given_up_when_its_client_is_closed(scripted: Any, *, entered: bool) -> None:
    begun, over = threading.Event(), threading.Event()

    def hang(_context: grpc.ServicerContext) -> Message:
        begun.set()
        over.wait(30)
        return Message()

    scripted.will(hang)
    client = Client(scripted.target, token="t")
    if entered:
        await client.__aenter__()
    call = asyncio.create_task(client.session("s").close(request_id="r"))
    await asyncio.to_thread(begun.wait)
    try:
        await client.close()
        with pytest.raises(Cancelled) as caught:
            await call
    finally:
        over.set()
    assert caught.value.request_id == "r"


def test_a_call_that_is_waited_for_is_given_up_when_its_client_is_closed(scripted: Any) -> None:
    begun, over = threading.Event(), threading.Event()

    def hang(_context: grpc.ServicerContext) -> Message:
        begun.set()
        over.wait(30)
        return Message()

    scripted.will(hang)
    client = Client(scripted.target, token="t")
    with ThreadPoolExecutor(1) as threads:
        waited = threads.submit(lambda: client.run(client.get("s")))
        begun.wait()
        try:
            asyncio.run(client.close())
            with pytest.raises(Cancelled, match="closed during the call"):
                waited.result(30)
        finally:
            over.set()


async def test_a_client_is_entered_once(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(RuntimeError, match="open already"):
            await client.__aenter__()
    with pytest.raises(RuntimeError, match="closed"):
        await client.__aenter__()


def test_a_client_that_nobody_holds_leaves_no_thread(scripted: Any) -> None:
    client = Client(scripted.target, token="t")
    client.run(append(client, "one"))
    assert len(background_threads()) == 1
    del client
    gc.collect()
    assert background_threads() == []


def test_a_process_ends_quietly_with_a_client_left_open(scripted: Any) -> None:
    script = f"""
import asyncio
from lockstitch import Client, user

kept = Client({scripted.target!r}, token="t")
kept.run(kept.session("s").append(messages=[user("one")]))

async def main():
    entered = Client({scripted.target!r}, token="t")
    await entered.__aenter__()
    await entered.session("s").append(messages=[user("two")])

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert texts(scripted) == ["one", "two"]


def test_the_loop_that_entered_may_be_gone_when_it_is_closed(scripted: Any) -> None:
    client = Client(scripted.target, token="t")

    async def enter() -> None:
        await client.__aenter__()
        await append(client, "there")

    asyncio.run(enter())
    asyncio.run(append(client, "elsewhere"))
    asyncio.run(client.close())
    assert texts(scripted) == ["elsewhere", "there"]
    assert background_threads() == []
