"""Answers whose messages are passed through as bytes say the same as answers that were built field by field."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstitch.cli.transcripts.lines import opened
from lockstitch.cli.transcripts.reader import Format, reader
from lockstitch.cli.transcripts.transcript import Defaults
from lockstitch.v1 import message_pb2, session_service_pb2
from lockstitch_server import ids
from lockstitch_server.api.convert import message_bytes, messages
from lockstitch_server.model import Message, MessageRole
from lockstitch_server.store.stored_messages import StoredMessages
from support import drawn
from support.columns import KEY, stored

CHATS = Path(__file__).parents[3] / "shared/data/airline-chats.jsonl.gz"
ANSWERS: tuple[Any, ...] = (
    session_service_pb2.GetSessionResponse,
    session_service_pb2.GetContextResponse,
    session_service_pb2.ListMessagesResponse,
)
PROFILE = settings(max_examples=300, derandomize=True, deadline=None, database=None)
NUMBERS_MAX = 2**63 - 1


def said() -> Iterator[message_pb2.Message]:
    """Every message of the recorded chats."""
    with opened(CHATS) as (lines, _):
        chats = reader(Format.OPENAI_CHAT, lines, Defaults(user="u", subject="s", agent="", id_prefix=""))
        while (chat := chats.read()) is not None:
            for batch in chat.batches:
                yield from batch.messages


def kept(message: message_pb2.Message, seq: int, **beside: Any) -> Message:
    """A message as the store has it: what has a column of its own is not in its body."""
    left = message_pb2.Message()
    left.CopyFrom(message)
    messages.forget_output([left])
    for field in ("message_id", "role", "call_id"):
        left.ClearField(field)
    body = beside.pop("body", left.SerializeToString())
    return Message(
        **{
            "seq": seq,
            "version": seq + 1,
            "role": MessageRole(message.role),
            "message_id": message.message_id or ids.message_id(KEY, seq),
            "call_id": message.call_id,
            "create_time": datetime(2026, 11, 30, 16, 7, 5, seq % 1_000_000, tzinfo=UTC),
            "body": body,
            "body_bytes": len(body),
            **beside,
        }
    )


def passed_through(columns: StoredMessages, answer: Any) -> Any:
    return answer.FromString(b"".join(message_bytes.pieces(columns, answer)))


def built(of: Sequence[Message], answer: Any) -> Any:
    response = answer()
    for message in of:
        messages.fill(response.messages.add(), message)
    return response


def without_own_ids(of: Sequence[Message]) -> StoredMessages:
    """Columns as the database has them: no id where the sender named none."""
    return stored([replace(one, message_id="") if ids.is_server_message_id(one.message_id) else one for one in of])


stretches = st.lists(
    st.tuples(
        drawn.messages,
        st.fixed_dictionaries(
            {},
            optional={
                "version": st.integers(1, NUMBERS_MAX),
                "run_id": st.sampled_from(("run_0", "läuft")),
                "removed_version": st.integers(1, NUMBERS_MAX),
                "create_time": st.datetimes(timezones=st.just(UTC)),
                "body": st.just(b""),
                "erased": st.booleans(),
            },
        ),
    ),
    max_size=5,
)


@pytest.mark.skipif(not CHATS.is_file(), reason=f"{CHATS.name} is not beside this repository")
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.DESCRIPTOR.name)
def test_recorded_chats_come_out_as_if_each_message_was_built(answer: Any) -> None:
    history = [kept(message, seq) for seq, message in enumerate(said(), start=1)]
    assert len(history) > 1000

    assert passed_through(without_own_ids(history), answer) == built(history, answer)


@PROFILE
@given(stretches, st.integers(1, NUMBERS_MAX - 10), st.sampled_from(ANSWERS))
def test_drawn_messages_come_out_as_if_each_was_built(
    drawn_messages: list[tuple[message_pb2.Message, dict[str, Any]]], first_seq: int, answer: Any
) -> None:
    history = [
        kept(message, seq, **{"version": 1} | beside)
        for seq, (message, beside) in enumerate(drawn_messages, start=first_seq)
    ]

    assert passed_through(without_own_ids(history), answer) == built(history, answer)


@PROFILE
@given(st.lists(st.integers(0, 4), max_size=6), st.slices(5))
def test_messages_are_picked_and_cut_as_a_list_is(places: list[int], cut: slice) -> None:
    history = [kept(message_pb2.Message(role=message_pb2.ROLE_USER), seq) for seq in range(1, 6)]
    columns = without_own_ids(history)

    assert list(columns) == history
    assert list(columns[cut]) == history[cut]
    assert list(columns.picked(places)) == [history[place] for place in places]


@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 16_383, 16_384, 3 * 1024 * 1024])
def test_a_length_is_written_whatever_its_size(size: int) -> None:
    (message,) = [kept(message_pb2.Message(role=message_pb2.ROLE_USER, parts=[message_pb2.Part(text="x" * size)]), 1)]

    for answer in ANSWERS:
        assert passed_through(without_own_ids([message]), answer) == built([message], answer)
