"""What one commit stores, and what the log says of it."""

from dataclasses import dataclass
from datetime import datetime

from lockstitch_server.model.checkpoints import CheckpointRef
from lockstitch_server.model.identity import Method, Principal
from lockstitch_server.model.memory import MemoryPatch, MemoryWrite
from lockstitch_server.model.messages import Message, NewMessage
from lockstitch_server.model.runs import Run, RunEnd
from lockstitch_server.model.sessions import Session
from lockstitch_server.model.tool_calls import LedgerChange, ToolCall


@dataclass(frozen=True, slots=True)
class Content:
    """The content of one commit."""

    messages: tuple[NewMessage, ...] = ()
    ledger: tuple[LedgerChange, ...] = ()
    memory: MemoryWrite | MemoryPatch | None = None
    allow_orphans: bool = False
    run_end: RunEnd | None = None
    """How the run of the change's fence ends with it."""
    erase: bool = False
    """Whether every historic copy of what this replaces is deleted."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the log, with what it carried."""

    version: int
    request_id_hash: bytes
    principal: Principal
    method: Method
    traceparent: str
    commit_time: datetime
    memory_change: bytes | None
    messages: tuple[Message, ...]
    tool_calls: tuple[ToolCall, ...]
    session: Session | None
    run_id: str
    run: Run | None
    """The run that it started, ended or asked to end."""
    ended_run: Run | None
    """The run that it ended for the one that it started."""
    memory_run_id: str
    """The run whose own memory it changed; empty for the session's."""
    checkpoints: tuple[CheckpointRef, ...]
    """Those that it put, copied or deleted; of very many the first."""
    removed: tuple[int, int] | None
    """The first and last seq of the messages that it removed."""
    erased: bool
