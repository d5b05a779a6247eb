"""What the server talks about: frozen data, no I/O.

Numbers of enums are the proto's and the database's.
"""

from lockstitch_server.model.checkpoints import (
    Checkpoint,
    CheckpointPlace,
    CheckpointRef,
    CheckpointValue,
    CheckpointWrite,
    NewCheckpoint,
)
from lockstitch_server.model.commits import Commit, Content
from lockstitch_server.model.drafts import Draft, DraftPiece, DraftStep, DraftText, NewDraft, is_within_character
from lockstitch_server.model.identity import (
    CallerRole,
    Change,
    Durability,
    Fence,
    Method,
    Principal,
    Receipt,
    SessionKey,
    SessionRef,
    StoreIdentity,
)
from lockstitch_server.model.memory import Memory, MemoryPatch, MemoryScope, MemoryWrite
from lockstitch_server.model.messages import Message, MessageRole, MessageUpdate, NewMessage, Removal
from lockstitch_server.model.runs import NewRun, OnBusy, Run, RunEnd, RunStatus
from lockstitch_server.model.sessions import (
    Expiration,
    ForkedFrom,
    NewFork,
    NewSession,
    Session,
    SessionAction,
    SessionStatus,
    SessionUpdate,
)
from lockstitch_server.model.tool_calls import LedgerChange, LedgerOp, ToolCall, ToolCallStatus

__all__ = [
    "CallerRole",
    "Change",
    "Checkpoint",
    "CheckpointPlace",
    "CheckpointRef",
    "CheckpointValue",
    "CheckpointWrite",
    "Commit",
    "Content",
    "Draft",
    "DraftPiece",
    "DraftStep",
    "DraftText",
    "Durability",
    "Expiration",
    "Fence",
    "ForkedFrom",
    "LedgerChange",
    "LedgerOp",
    "Memory",
    "MemoryPatch",
    "MemoryScope",
    "MemoryWrite",
    "Message",
    "MessageRole",
    "MessageUpdate",
    "Method",
    "NewCheckpoint",
    "NewDraft",
    "NewFork",
    "NewMessage",
    "NewRun",
    "NewSession",
    "OnBusy",
    "Principal",
    "Receipt",
    "Removal",
    "Run",
    "RunEnd",
    "RunStatus",
    "Session",
    "SessionAction",
    "SessionKey",
    "SessionRef",
    "SessionStatus",
    "SessionUpdate",
    "StoreIdentity",
    "ToolCall",
    "ToolCallStatus",
    "is_within_character",
]
