"""What clients saw, line by line: the records of a history, and the JSON lines they are kept as.

All times are nanoseconds of one monotonic clock, the recording process's. Digests are 8 bytes of SHA-256 in hex.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Literal, NotRequired, Self, TypeAlias, TypedDict

Outcome: TypeAlias = Literal["ok", "refused", "unknown"]
"""Unknown is what the caller can't tell: it may have been done, be done later, or never."""

Row: TypeAlias = Sequence[Any]
Held: TypeAlias = Sequence[Any]
"""A run's id, and its fencing token."""


class Receipt(TypedDict):
    """A CommitReceipt, its time in nanoseconds."""

    version: int
    first_seq: int
    last_seq: int
    message_ids: list[str]
    tool_call_ids: list[str]
    memory_version: int
    commit_time: int
    store_epoch: str
    replayed: bool


class Seen(TypedDict):
    """What a read gave; only what its answer has."""

    version: NotRequired[int]
    last_seq: NotRequired[int]
    memory_version: NotRequired[int]
    session: NotRequired[str]
    """A digest, as are those behind the ids below."""
    memory: NotRequired[str]
    messages: NotRequired[list[Row]]
    """seq, message_id, digest."""
    open_tool_calls: NotRequired[list[Row]]
    """tool_call_id, status, digest."""
    recent_tool_calls: NotRequired[list[Row]]
    tool_calls: NotRequired[list[Row]]
    runs: NotRequired[list[Row]]
    """run_id, status, fencing_token, digest."""
    commits: NotRequired[list[Row]]
    """version, digest."""
    more: NotRequired[bool]
    """Whether there was more than this page holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """The first line: what was to be recorded, and how it can be had again."""

    kind: ClassVar = "began"
    at: int
    seed: int
    of: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """Who all clients are to the servers: what their token says."""

    kind: ClassVar = "acting"
    at: int
    tenant: str
    subject: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoked:
    """A call that is about to be sent."""

    kind: ClassVar = "invoked"
    at: int
    op: int
    client: str
    server: str
    method: str
    session: str
    request: str
    """The request's bytes, in base64."""
    request_id: str = ""
    content: str = ""
    """A digest of what a retry must have in common with it."""
    expected_version: int | None = None
    expected_memory_version: int | None = None
    at_version: int | None = None
    """The earlier version that a read asks for."""
    fence: Held | None = None
    deadline: float | None = None
    """In seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """How a call ended; one without is unknown."""

    kind: ClassVar = "returned"
    at: int
    op: int
    outcome: Outcome
    receipt: Receipt | None = None
    answer: str = ""
    """A digest of the answer without `replayed`."""
    seen: Seen | None = None
    grant: Held | None = None
    """The run that a StartRun or RenewRun was answered with, and its fencing token."""
    lease: int | None = None
    """When that run's lease ends, by the database's clock."""
    code: str = ""
    reason: str = ""
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A stream that is about to be opened."""

    kind: ClassVar = "opened"
    at: int
    stream: int
    reader: str
    server: str
    session: str
    after_version: int
    roles: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame of a stream."""

    kind: ClassVar = "frame"
    at: int
    stream: int
    frame: str
    version: int
    """The commit's or the bookmark's."""
    seqs: list[int] = field(default_factory=list)
    request_id_hash: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A stream's end; without code where its reader left."""

    kind: ClassVar = "ended"
    at: int
    stream: int
    code: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A commit of a session's log, read when all was over."""

    kind: ClassVar = "logged"
    at: int
    session: str
    commit: str
    """The Commit's bytes, in base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The end of a session's log: all commits were given, and the reading was invoked then."""

    kind: ClassVar = "final"
    at: int
    session: str
    version: int
    invoked_at: int
    reached: int = 0
    """The version that all readers were waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something was broken, or made whole again."""

    kind: ClassVar = "fault"
    at: int
    name: str
    phase: Literal["begins", "ends"]
    details: dict[str, Any] = field(default_factory=dict)


Record: TypeAlias = Began | Acting | Invoked | Returned | Opened | Frame | Ended | Logged | Final | Fault
KINDS: dict[str, type[Record]] = {
    kind.kind: kind for kind in (Began, Acting, Invoked, Returned, Opened, Frame, Ended, Logged, Final, Fault)
}
_FIELDS = {kind: tuple(told.name for told in fields(kind)) for kind in KINDS.values()}


class HistoryFile:
    """Writes records, each at once: what was recorded outlives the recording process, whatever ends it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o644)

    def write(self, record: Record) -> None:
        os.write(self._descriptor, line_of(record).encode())

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def line_of(record: Record) -> str:
    """A record as a line, without what is empty."""
    told: dict[str, Any] = {"is": record.kind}
    for name in _FIELDS[type(record)]:
        value = getattr(record, name)
        if value is not None and value not in ("", [], {}):
            told[name] = value
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"


def record_of(line: str) -> Record:
    told = json.loads(line)
    return KINDS[told.pop("is")](**told)


def records_in(path: Path) -> Iterator[Record]:
    """Read a history; a last line that a crash cut off was never told of."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield record_of(line)
