"""What the store reports: answers of single statements, before anybody decided what they mean."""

from dataclasses import dataclass
from datetime import datetime

from lockstitch_server.model import Commit, Memory, Message, Run, Session, ToolCall, ToolCallStatus
from lockstitch_server.store.stored_messages import StoredMessages


@dataclass(slots=True)
class ChangeReport:
    """What became of a change. `outcome` is the word that the SQL function gave.

    Not frozen: every change makes one, and to set twenty frozen fields takes three times as long.
    """

    outcome: str
    index: int = 0
    """Of the ledger step or message at fault, from 1."""
    version: int = 0
    last_seq: int = 0
    memory_version: int = 0
    new_messages: int = 0
    new_tool_calls: int = 0
    commit_time: datetime | None = None
    tool_call_status: ToolCallStatus | None = None
    message_ids: tuple[str | None, ...] | None = None
    """Callers' own ids of a replayed commit's messages."""
    session: Session | None = None
    memory: Memory | None = None
    tool_call: ToolCall | None = None
    messages: tuple[Message, ...] = ()
    """The messages that the change removed, or the one that it changed."""
    removed_count: int = 0
    run: Run | None = None
    """The run that the change is about, as of its version."""
    active_run_id: str = ""
    """The run that is in the way."""
    lease_expire_time: datetime | None = None
    count: int = 0
    """How many checkpoints the change is about."""
    nearest: tuple[int, int] = (0, 0)
    """The nearest versions below and above that can be forked."""


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """Where a stored tool result belongs: behind which message, for which of its parts."""

    message_seq: int
    part_index: int


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session and, from the same snapshot, what was asked for beside it."""

    session: Session
    messages: StoredMessages
    memory: Memory
    tool_calls: tuple[ToolCall, ...]
    last_run: Run | None
    result_places: dict[int, ResultPlace]
    """By the seq of the result's message; calls whose message lies within `messages` only."""


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Messages of one page; `scanned` were looked at, up to `last_scanned`, and `matched` before the cut by size."""

    as_of_version: int
    messages: StoredMessages
    scanned: int
    last_scanned: int
    matched: int


@dataclass(frozen=True, slots=True)
class SessionCursor:
    """A session's place in list order."""

    activity_minute: int
    last_activity_time: datetime
    session_id: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions of one page, each with its activity_minute; `fetched` counts those before the cut by size.

    `stopped_at` is the session that the search stopped at before it came to the end of the list.
    """

    sessions: tuple[tuple[Session, int], ...]
    fetched: int
    stopped_at: SessionCursor | None


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Working memory at some versions, newest first, and whether there are older ones."""

    memories: tuple[Memory, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class CommitPage:
    """Commits of one page; `fetched` counts those before the cut by size."""

    as_of_version: int
    commits: tuple[Commit, ...]
    fetched: int
