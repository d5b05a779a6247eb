"""What streams and the log promise their readers: the six guarantees, and the same commits everywhere."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from faults.account import Account, Stream
from faults.digests import commit_row, digest_of
from faults.history import Frame
from faults.request_rules import COMES_AGAIN
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.message_pb2 import Message, Part
from lockstitch.v1.subscription_pb2 import SubscribeResponse
from support.guarantees import GUARANTEES, History
from support.journal import Acknowledged, Journal, Said
from support.streams import StreamRecord

ENDS_AND_COMES_AGAIN = COMES_AGAIN | {"SLOW_CONSUMER", "SUBSCRIPTION_LIMIT", "INTERNAL"}
"""A server may end a stream so at any time; of an incident another rule tells."""

UNLIKE = Part(text="another content than the log's")


def frames_are_the_log(account: Account) -> Iterator[str]:
    """A frame holds its commit as the log has it: whole, or with the messages of the roles that were asked for."""
    for stream in account.streams:
        for frame in stream.frames:
            if frame.frame != "commit":
                continue
            logged = account.log.get(frame.version)
            named = f"stream {stream.opened.stream} of {stream.opened.reader}"
            if logged is None:
                yield f"{named} gave version {frame.version}, which the log does not have"
                continue
            expected = _shown(logged, stream)
            if stream.opened.roles and not expected.messages:
                yield f"{named} gave version {frame.version}, which has nothing of the roles that it asked for"
            if frame.request_id_hash != expected.request_id_hash.hex():
                yield f"{named} gave version {frame.version} of another request than the log"
            elif frame.seqs != [message.seq for message in expected.messages]:
                yield f"{named} gave version {frame.version} with seqs {frame.seqs}"
            elif frame.digest != digest_of(expected):
                yield f"{named} gave version {frame.version} with another content than the log"


def streams_go_as_told(account: Account) -> Iterator[str]:
    """A stream says first where the session stands, catches up once, and ends behind `draining` or for what is so."""
    for stream in account.streams:
        opened, named = stream.opened, f"stream {stream.opened.stream} of {stream.opened.reader}"
        if stream.frames and stream.frames[0].version < opened.after_version:
            yield f"{named} began at {stream.frames[0].version}, and was opened behind {opened.after_version}"
        wrong = _wrong_turn([frame.frame for frame in stream.frames])
        if wrong:
            yield f"{named} {wrong}"
        reason, known = stream.ended.reason if stream.ended else "", account.known_before(opened.at)
        is_due = {"SESSION_NOT_FOUND": not known and not stream.frames, "CURSOR_AHEAD": opened.after_version > known}
        if reason and reason not in ENDS_AND_COMES_AGAIN and not is_due.get(reason, False):
            yield f"{named}, behind {opened.after_version} of {known}, ended with {reason}"


def _wrong_turn(kinds: list[str]) -> str:
    """Where a stream's frames follow on one another as they must not."""
    is_live = False
    for place, kind in enumerate(kinds):
        if (place == 0) is not (kind == "opened"):
            return f"gave {kind} as frame {place + 1}"
        if kind in {"caught_up", "fell_behind"}:
            if is_live is (kind == "caught_up"):
                return f"gave {kind} where it was {'live' if is_live else 'behind'} already"
            is_live = not is_live
        if kind == "draining" and place + 1 < len(kinds):
            return "went on behind draining"
    return ""


def listed_commits_are_the_log(account: Account) -> Iterator[str]:
    """ListCommits gives the commits behind a version, one after the other, as they stay."""
    for operation in account.operations:
        seen = operation.told.seen if operation.told else None
        if seen is None or "commits" not in seen:
            continue
        first = operation.request.after_version + 1
        rows = [list(row) for row in seen["commits"]]
        expected = [list(commit_row(commit)) for commit in account.commits[first - 1 :][: len(rows)]]
        known = account.known_before(operation.asked.at)
        if rows != expected:
            yield f"{operation} listed {rows}, not {expected}"
        elif not seen.get("more") and first + len(rows) <= known:
            yield f"{operation} listed up to {first + len(rows) - 1}; {known} was known before it was sent"


def readers_reach_the_end(account: Account) -> Iterator[str]:
    """Each reader got to the version that it was waited for."""
    reached = account.final.reached if account.final else 0
    cursors: dict[str, int] = {}
    for record in _records(account):
        cursors[record.reader] = max(cursors.get(record.reader, 0), record.cursor)
    for reader, cursor in cursors.items():
        if cursor < reached:
            yield f"{reader} got to {cursor} of {reached}"


def _guaranteed(name: str, account: Account) -> Iterator[str]:
    yield from GUARANTEES[name](_history(account))


STREAM_GUARANTEES: dict[str, Callable[[Account], Iterator[str]]] = {
    f"streams_are_{name}": partial(_guaranteed, name) for name in GUARANTEES
}
"""The six guarantees as the tests of streams check them."""


def _shown(commit: Commit, stream: Stream) -> Commit:
    if not stream.opened.roles:
        return commit
    shown = Commit()
    shown.CopyFrom(commit)
    del shown.messages[:]
    shown.messages.extend(message for message in commit.messages if message.role in stream.opened.roles)
    return shown


@lru_cache(maxsize=1)
def _history(account: Account) -> History:
    """A session's streams against its log, whose commits its clients' requests were found to have made."""
    said = {commit.version: _said(commit) for commit in account.commits}
    acknowledged = {
        commit.version: Acknowledged(commit.version, commit.messages[0].seq, said[commit.version])
        for commit in account.commits
        if commit.messages
    }
    return History(Journal(begun=set(said.values()), acknowledged=acknowledged), _records(account))


@lru_cache(maxsize=1)
def _records(account: Account) -> list[StreamRecord]:
    """Each reader's streams together, in the order in which it opened them."""
    streams = sorted(account.streams, key=lambda stream: (stream.opened.reader, stream.opened.at))
    return [
        StreamRecord(
            reader=stream.opened.reader,
            after_version=stream.opened.after_version,
            roles=frozenset(stream.opened.roles),
            frames=[_frame(account, stream, frame) for frame in stream.frames],
        )
        for stream in streams
    ]


def _frame(account: Account, stream: Stream, frame: Frame) -> SubscribeResponse:
    """A frame as it came: the log's commit where it was that, else what is known of it."""
    if frame.frame == "commit":
        logged = account.log.get(frame.version)
        if logged is not None and digest_of(shown := _shown(logged, stream)) == frame.digest:
            return SubscribeResponse(commit=shown)
        other = Commit(version=frame.version, messages=[Message(seq=seq, parts=[UNLIKE]) for seq in frame.seqs])
        return SubscribeResponse(commit=other)
    made = SubscribeResponse()
    getattr(made, frame.frame).SetInParent()
    if frame.frame != "draft":
        getattr(made, frame.frame).version = frame.version
    return made


def _said(commit: Commit) -> tuple[Said, ...]:
    return tuple(Said(message.role, message.parts[0].text) for message in commit.messages)
