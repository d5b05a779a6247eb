"""Removed messages, listed in their places."""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from factories import ASSISTANT, USER, said
from lockstitch.v1.message_pb2 import Message
from support.histories import paged
from support.rpc import Create, Rpc, refusal

SIZES = (1, 2, 3, 50)


@pytest.fixture
async def mixed(engine: Rpc, create: Create) -> str:
    """Seqs 1 to 9: 1, 2 and 8, 9 live; 3, 4 and 5 to 7 removed by two commits; 2 and 7 changed before."""
    at = [Timestamp(seconds=number) for number in range(10)]
    session_id = await create(
        messages=[said(f"m{seq}", message_id=f"id{seq}", event_time=at[seq]) for seq in range(1, 5)]
    )
    await engine.UpdateMessage(session_id=session_id, message_id="id2", message=said("m2 changed", event_time=at[2]))
    replacement = [said(f"m{seq}", message_id=f"id{seq}", role=ASSISTANT, event_time=at[seq]) for seq in (5, 6, 7)]
    await engine.RemoveMessages(session_id=session_id, last=2, replacement=replacement)
    changed = said("m7 changed", role=ASSISTANT, event_time=at[7])
    await engine.UpdateMessage(session_id=session_id, message_id="id7", message=changed)
    await engine.RemoveMessages(session_id=session_id, from_seq=5, replacement=[said("m8"), said("m9")])
    return session_id


async def listed(engine: Rpc, session_id: str, size: int, **asked: Any) -> list[Message]:
    return await paged(
        engine.ListMessages, "messages", page_size=size, session_id=session_id, show_removed=True, **asked
    )


async def test_each_stands_in_its_place_once_in_both_directions(engine: Rpc, mixed: str) -> None:
    for size in SIZES:
        upwards = await listed(engine, mixed, size)
        assert [(message.seq, message.removed_version) for message in upwards] == [
            (1, 0), (2, 0), (3, 3), (4, 3), (5, 5), (6, 5), (7, 5), (8, 0), (9, 0)
        ]  # fmt: skip
        texts = [message.parts[0].text for message in upwards]
        assert texts == ["m1", "m2 changed", "m3", "m4", "m5", "m6", "m7 changed", "m8", "m9"]
        assert await listed(engine, mixed, size, descending=True) == upwards[::-1]


async def test_without_being_asked_for_they_are_not_there(engine: Rpc, mixed: str) -> None:
    for size in SIZES:
        live = await paged(engine.ListMessages, "messages", page_size=size, session_id=mixed)
        assert [message.seq for message in live] == [1, 2, 8, 9]
        back = await paged(engine.ListMessages, "messages", page_size=size, session_id=mixed, descending=True)
        assert back == live[::-1]


FILTERS: list[tuple[dict[str, Any], Callable[[Message], bool]]] = [
    ({"after_seq": 2, "before_seq": 8}, lambda message: 2 < message.seq < 8),
    ({"after_seq": 6}, lambda message: message.seq > 6),
    ({"roles": [ASSISTANT]}, lambda message: message.role == ASSISTANT),
    ({"roles": [USER], "before_seq": 9}, lambda message: message.role == USER and message.seq < 9),
    ({"event_after": Timestamp(seconds=3)}, lambda message: 3 <= message.seq <= 7),
    ({"event_before": Timestamp(seconds=3)}, lambda message: message.seq < 3),
]


@pytest.mark.parametrize(("asked", "keeps"), FILTERS)
async def test_filters_narrow_them_too(
    engine: Rpc, mixed: str, asked: dict[str, Any], keeps: Callable[[Message], bool]
) -> None:
    expected = [message for message in await listed(engine, mixed, 50) if keeps(message)]
    assert expected
    for size in SIZES:
        assert await listed(engine, mixed, size, **asked) == expected
        assert await listed(engine, mixed, size, descending=True, **asked) == expected[::-1]


async def test_a_page_token_holds_for_its_own_list_only(engine: Rpc, mixed: str) -> None:
    page = await engine.ListMessages(session_id=mixed, show_removed=True, page_size=2)
    other = engine.ListMessages(session_id=mixed, page_size=2, page_token=page.next_page_token)
    assert (await refusal(other)).reason == "PAGE_TOKEN_INVALID"


async def test_what_is_removed_while_paging_stays_in_its_place(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said(f"m{number}") for number in range(1, 9)])
    asked = {"session_id": session_id, "show_removed": True, "page_size": 3}
    first = await engine.ListMessages(**asked)
    await engine.RemoveMessages(session_id=session_id, from_seq=2, replacement=[said("new")])
    second = await engine.ListMessages(**asked, page_token=first.next_page_token)
    third = await engine.ListMessages(**asked, page_token=second.next_page_token)
    seqs = [message.seq for page in (first, second, third) for message in page.messages]
    assert seqs == list(range(1, 10))
    assert (first.as_of_version, second.as_of_version, third.as_of_version) == (1, 2, 2)
