"""A history put in order: a session's calls by the request they repeat, its streams, and its log when all was over."""

from base64 import b64decode
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from faults.history import Acting, Began, Ended, Fault, Final, Frame, Invoked, Logged, Opened, Record, Returned
from lockstitch.v1.commit_pb2 import CALLER_ROLE_SYSTEM, Commit
from lockstitch.v1.message_pb2 import ROLE_TOOL, Message
from model import Caller
from support.rpc import request_of

HASH_BYTES = 16
NEVER = 1 << 62


@dataclass(slots=True)
class Operation:
    """One call: what was asked for, and how it ended. A call that never ended is of unknown outcome."""

    asked: Invoked
    told: Returned | None = None

    @property
    def is_ok(self) -> bool:
        return self.told is not None and self.told.outcome == "ok"

    @property
    def is_refused(self) -> bool:
        return self.told is not None and self.told.outcome == "refused"

    @property
    def is_unknown(self) -> bool:
        return not self.is_ok and not self.is_refused

    @property
    def ended_at(self) -> int:
        return self.told.at if self.told else NEVER

    @property
    def request(self) -> Any:
        return request_of(self.asked.method).FromString(b64decode(self.asked.request))

    def __str__(self) -> str:
        return f"op {self.asked.op} ({self.asked.method} {self.asked.request_id} on {self.asked.server})"


@dataclass(slots=True)
class Stream:
    """One stream: its frames as they came, and its end."""

    opened: Opened
    frames: list[Frame] = field(default_factory=list)
    ended: Ended | None = None


@dataclass
class Request:
    """All attempts at one change: the calls that have its request_id and its content."""

    request_id: str
    attempts: list[Operation] = field(default_factory=list)

    @property
    def invoked_at(self) -> int:
        return min(attempt.asked.at for attempt in self.attempts)

    @property
    def may_have_been_done(self) -> bool:
        return any(not attempt.is_refused for attempt in self.attempts)

    def is_shown_by(self, commit: Commit) -> bool:
        """Whether a commit says what this request was to say; what says nothing itself makes TOOL messages alone."""
        request = self.attempts[0].request
        listed = next((name for name in ("messages", "replacement") if name in request.DESCRIPTOR.fields_by_name), None)
        asked = _said(getattr(request, listed)) if listed else []
        made = [said for said in _said(commit.messages) if listed or said[0] != ROLE_TOOL]
        return asked == made


@dataclass(eq=False)
class Account:
    """All that is known of one session."""

    session: str
    caller: Caller
    operations: list[Operation] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    final: Final | None = None

    @cached_property
    def log(self) -> dict[int, Commit]:
        return {commit.version: commit for commit in self.commits}

    @cached_property
    def version_of_hash(self) -> dict[str, int]:
        """The first version that the log has for a request."""
        found: dict[str, int] = {}
        for commit in self.commits:
            found.setdefault(commit.request_id_hash.hex(), commit.version)
        return found

    @cached_property
    def changes(self) -> list[Operation]:
        """The calls that have a request_id."""
        return [operation for operation in self.operations if operation.asked.request_id]

    @cached_property
    def requests(self) -> dict[str, list[Request]]:
        """By request_id; more than one where an id was used for different contents."""
        found: dict[str, dict[tuple[str, str], Request]] = defaultdict(dict)
        for operation in self.changes:
            asked = operation.asked
            kind = asked.method, asked.content
            found[asked.request_id].setdefault(kind, Request(asked.request_id)).attempts.append(operation)
        return {request_id: list(requests.values()) for request_id, requests in found.items()}

    @cached_property
    def by_hash(self) -> dict[str, str]:
        """The request_ids by what commits show of them."""
        return {hash_of(request_id): request_id for request_id in self.requests}

    def made_by(self, commit: Commit) -> Request | None:
        """The request that a commit traces to: of those with its id the one that was answered, else that may be it.

        An answer that tells only how things stand used up no id: the commit is another content's, if there is one. Of
        several contents whose outcome nobody was told, it is the one that the commit shows.
        """
        requests = self.requests.get(self.by_hash.get(commit.request_id_hash.hex(), ""), [])
        answered = [request for request in requests if any(self.has_commit(attempt) for attempt in request.attempts)]
        unknown = [request for request in requests if any(attempt.is_unknown for attempt in request.attempts)]
        possible = answered or unknown or [request for request in requests if request.may_have_been_done]
        if len(possible) > 1:
            possible = [request for request in possible if request.is_shown_by(commit)] or possible
        return min(possible, key=lambda request: request.invoked_at, default=None)

    @cached_property
    def makers(self) -> dict[int, Request]:
        """What made each version, where a client did."""
        found = {commit.version: self.made_by(commit) for commit in self.commits}
        return {version: request for version, request in found.items() if request is not None}

    def version_made_by(self, operation: Operation) -> int | None:
        """The version of the commit that the log has for a call's request_id."""
        return self.version_of_hash.get(hash_of(operation.asked.request_id))

    def has_commit(self, operation: Operation) -> bool:
        """Whether a call was answered with a commit of the log, not only with how things stand."""
        told = operation.told
        if told is None or told.receipt is None:
            return False
        return self.version_made_by(operation) == told.receipt["version"]

    @cached_property
    def begun_at(self) -> list[int]:
        """By version: the earliest time at which it can have been there, since all before it had to be asked for."""
        times, latest = [0], 0
        for version in range(1, len(self.commits) + 1):
            maker = self.makers.get(version)
            latest = max(latest, maker.invoked_at if maker else 0)
            times.append(latest)
        return times

    def newest_before(self, at: int) -> int:
        """The greatest version that can have been there before a time."""
        return bisect_left(self.begun_at, at) - 1

    @cached_property
    def sightings(self) -> list[tuple[int, int, str]]:
        """When a version was known to be there, by which answer or frame: in the order of time."""
        found = [
            (operation.ended_at, version, str(operation))
            for operation in self.operations
            if (version := version_told(operation)) is not None
        ]
        for stream in self.streams:
            named = f"stream {stream.opened.stream} of {stream.opened.reader}"
            found += [(frame.at, frame.version, f"{named}: {frame.frame}") for frame in stream.frames]
        return sorted(found)

    @cached_property
    def _known_by(self) -> tuple[list[int], list[int]]:
        times, versions, highest = [], [], 0
        for at, version, _ in self.sightings:
            highest = max(highest, version)
            times.append(at)
            versions.append(highest)
        return times, versions

    def known_before(self, at: int) -> int:
        """The greatest version that somebody had been told of before a time."""
        times, versions = self._known_by
        place = bisect_left(times, at)
        return versions[place - 1] if place else 0


@dataclass
class Whole:
    """A whole history."""

    began: Began = field(default_factory=lambda: Began(at=0, seed=0))
    caller: Caller = field(default_factory=lambda: Caller("", "", ""))
    accounts: list[Account] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def version_told(operation: Operation) -> int | None:
    """The version that an answer shows the session to have had by then."""
    told = operation.told
    if told is None:
        return None
    if told.receipt is not None:
        return told.receipt["version"]
    if told.seen is not None and "version" in told.seen:
        return told.seen["version"]
    if told.seen is not None and told.seen.get("commits"):
        return int(told.seen["commits"][-1][0])
    current = told.details.get("current_version")
    return None if current is None else int(current)


def _said(messages: Iterable[Message]) -> list[tuple[int, str]]:
    return [(int(message.role), "".join(part.text for part in message.parts)) for message in messages]


def hash_of(request_id: str) -> str:
    """What a commit shows of its request_id."""
    return sha256(request_id.encode()).digest()[:HASH_BYTES].hex()


def is_of_server(commit: Commit) -> bool:
    return commit.principal.role == CALLER_ROLE_SYSTEM


def account_of(records: Iterable[Record]) -> Whole:
    """Put records in order."""
    whole = Whole()
    operations, streams = dict[int, Operation](), dict[int, Stream]()
    commits, finals = defaultdict[str, list[Commit]](list), dict[str, Final]()
    for record in records:
        match record:
            case Began():
                whole.began = record
            case Acting():
                whole.caller = Caller(record.tenant, record.subject, record.role)
            case Fault():
                whole.faults.append(record)
            case Invoked() | Returned():
                _add_to_operations(operations, record)
            case Opened() | Frame() | Ended():
                _add_to_streams(streams, record)
            case Logged():
                commits[record.session].append(Commit.FromString(b64decode(record.commit)))
            case Final():
                finals[record.session] = record
    accounts = _by_session(whole.caller, operations.values(), streams.values())
    for session, account in accounts.items():
        account.commits, account.final = commits.get(session, []), finals.get(session)
    whole.accounts = list(accounts.values())
    return whole


def _add_to_operations(operations: dict[int, Operation], record: Invoked | Returned) -> None:
    if isinstance(record, Invoked):
        operations[record.op] = Operation(record)
    else:
        operations[record.op].told = record


def _add_to_streams(streams: dict[int, Stream], record: Opened | Frame | Ended) -> None:
    match record:
        case Opened():
            streams[record.stream] = Stream(record)
        case Frame():
            streams[record.stream].frames.append(record)
        case Ended():
            streams[record.stream].ended = record


def _by_session(caller: Caller, operations: Iterable[Operation], streams: Iterable[Stream]) -> dict[str, Account]:
    found: dict[str, Account] = {}
    for session, add in _parts(operations, streams):
        account = found.setdefault(session, Account(session, caller))
        if isinstance(add, Operation):
            account.operations.append(add)
        else:
            account.streams.append(add)
    return found


def _parts(operations: Iterable[Operation], streams: Iterable[Stream]) -> Iterator[tuple[str, Operation | Stream]]:
    for operation in operations:
        yield operation.asked.session, operation
    for stream in streams:
        yield stream.opened.session, stream
