"""PutCheckpoint, PutCheckpointWrites, CopyCheckpoints and DeleteCheckpoints."""

from lockstitch.v1 import checkpoint_service_pb2 as pb
from lockstitch.v1 import session_service_pb2
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.changes import content
from lockstitch_server.api.convert import checkpoints
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import (
    Change,
    CheckpointWrite,
    Fence,
    Method,
    NewCheckpoint,
    NewSession,
    SessionRef,
)
from lockstitch_server.store.checkpoints import CheckpointDeletion


def put_checkpoint(
    request: pb.PutCheckpointRequest, requests: Requests
) -> tuple[Change, NewCheckpoint, NewSession | None]:
    """PutCheckpoint."""
    requests.policy.require(requests.principal, Claim.USE_CHECKPOINTS)
    settings = requests.settings
    create = _create(request.create_if_missing, requests) if request.HasField("create_if_missing") else None
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    for output in ("session_id", "version", "create_time", "writes_truncated"):
        request.checkpoint.ClearField(output)
    new = checkpoints.new_checkpoint(
        request.checkpoint,
        id_max=settings.id_characters_max,
        metadata_bytes_max=settings.metadata_bytes_max,
        content_bytes_max=settings.content_bytes_max,
    )
    requests.check_size(request, sum(len(write.data) for write in new.writes))
    fence = requests.fence(request)
    if fence is not None and new.run_id not in {None, fence.run_id}:
        raise InvalidField("checkpoint.run_id", "is not the fence's")
    change = requests.change(
        request,
        Method.PUT_CHECKPOINT,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
    )
    return change, new, None if ids.is_server_session_id(ref.session_id) else create


def put_checkpoint_writes(
    request: pb.PutCheckpointWritesRequest, requests: Requests
) -> tuple[SessionRef, Fence | None, str, str, tuple[CheckpointWrite, ...]]:
    """PutCheckpointWrites."""
    requests.policy.require(requests.principal, Claim.USE_CHECKPOINTS)
    id_max = requests.settings.id_characters_max
    ref = requests.ref(request.session_id)
    namespace = checks.identifier(request.namespace, "namespace", id_max, required=False)
    checkpoint_id = checks.identifier(request.checkpoint_id, "checkpoint_id", id_max)
    if not request.writes:
        raise InvalidField("writes", "is required")
    writes = checkpoints.new_writes(request.writes, "writes", id_max)
    requests.check_size(request, sum(len(write.data) for write in writes))
    return ref, requests.fence(request), namespace, checkpoint_id, writes


def copy_checkpoints(
    request: pb.CopyCheckpointsRequest, requests: Requests
) -> tuple[Change, SessionRef, NewSession | None]:
    """CopyCheckpoints: the change of the session that is copied to, and the session that is copied."""
    requests.policy.require(requests.principal, Claim.USE_CHECKPOINTS)
    create = _create(request.create_if_missing, requests) if request.HasField("create_if_missing") else None
    request_id = requests.request_id(request.request_id)
    source = requests.ref(request.session_id)
    target = requests.ref(request.target_session_id, "target_session_id")
    if source.key == target.key:
        raise InvalidField("target_session_id", "is the session that is copied")
    change = requests.change(
        request,
        Method.COPY_CHECKPOINTS,
        target,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
    )
    return change, source, None if ids.is_server_session_id(target.session_id) else create


def delete_checkpoints(request: pb.DeleteCheckpointsRequest, requests: Requests) -> tuple[Change, CheckpointDeletion]:
    """DeleteCheckpoints."""
    requests.policy.require(requests.principal, Claim.USE_CHECKPOINTS)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    which = request.WhichOneof("which")
    if which is None or (which == "all" and not request.all):
        raise InvalidField("all", "or run_id or keep_newest is required")
    if which == "keep_newest" and request.keep_newest < 1:
        raise InvalidField("keep_newest", "must be 1 or more")
    deletion = CheckpointDeletion(
        all=which == "all",
        run_id=(
            checks.identifier(request.run_id, "run_id", requests.settings.id_characters_max)
            if which == "run_id"
            else None
        ),
        keep_newest=request.keep_newest if which == "keep_newest" else None,
    )
    fence = requests.fence(request)
    change = requests.change(
        request,
        Method.DELETE_CHECKPOINTS,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
    )
    return change, deletion


def _create(given: session_service_pb2.CreateIfMissing, requests: Requests) -> NewSession:
    requests.policy.require(requests.principal, Claim.CHOOSE_SESSION_ID, "session_id")
    return NewSession(
        user_id=content.user(given.user_id, requests, "create_if_missing.user_id"),
        agent=content.agent(given.agent, "create_if_missing.agent", requests),
    )
