"""What has room in an answer that a default client takes."""

from datetime import UTC, datetime

import pytest

from lockstitch_server.model import Memory, Message, MessageRole
from lockstitch_server.service import budget
from support.columns import stored

DEFAULT_CLIENT_BYTES = 4 * 1024 * 1024


def message(seq: int, size: int, *, read: bool = True) -> Message:
    return Message(
        seq=seq,
        version=seq,
        role=MessageRole.USER,
        message_id=f"m{seq}",
        call_id="",
        create_time=datetime(2026, 1, 1, tzinfo=UTC),
        body=b"" if read else None,
        body_bytes=size,
    )


def memory(*values: bytes) -> Memory:
    return Memory(values={b"k%d" % place: value for place, value in enumerate(values)}, version=1)


def test_an_answer_stays_below_what_a_default_client_takes() -> None:
    assert DEFAULT_CLIENT_BYTES - budget.ANSWER_BYTES >= 64 * 1024


def test_the_largest_memory_leaves_room_for_messages() -> None:
    largest = memory(b'"' + b"x" * 1024 * 1024 + b'"')
    room = budget.for_messages(largest, with_tool_calls=True)

    assert room > 1024 * 1024
    parts = budget.SESSION_BYTES + budget.memory_bytes(largest) + budget.TOOL_CALLS_BYTES
    assert room + parts == budget.ANSWER_BYTES


def test_what_is_not_given_takes_no_room() -> None:
    assert budget.for_messages(None, with_tool_calls=False) == budget.ANSWER_BYTES - budget.SESSION_BYTES
    assert budget.for_messages(memory(), with_tool_calls=False) == budget.ANSWER_BYTES - budget.SESSION_BYTES


@pytest.mark.parametrize("key", [b"k", b"\x00" * 20, b'"' * 20, "\U0001f600".encode()])
def test_memory_is_counted_as_it_is_written(key: bytes) -> None:
    """A key grows where it is escaped."""
    assert budget.memory_bytes(Memory(values={key: b"1"}, version=1)) > len(key) + 3
    assert budget.memory_bytes(Memory(values={b"\x00": b"1"}, version=1)) >= len('"\\u0000":1,')


def test_the_newest_messages_that_fit_are_given() -> None:
    each = 100 + budget.MESSAGE_ENVELOPE_BYTES
    messages = stored([message(seq, 100) for seq in (1, 2, 3)])

    for room, seqs in ((3 * each, [1, 2, 3]), (3 * each - 1, [2, 3]), (2 * each, [2, 3]), (each, [3])):
        fitting, elided = budget.newest_that_fit(messages, room)
        assert [found.seq for found in fitting] == seqs
        assert not elided


def newest(messages: list[Message], room: int) -> tuple[list[Message], bool]:
    fitting, elided = budget.newest_that_fit(stored(messages), room)
    return list(fitting), elided


def test_the_newest_is_given_elided_where_it_does_not_fit_whole() -> None:
    assert newest([message(1, 1), message(2, 100)], 50) == ([message(2, 100)], True)
    assert newest([message(1, 1, read=False)], 10_000) == ([message(1, 1, read=False)], True)


def test_messages_behind_one_that_was_not_read_are_left_out() -> None:
    assert newest([message(1, 1), message(2, 1, read=False), message(3, 1)], 10_000) == ([message(3, 1)], False)


def test_no_messages_fit_anywhere() -> None:
    assert newest([], 0) == ([], False)
