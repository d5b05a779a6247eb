"""The largest accepted request of each change fits a frame, and a default client."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from factories import ASSISTANT, answered, called, fresh, keyed, said
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.tool_call_pb2 import Resource, ToolCallChange
from support.rpc import Refusal, Rpc, outcome
from support.sizes import CONTENT_BYTES_MAX, KIB, MIB
from support.stage import Stage

WIDE = "\U0001f600"  # four bytes a character
WIDE_ID = WIDE * 124
CALLS_MAX = 1000


def quoted(size: int) -> str:
    """A JSON text of so many bytes."""
    return '"' + "x" * (size - 2) + '"'


async def at_its_largest(send: Callable[[int], Awaitable[Any]], size_max: int) -> None:
    """Send with ever closer sizes around the largest that is accepted."""
    accepted, refused = 0, size_max
    while refused - accepted > 1:
        size = (accepted + refused) // 2
        answer = await outcome(send(size))
        if isinstance(answer, Refusal):
            assert answer.reason == "BATCH_TOO_LARGE"
            refused = size
        else:
            accepted = size
    assert accepted > 0


def many_calls(arguments_bytes: int, count: int = CALLS_MAX) -> Message:
    """A message of as many calls as there may be, their ids and names as wide as they may be."""
    message = Message(role=ASSISTANT, message_id=WIDE * 92 + fresh("id"))
    for number in range(count):
        part = called(f"{WIDE_ID}{number:04}", name=WIDE_ID, arguments=quoted(arguments_bytes)).parts[0]
        message.parts.append(part)
    return message


async def create(rpc: Rpc, session_id: str) -> None:
    """Everything that a session may begin with, at its largest."""
    await rpc.CreateSession(
        session_id=f"{session_id}-largest",
        user_id="u1",
        title=WIDE * 1024,
        agent=WIDE * 128,
        labels={WIDE * 126 + f"{number:02}": WIDE * 128 for number in range(64)},
        metadata_json=quoted(64 * KIB),
        memory={"extra_json": '{"k":' + quoted(MIB - 16) + "}"},
        messages=[said("x" * (2 * MIB - 512 * KIB))],
    )


async def largest_text(rpc: Rpc, session_id: str) -> None:
    await rpc.Append(session_id=session_id, messages=[said("x" * CONTENT_BYTES_MAX)])


async def a_hundred_messages(rpc: Rpc, session_id: str) -> None:
    async def send(size: int) -> None:
        batch = [said("x" * size, message_id=WIDE * 92 + fresh("id"), metadata_json="{}") for _ in range(100)]
        await rpc.Append(session_id=session_id, messages=batch)

    await at_its_largest(send, 40_000)


async def many_tool_calls(rpc: Rpc, session_id: str) -> None:
    async def send(size: int) -> None:
        await rpc.Append(session_id=session_id, messages=[many_calls(2 + size)])

    await at_its_largest(send, 4000)


async def many_tool_calls_and_results(rpc: Rpc, session_id: str) -> None:
    async def send(size: int) -> None:
        message = many_calls(2 + size, 99)
        results = [answered(part.tool_call.call_id, quoted(2 + size)) for part in message.parts]
        await rpc.Append(session_id=session_id, messages=[message, *results])

    await at_its_largest(send, 40_000)


async def tool_calls_of_no_message(rpc: Rpc, session_id: str) -> None:
    async def send(size: int) -> None:
        changes = [
            ToolCallChange(call_id=f"{WIDE_ID}{number:04}", name=WIDE_ID, arguments_json=quoted(2 + size))
            for number in range(CALLS_MAX)
        ]
        await rpc.Append(session_id=session_id, tool_calls=changes)

    await at_its_largest(send, 4000)


async def largest_memory_beside_a_message(rpc: Rpc, session_id: str) -> None:
    change = keyed(k=quoted(MIB - 16))
    await rpc.Append(session_id=session_id, messages=[said("x" * (2 * MIB - 16))], memory_change=change)
    await rpc.UpdateMemory(session_id=session_id, change=keyed(k=quoted(MIB - 3)), force=True)


async def largest_result_with_resources(rpc: Rpc, session_id: str) -> None:
    resources = [Resource(uri=f"{WIDE_ID}{n}", before="b" * 4000, after="a" * 4000) for n in range(20)]
    await rpc.Append(session_id=session_id, messages=[called("c", arguments=quoted(CONTENT_BYTES_MAX))])
    await rpc.UpdateToolCall(session_id=session_id, call_id="c", resources=resources)
    await rpc.CompleteToolCall(session_id=session_id, call_id="c", result_json=quoted(CONTENT_BYTES_MAX - 200 * KIB))


async def largest_replacement(rpc: Rpc, session_id: str) -> None:
    first = await rpc.Append(session_id=session_id, messages=[said("x" * CONTENT_BYTES_MAX)])
    await rpc.UpdateMessage(
        session_id=session_id, message_id=first.receipt.message_ids[0], message=said("y" * CONTENT_BYTES_MAX)
    )

    async def send(size: int) -> None:
        replacement = [many_calls(2 + size, CALLS_MAX // 2), many_calls(2 + size, CALLS_MAX // 2)]
        await rpc.RemoveMessages(session_id=session_id, last=1, replacement=replacement)

    await at_its_largest(send, 4000)


async def removal_of_much(rpc: Rpc, session_id: str) -> None:
    for _ in range(3):
        await rpc.Append(session_id=session_id, messages=[many_calls(500)])
    await rpc.RemoveMessages(session_id=session_id, from_seq=1)


async def largest_session(rpc: Rpc, session_id: str) -> None:
    session = {
        "session_id": session_id,
        "title": WIDE * 1024,
        "labels": {WIDE * 126 + f"{number:02}": WIDE * 128 for number in range(64)},
        "metadata_json": quoted(64 * KIB),
    }
    await rpc.UpdateSession(session=session, update_mask={"paths": ["title", "labels", "metadata_json"]}, force=True)
    await rpc.CloseSession(session_id=session_id, reason=WIDE * 128)
    await rpc.RestoreSession(session_id=session_id)


LARGEST: list[Callable[[Rpc, str], Awaitable[None]]] = [
    create,
    largest_text,
    a_hundred_messages,
    many_tool_calls,
    many_tool_calls_and_results,
    tool_calls_of_no_message,
    largest_memory_beside_a_message,
    largest_result_with_resources,
    largest_replacement,
    removal_of_much,
    largest_session,
]


@pytest.mark.parametrize("largest", LARGEST)
async def test_the_largest_accepted_request_fits_frames_live_and_later(
    one_server: Stage, largest: Callable[[Rpc, str], Awaitable[None]]
) -> None:
    session_id, rpc = await one_server.session(session_id=f"{one_server.tenant}-{largest.__name__}"), one_server.rpc()
    live = await one_server.follow(session_id)
    await live.caught_up()
    await largest(rpc, session_id)
    if largest is create:
        session_id += "-largest"
        live = await one_server.follow(session_id)
    version = (await rpc.GetSession(session_id=session_id)).session.version
    later = await one_server.follow(session_id)
    for reader in (live, later):
        # The reader fails for a frame above 4 MiB - 64 KiB.
        await reader.reached(version)
        assert reader.versions == list(range(1, version + 1))
    assert later.commits[-1] == live.commits[-1]
