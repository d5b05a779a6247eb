"""The six guarantees of a stream, each checked by its name against what the writers recorded."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from lockstitch.v1.commit_pb2 import Commit
from support.journal import Journal, Said
from support.streams import Reader, StreamRecord, bookmark_of, kind_of, version_of


@dataclass
class History:
    """What one session's writers and readers saw."""

    journal: Journal
    streams: list[StreamRecord]
    """Each reader's streams stand together, in the order in which it opened them."""
    complete: frozenset[str] = field(default_factory=frozenset)
    """The readers that waited for the last acknowledged version."""


def broken_guarantees(history: History) -> dict[str, list[str]]:
    """What is wrong, by guarantee; empty where all hold."""
    found = {name: list(check(history)) for name, check in GUARANTEES.items()}
    return {name: wrong for name, wrong in found.items() if wrong}


def check_guarantees(journal: Journal, readers: Sequence[Reader]) -> None:
    """Fail unless every guarantee holds for these readers, all of which read to the end."""
    history = History(
        journal, [stream for reader in readers for stream in reader.streams], frozenset(r.name for r in readers)
    )
    assert len({reader.name for reader in readers}) == len(readers), "readers need names of their own"
    assert broken_guarantees(history) == {}


def ordered(history: History) -> Iterator[str]:
    """Commits come by version."""
    for stream in history.streams:
        for before, after in pairwise(stream.versions):
            if after < before:
                yield f"{stream.reader}: {after} after {before}"


def unique(history: History) -> Iterator[str]:
    """No commit comes twice on a stream."""
    for stream in history.streams:
        for version, times in Counter(stream.versions).items():
            if times > 1:
                yield f"{stream.reader}: {version} came {times} times"


def reliable(history: History) -> Iterator[str]:
    """Nothing that a writer was told of is left out, and nothing is given that nobody wrote."""
    journal = history.journal
    for stream in history.streams:
        given = set(stream.versions)
        reached = max((version_of(frame) or 0 for frame in stream.frames), default=0)
        for version in range(stream.after_version + 1, reached + 1):
            known = journal.acknowledged.get(version)
            if known is not None and not _shown(known.messages, stream):
                continue
            # Where it is not filtered no version may be missing, not even one whose writer never heard of it.
            if version not in given and (known is not None or not stream.roles):
                yield f"{stream.reader}: {version} was left out on the way to {reached}"
        begun = {_shown(messages, stream) for messages in journal.begun}
        for commit in stream.commits:
            if commit.version > 1 and _said(commit) not in begun:
                yield f"{stream.reader}: nobody wrote {commit.version}"
    for name, streams in _by_reader(history):
        reached = max((stream.cursor for stream in streams), default=0)
        if name in history.complete and reached < journal.last_version:
            yield f"{name}: stopped at {reached} of {journal.last_version}"


def atomic(history: History) -> Iterator[str]:
    """A commit comes whole, as it was written."""
    for stream in history.streams:
        for commit in stream.commits:
            known = history.journal.acknowledged.get(commit.version)
            if known is None:
                continue
            if _said(commit) != _shown(known.messages, stream):
                yield f"{stream.reader}: {commit.version} is not what was written"
            seqs = [
                known.first_seq + place
                for place, message in enumerate(known.messages)
                if not stream.roles or message.role in stream.roles
            ]
            if [message.seq for message in commit.messages] != seqs:
                yield f"{stream.reader}: {commit.version} has other seqs than its writer was told"


def resumable(history: History) -> Iterator[str]:
    """A stream begins right behind its cursor, and resuming gives each commit once, the same on every stream."""
    contents: dict[tuple[int, frozenset[int]], bytes] = {}
    for name, streams in _by_reader(history):
        joined: set[int] = set()
        for stream in streams:
            for version in stream.versions[:1]:
                if version <= stream.after_version or (not stream.roles and version != stream.after_version + 1):
                    yield f"{name}: {version} came first behind {stream.after_version}"
            for commit in stream.commits:
                content = commit.SerializeToString(deterministic=True)
                if contents.setdefault((commit.version, stream.roles), content) != content:
                    yield f"{name}: {commit.version} is another one than on an earlier stream"
            again = joined & set(stream.versions)
            if again:
                yield f"{name}: {sorted(again)} came again after resuming behind {stream.after_version}"
            joined |= set(stream.versions)
        for before, after in pairwise(streams):
            if after.after_version != before.cursor:
                yield f"{name}: resumed behind {after.after_version}, had {before.cursor}"


def bookmarkable(history: History) -> Iterator[str]:
    """After a bookmark nothing up to its version follows, and no earlier bookmark."""
    for stream in history.streams:
        # How far bookmarks said that they are, and how far commits went.
        reached, given, opened = stream.after_version, 0, 0
        for frame in stream.frames:
            bookmark = bookmark_of(frame)
            if kind_of(frame) == "opened":
                opened = frame.opened.version
            elif kind_of(frame) == "draft":
                continue  # drafts stand outside
            elif bookmark is None:
                if frame.commit.version <= reached:
                    yield f"{stream.reader}: commit {frame.commit.version} after a bookmark at {reached}"
                given = max(given, frame.commit.version)
            else:
                if bookmark < max(reached, given):
                    yield f"{stream.reader}: {kind_of(frame)} at {bookmark} behind {max(reached, given)}"
                if kind_of(frame) == "caught_up" and bookmark < opened:
                    yield f"{stream.reader}: caught up at {bookmark}, but {opened} was there when it opened"
                reached = bookmark


GUARANTEES: dict[str, Callable[[History], Iterator[str]]] = {
    check.__name__: check for check in (ordered, unique, reliable, atomic, resumable, bookmarkable)
}


def _by_reader(history: History) -> Iterator[tuple[str, list[StreamRecord]]]:
    for name, streams in groupby(history.streams, lambda stream: stream.reader):
        yield name, list(streams)


def _shown(messages: tuple[Said, ...], stream: StreamRecord) -> tuple[Said, ...]:
    """What a stream may show of a write: all, or the messages of its roles."""
    return tuple(message for message in messages if not stream.roles or message.role in stream.roles)


def _said(commit: Commit) -> tuple[Said, ...]:
    return tuple(Said(message.role, message.parts[0].text) for message in commit.messages)
