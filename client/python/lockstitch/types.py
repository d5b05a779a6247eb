"""The wire's own messages and enums, under one name: what calls give back, and what they take beside the makers.

Every field is described in its type stub and in ``protos/lockstitch/v1``.
"""

from lockstitch.v1.admin_service_pb2 import Durability, GetServerInfoResponse, Limits
from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointRef, CheckpointValue, CheckpointWrite
from lockstitch.v1.checkpoint_service_pb2 import CopyCheckpointsResponse, DeleteCheckpointsResponse
from lockstitch.v1.commit_pb2 import CallerRole, Commit, CommitReceipt, Principal, SeqRange
from lockstitch.v1.error_reason_pb2 import ErrorReason
from lockstitch.v1.message_pb2 import (
    Blob,
    Message,
    Original,
    Part,
    Role,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from lockstitch.v1.run_pb2 import Fence, Run, RunEnd, RunStatus
from lockstitch.v1.run_service_pb2 import CancelRunResponse, FinishRunResponse
from lockstitch.v1.session_pb2 import Session, SessionStatus
from lockstitch.v1.session_service_pb2 import (
    CloseSessionResponse,
    CompleteToolCallResponse,
    CreateIfMissing,
    DeleteSessionResponse,
    GetContextResponse,
    GetSessionResponse,
    RemoveMessagesResponse,
    RestoreSessionResponse,
    UndeleteSessionResponse,
    UpdateMemoryResponse,
    UpdateMessageResponse,
    UpdateSessionResponse,
    UpdateToolCallResponse,
)
from lockstitch.v1.subscription_pb2 import Draft, SubscribeResponse
from lockstitch.v1.tool_call_pb2 import Approval, Resource, ToolCall, ToolCallChange, ToolCallStatus
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemoryKeys, MemorySet, WorkingMemory

__all__ = [
    "Approval",
    "Blob",
    "CallerRole",
    "CancelRunResponse",
    "Checkpoint",
    "CheckpointRef",
    "CheckpointValue",
    "CheckpointWrite",
    "CloseSessionResponse",
    "Commit",
    "CommitReceipt",
    "CompleteToolCallResponse",
    "CopyCheckpointsResponse",
    "CreateIfMissing",
    "DeleteCheckpointsResponse",
    "DeleteSessionResponse",
    "Draft",
    "Durability",
    "ErrorReason",
    "Fence",
    "FinishRunResponse",
    "GetContextResponse",
    "GetServerInfoResponse",
    "GetSessionResponse",
    "Limits",
    "MemoryChange",
    "MemoryKeys",
    "MemorySet",
    "Message",
    "Original",
    "Part",
    "Principal",
    "RemoveMessagesResponse",
    "Resource",
    "RestoreSessionResponse",
    "Role",
    "Run",
    "RunEnd",
    "RunStatus",
    "SeqRange",
    "Session",
    "SessionStatus",
    "SubscribeResponse",
    "ToolCall",
    "ToolCallChange",
    "ToolCallPart",
    "ToolCallStatus",
    "ToolResultPart",
    "UndeleteSessionResponse",
    "UpdateMemoryResponse",
    "UpdateMessageResponse",
    "UpdateSessionResponse",
    "UpdateToolCallResponse",
    "Usage",
    "WorkingMemory",
]
