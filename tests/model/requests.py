"""What a request claims, says, and expects."""

from copy import deepcopy
from typing import Any

from lockstitch.v1 import checkpoint_service_pb2 as c
from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import ROLE_USER
from lockstitch.v1.working_memory_pb2 import MemoryChange
from model import Caller, Refused, runs
from model.session import State

NOT_CONTENT = {"request_id", "expected_version", "expected_memory_version", "fence", "force"}
OUTPUT_ONLY = ("seq", "version", "create_time", "elided_bytes", "run_id")
OUTPUT_ONLY_OF_CHECKPOINTS = ("session_id", "version", "create_time", "writes_truncated")
FOR_ENGINES = (
    pb.UpdateMemoryRequest,
    pb.CompleteToolCallRequest,
    pb.StreamDraftRequest,
    r.StartRunRequest,
    r.RenewRunRequest,
    r.FinishRunRequest,
    c.PutCheckpointRequest,
    c.PutCheckpointWritesRequest,
    c.CopyCheckpointsRequest,
    c.DeleteCheckpointsRequest,
)


def authorise(caller: Caller, request: Any) -> None:
    """What a user may not do or claim."""
    claims = isinstance(request, FOR_ENGINES) or getattr(request, "force", False) or runs.fence_of(request) is not None
    if isinstance(request, pb.CreateSessionRequest):
        claims = request.HasField("memory") or request.user_id not in {"", caller.subject}
    elif isinstance(request, pb.AppendRequest):
        claims = claims or bool(request.tool_calls) or request.HasField("memory_change") or request.allow_orphans
        claims = claims or request.create_if_missing.user_id not in {"", caller.subject}
    elif isinstance(request, pb.UpdateToolCallRequest):
        claims = claims or not request.HasField("approval") or bool(request.status) or bool(request.resources)
    elif isinstance(request, r.CancelRunRequest):
        claims = request.now
    for message in getattr(request, "messages", ()):
        claims = claims or message.role not in {0, ROLE_USER} or bool(message.author) or message.HasField("original")
    if claims and caller.role == "user":
        raise Refused("ROLE_NOT_ALLOWED")


def content_of(request: Any, owner: str) -> Any:
    """What two requests with one request_id must have in common."""
    content = deepcopy(request)
    for name in NOT_CONTENT.intersection(content.DESCRIPTOR.fields_by_name):
        content.ClearField(name)
    for message in getattr(content, "messages", ()):
        for name in OUTPUT_ONLY:
            message.ClearField(name)
    if isinstance(content, pb.CreateSessionRequest):
        content.user_id = owner if content.user_id == "" else content.user_id
    if isinstance(content, r.FinishRunRequest):
        content.fence.run_id = request.fence.run_id  # here it says what is ended
    if isinstance(content, c.PutCheckpointRequest):
        told: Any = content.checkpoint
        for name in OUTPUT_ONLY_OF_CHECKPOINTS:
            told.ClearField(name)
    return content


def content_of_draft(steps: Any) -> Any:
    """A retry need not send all of the text again, nor from the same offset."""
    kept = []
    for step in (steps[0], steps[-1] if len(steps) > 1 else pb.StreamDraftRequest()):
        content = content_of(step, "")
        content.ClearField("offset")
        content.ClearField("text")
        kept.append(content)
    return tuple(kept)


def memory_change_of(request: Any) -> MemoryChange | None:
    if isinstance(request, pb.CreateSessionRequest):
        return MemoryChange(replace=request.memory) if request.HasField("memory") else None
    if isinstance(request, pb.UpdateMemoryRequest):
        return request.change
    has_one = "memory_change" in request.DESCRIPTOR.fields_by_name and request.HasField("memory_change")
    return request.memory_change if has_one else None


def check_versions(state: State, request: Any) -> None:
    """Expected versions against the current ones; what is computed from an old value needs one, a fence, or force."""
    head, expected = state.head, {f.name: v for f, v in request.ListFields() if f.name.startswith("expected_")}
    memory_version = state.memory(request.run_id if isinstance(request, pb.UpdateMemoryRequest) else "").version
    for name, current in (("expected_version", head.version), ("expected_memory_version", memory_version)):
        if expected.get(name, current) != current:
            raise Refused(
                "VERSION_CONFLICT",
                expected_version=expected[name],
                current_version=head.version,
                memory_version=head.memory_version if name == "expected_version" else memory_version,
                last_seq=head.last_seq,
            )
    change = memory_change_of(request)
    computed = change is not None and change.WhichOneof("change") in {"replace", "set"}
    guarded = bool(expected) or runs.fence_of(request) is not None
    if memory_version and computed and not guarded and not request.force:
        raise Refused("EXPECTED_VERSION_REQUIRED")
