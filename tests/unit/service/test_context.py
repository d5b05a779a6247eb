"""Which messages a context takes: units of a call with its results, the newest first, within three limits."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from lockstitch_server.model import Message, MessageRole
from lockstitch_server.service import context
from lockstitch_server.service.context import _Room, _Taken
from lockstitch_server.store.results import ResultPlace
from support.columns import stored

USER, ASSISTANT, TOOL = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL
PROFILE = settings(max_examples=300, derandomize=True, deadline=None, database=None)
ELIDED_BYTES = 512


def message(seq: int, role: MessageRole = USER, *, size: int = 10, read: bool = True) -> Message:
    return Message(
        seq=seq,
        version=seq,
        role=role,
        message_id=f"m{seq}",
        call_id="c" if role is TOOL else "",
        create_time=datetime(2026, 1, 1, tzinfo=UTC),
        body=b"x" * size if read else None,
        body_bytes=size,
    )


def units(messages: Sequence[Message], places: Mapping[int, tuple[int, int]]) -> list[list[int]]:
    """The seqs of units; places are (seq of the call's message, part) by the seq of the result."""

    class View:
        def __init__(self) -> None:
            self.messages = stored(messages)
            self.result_places = {seq: ResultPlace(*place) for seq, place in places.items()}

    return [[messages[place].seq for place in unit] for unit in context._units(cast("Any", View()))]


def taken(
    made: Sequence[Sequence[Message]], *, messages: int = 100, size: int = 10_000, tokens: int | None = None
) -> Any:
    """(seq, elided) of what is taken, oldest first."""
    everything, found = newest(made, _Room(messages=messages, bytes=size, tokens=tokens))
    return [(everything[place].seq, place in found.elided) for place in found.places]


def newest(made: Sequence[Sequence[Message]], room: _Room) -> tuple[list[Message], _Taken]:
    """All messages of these units, and which of them are taken."""
    everything = [message for unit in made for message in unit]
    places = iter(range(len(everything)))
    units = [tuple(next(places) for _ in unit) for unit in made]
    return everything, context._newest_units(stored(everything), units, room)


def test_results_stand_behind_their_call_in_call_order_whenever_they_came() -> None:
    history = [message(1, ASSISTANT), message(2), message(3, TOOL), message(4), message(5, TOOL), message(6, TOOL)]

    assert units(history, {3: (1, 2), 5: (1, 0), 6: (1, 1)}) == [[1, 5, 6, 3], [2], [4]]


def test_a_result_whose_call_is_not_among_the_messages_is_left_out() -> None:
    assert units([message(7, TOOL), message(8), message(9, TOOL)], {7: (1, 0)}) == [[8]]


def test_a_call_without_a_result_is_a_unit_of_its_own() -> None:
    assert units([message(1, ASSISTANT), message(2, ASSISTANT)], {}) == [[1], [2]]


def test_units_are_taken_from_the_newest_on_until_one_has_no_room() -> None:
    group = [message(2, ASSISTANT), message(3, TOOL)]

    assert taken([[message(1)], group, [message(4)]], messages=3) == [(2, False), (3, False), (4, False)]
    assert taken([[message(1)], group, [message(4)]], messages=2) == [(4, False)]


def test_what_has_no_room_now_but_would_in_an_emptier_context_ends_it() -> None:
    assert taken([[message(1, size=1)], [message(2, size=60)], [message(3, size=50)]], size=100) == [(3, False)]


def test_what_no_context_could_hold_is_taken_elided_and_older_ones_follow() -> None:
    made = [[message(1)], [message(2, ASSISTANT, size=20), message(3, TOOL, size=5000)], [message(4)]]

    assert taken(made, size=1000) == [(1, False), (2, True), (3, True), (4, False)]


def test_a_body_that_was_not_read_is_never_given_whole() -> None:
    assert taken([[message(1), message(2, TOOL, read=False)]]) == []
    assert taken([[message(1), message(2, TOOL, size=20_000, read=False)]]) == [(1, True), (2, True)]


def test_calls_that_were_not_read_can_not_be_kept_and_end_the_context() -> None:
    assert taken([[message(1)], [message(2, ASSISTANT, size=20_000, read=False)], [message(3)]]) == [(3, False)]


def test_a_message_is_four_tokens_and_one_for_four_bytes_rounded_up() -> None:
    assert context._tokens([]) == 0
    assert context._tokens([0]) == 4
    assert context._tokens([1]) == 5
    assert context._tokens([4, 5]) == 5 + 6
    assert taken([[message(1, size=4)], [message(2, size=4)]], tokens=10) == [(1, False), (2, False)]
    assert taken([[message(1, size=4)], [message(2, size=4)]], tokens=9) == [(2, False)]


sizes = st.one_of(st.integers(0, 30), st.sampled_from((100, 600, 5000)))
groups = st.lists(st.lists(sizes, min_size=1, max_size=4), max_size=8)


@PROFILE
@given(groups, st.integers(1, 12), st.sampled_from((50, 700, 10_000)), st.none() | st.sampled_from((20, 200, 4000)))
def test_whatever_the_limits_units_stay_whole_and_together(
    drawn: list[list[int]], messages: int, size: int, tokens: int | None
) -> None:
    seqs = iter(range(1, 100))
    made = [
        [message(next(seqs), TOOL if place else ASSISTANT, size=of) for place, of in enumerate(unit)] for unit in drawn
    ]
    everything, found = newest(made, _Room(messages=messages, bytes=size, tokens=tokens))

    whole_units = made[len(made) - found.units :]
    assert [everything[place] for place in found.places] == [message for unit in whole_units for message in unit]
    assert len(found.places) <= messages
    whole = [everything[place].body_bytes for place in found.places if place not in found.elided]
    assert sum(whole) <= size
    assert tokens is None or context._tokens(whole) <= tokens
    for unit in whole_units:
        of_unit = {everything.index(message) for message in unit}
        assert of_unit <= found.elided or not of_unit & found.elided
        if of_unit <= found.elided:
            bodies = [message.body_bytes for message in unit]
            assert sum(bodies) > size or (tokens is not None and context._tokens(bodies) > tokens)
