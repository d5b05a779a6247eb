"""What a process knows of a session's open drafts, in orders of events that servers seldom come to."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lockstitch_server import ids
from lockstitch_server.model import CallerRole, Commit, DraftPiece, MessageRole, Method, Principal
from lockstitch_server.subscribe.drafts import PIECE_BYTES_MAX, LiveDrafts, Reading, Room

WIDE = "\U0001f600"  # four bytes a character


def piece(text: str, offset: int = 0, draft_id: str = "d") -> DraftPiece:
    return DraftPiece(
        request_id_hash=ids.request_id_hash(draft_id),
        draft_id=draft_id,
        role=MessageRole.ASSISTANT,
        run_id="",
        offset=offset,
        text=text.encode(),
    )


def commit(request_id: str, version: int = 2, method: Method = Method.STREAM_DRAFT) -> Commit:
    return Commit(
        version=version,
        request_id_hash=ids.request_id_hash(request_id).bytes,
        principal=Principal(tenant_id="t", subject="e", role=CallerRole.ENGINE),
        method=method,
        traceparent="",
        commit_time=datetime.now(UTC),
        memory_change=None,
        messages=(),
        tool_calls=(),
        session=None,
        run_id="",
        run=None,
        ended_run=None,
        memory_run_id="",
        removed=None,
        erased=False,
        checkpoints=(),
    )


def known(drafts: LiveDrafts) -> dict[str, str]:
    return {draft.draft_id: draft.text.decode() for draft in drafts}


def read(drafts: LiveDrafts, *pieces: DraftPiece) -> bool:
    """Read at once what there is."""
    drafts.begin_read()
    return drafts.end_read(pieces)


@pytest.fixture
def drafts() -> LiveDrafts:
    """One draft is known."""
    made = LiveDrafts(Room())
    assert read(made, piece("abc"))
    return made


def test_a_piece_of_a_draft_that_is_not_known_has_it_read() -> None:
    """It may have been closed already."""
    drafts = LiveDrafts(Room())
    assert not drafts.extend(piece("abc"))
    assert known(drafts) == {}


def test_pieces_follow_on_overlap_is_passed_over_and_a_hole_has_it_read(drafts: LiveDrafts) -> None:
    assert drafts.extend(piece("de", 3))
    assert drafts.extend(piece("cdef", 2))
    assert known(drafts) == {"d": "abcdef"}
    assert not drafts.extend(piece("h", 7))
    assert not drafts.extend(piece("XYZ", 0)), "other text: it was begun anew"
    assert known(drafts) == {"d": "abcdef"}


def test_a_read_that_was_under_way_when_the_commit_came_does_not_bring_a_draft_back(drafts: LiveDrafts) -> None:
    for closing in (commit("d"), commit("server:draft/d", method=Method.LOSE_DRAFT)):
        assert read(drafts, piece("abc"))
        drafts.begin_read()
        drafts.close(closing)
        assert known(drafts) == {}
        assert not drafts.end_read([piece("de", 3)]), "it has to be read again"
        assert known(drafts) == {}
        assert read(drafts)


def test_a_draft_that_was_lost_twice_is_closed_by_the_commit_of_that_version(drafts: LiveDrafts) -> None:
    drafts.close(commit("server:draft/d/7", 8, Method.LOSE_DRAFT))
    drafts.close(commit("server:draft/d/7", 7, Method.APPEND))
    drafts.close(commit("server:draft/another", 7, Method.LOSE_DRAFT))
    assert known(drafts) == {"d": "abc"}
    drafts.close(commit("server:draft/d/7", 7, Method.LOSE_DRAFT))
    assert known(drafts) == {}


def test_a_draft_that_is_not_there_any_more_is_let_go(drafts: LiveDrafts) -> None:
    assert read(drafts, piece("x", 0, "another"))
    assert known(drafts) == {"another": "x"}


def test_a_draft_that_was_begun_anew_is_read_from_its_beginning(drafts: LiveDrafts) -> None:
    assert not read(drafts, piece("gap", 9))
    assert known(drafts) == {}
    assert drafts.begin_read() == {}


def test_what_finds_no_room_is_given_no_further_and_the_room_is_free_again_afterwards() -> None:
    room = Room(10)
    drafts, others = LiveDrafts(room), LiveDrafts(room)
    reading = Reading(frozenset())
    assert read(drafts, piece("12345", 0, "a"), piece("1234", 0, "b"))
    assert drafts.extend(piece("56", 4, "b"))
    assert known(drafts) == {"a": "12345", "b": ""}
    assert (first := reading.next(drafts)) is not None
    assert (first.draft_id, reading.next(drafts)) == ("a", None)
    assert drafts.begin_read()[ids.request_id_hash("b")] > 2**60, "it is not read, either"
    drafts.give_up_read()
    drafts.let_all_go()
    assert read(others, piece("0123456789"))
    assert known(others) == {"d": "0123456789"}


def test_a_stream_is_given_whole_characters_in_pieces_that_follow_on() -> None:
    drafts, text = LiveDrafts(Room()), "x" + WIDE * (PIECE_BYTES_MAX // 2)
    assert read(drafts, piece(text))
    reading, given = Reading(frozenset()), ""
    while (drafted := reading.next(drafts)) is not None:
        assert drafted.offset == len(given.encode())
        assert 0 < len(drafted.text.encode()) <= PIECE_BYTES_MAX
        given += drafted.text
    assert given == text
    # The next life of a draft begins at its beginning.
    drafts.close(commit("d"))
    assert read(drafts, piece("new"))
    assert (again := reading.next(drafts)) is not None
    assert (again.offset, again.text) == (0, "new")


def test_a_stream_is_given_drafts_of_its_roles(drafts: LiveDrafts) -> None:
    assert Reading(frozenset({MessageRole.USER})).next(drafts) is None
    assert read(drafts, piece("abc"), replace(piece("u", 0, "users"), role=MessageRole.USER))
    assert (given := Reading(frozenset({MessageRole.USER})).next(drafts)) is not None
    assert given.draft_id == "users"
