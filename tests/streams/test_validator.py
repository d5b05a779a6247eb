"""The validator itself: it finds a broken history of each kind, and nothing in a sound one."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from factories import ASSISTANT, USER
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.message_pb2 import Message, Part
from lockstitch.v1.subscription_pb2 import CaughtUp, Heartbeat, SubscribeResponse, SubscriptionOpened
from support.guarantees import GUARANTEES, History, broken_guarantees
from support.journal import Journal, Role, Said
from support.streams import StreamRecord

WRITTEN = {
    2: (1, (Said(USER, "two"),)),
    3: (2, (Said(USER, "three"), Said(ASSISTANT, "three too"))),
    4: (4, (Said(ASSISTANT, "four"),)),
    5: (5, (Said(USER, "five"),)),
}


def journal() -> Journal:
    made = Journal()
    for version, (first_seq, messages) in WRITTEN.items():
        made.begin(messages)
        made.acknowledge(version, first_seq, messages)
    return made


def commit(version: int, *roles: Role) -> SubscribeResponse:
    first_seq, messages = WRITTEN.get(version, (0, ()))
    return SubscribeResponse(
        commit=Commit(
            version=version,
            messages=[
                Message(seq=first_seq + place, role=message.role, parts=[Part(text=message.text)])
                for place, message in enumerate(messages)
                if not roles or message.role in roles
            ],
        )
    )


def opened(version: int) -> SubscribeResponse:
    return SubscribeResponse(opened=SubscriptionOpened(version=version))


def caught_up(version: int) -> SubscribeResponse:
    return SubscribeResponse(caught_up=CaughtUp(version=version))


def heartbeat(version: int) -> SubscribeResponse:
    return SubscribeResponse(heartbeat=Heartbeat(version=version))


def sound() -> History:
    """A reader that resumed once, and one that wants a role."""
    first = [opened(3), commit(1), commit(2), commit(3), caught_up(3), commit(4), heartbeat(4)]
    second = [opened(5), commit(5), caught_up(5)]
    roles = frozenset({ASSISTANT})
    filtered = [opened(5), commit(3, ASSISTANT), commit(4, ASSISTANT), caught_up(5)]
    return History(
        journal(),
        [
            StreamRecord("all", 0, frames=first),
            StreamRecord("all", 4, frames=second),
            StreamRecord("assistant's", 0, roles, filtered),
        ],
        frozenset({"all", "assistant's"}),
    )


def test_a_sound_history_is_sound() -> None:
    assert broken_guarantees(sound()) == {}


def _swapped(history: History) -> None:
    frames = history.streams[0].frames
    frames[2], frames[3] = frames[3], frames[2]


def _given_twice(history: History) -> None:
    history.streams[0].frames.insert(3, commit(2))


def _hole(history: History) -> None:
    del history.streams[0].frames[3]


def _hole_that_no_writer_knows(history: History) -> None:
    del history.journal.acknowledged[3]
    del history.streams[0].frames[3]


def _hole_behind_a_bookmark(history: History) -> None:
    history.streams[0].frames = [opened(5), commit(1), heartbeat(4)]


def _filtered_hole(history: History) -> None:
    del history.streams[2].frames[2]


def _invented(history: History) -> None:
    del history.journal.acknowledged[4]
    history.journal.begun.remove(WRITTEN[4][1])


def _incomplete(history: History) -> None:
    del history.streams[1].frames[1:]


def _split(history: History) -> None:
    del history.streams[0].frames[3].commit.messages[1]


def _mixed(history: History) -> None:
    history.streams[0].frames[2].commit.messages[0].parts[0].text = "five"


def _other_seqs(history: History) -> None:
    history.streams[0].frames[2].commit.messages[0].seq = 9


def _unfiltered(history: History) -> None:
    history.streams[2].frames[1] = commit(3)


def _replayed_from_the_start(history: History) -> None:
    history.streams[1].frames[1:1] = [commit(1), commit(2), commit(3), commit(4)]


def _given_again_after_resuming(history: History) -> None:
    history.streams[1].frames.insert(1, commit(4))


def _begins_too_late(history: History) -> None:
    history.streams[1].after_version = 3


def _differs_between_streams(history: History) -> None:
    history.streams.append(StreamRecord("other", 4, frames=[opened(5), commit(5), caught_up(5)]))
    history.streams[-1].frames[1].commit.principal.subject = "somebody else"


def _bookmark_ahead_of_its_commit(history: History) -> None:
    history.streams[0].frames.insert(5, heartbeat(4))


def _bookmark_that_falls(history: History) -> None:
    history.streams[0].frames.append(heartbeat(2))


def _caught_up_too_early(history: History) -> None:
    history.streams[1].frames = [opened(5), caught_up(4), commit(5)]


@pytest.mark.parametrize(
    ("guarantee", "breaks"),
    [
        ("ordered", _swapped),
        ("unique", _given_twice),
        ("reliable", _hole),
        ("reliable", _hole_that_no_writer_knows),
        ("reliable", _hole_behind_a_bookmark),
        ("reliable", _filtered_hole),
        ("reliable", _invented),
        ("reliable", _incomplete),
        ("atomic", _split),
        ("atomic", _mixed),
        ("atomic", _other_seqs),
        ("atomic", _unfiltered),
        ("resumable", _replayed_from_the_start),
        ("resumable", _given_again_after_resuming),
        ("resumable", _begins_too_late),
        ("resumable", _differs_between_streams),
        ("bookmarkable", _bookmark_ahead_of_its_commit),
        ("bookmarkable", _bookmark_that_falls),
        ("bookmarkable", _caught_up_too_early),
    ],
)
def test_a_broken_history_is_found_by_the_guarantee_that_it_breaks(
    guarantee: str, breaks: Callable[[History], None]
) -> None:
    history = deepcopy(sound())
    breaks(history)
    assert guarantee in broken_guarantees(history)


def test_each_guarantee_has_a_check() -> None:
    assert list(GUARANTEES) == ["ordered", "unique", "reliable", "atomic", "resumable", "bookmarkable"]
