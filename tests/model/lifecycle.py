"""A session's life: closed, restored, deleted, undeleted, expired."""

from datetime import timedelta
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.run_pb2 import RUN_STATUS_EXPIRED
from lockstitch.v1.session_pb2 import (
    SESSION_STATUS_ACTIVE,
    SESSION_STATUS_CLOSED,
    SESSION_STATUS_DELETED,
    SESSION_STATUS_EXPIRED,
    Session,
    SessionStatus,
)
from model import Given, Refused, runs
from model.session import State

KEPT = timedelta(days=30)
STATUS_CHANGES = (
    pb.CloseSessionRequest,
    pb.RestoreSessionRequest,
    pb.DeleteSessionRequest,
    pb.UndeleteSessionRequest,
)


def check(state: State, request: Any) -> None:
    """Whether the session's state takes this change."""
    status, expired = state.head.status, state.expired
    if isinstance(request, pb.DeleteSessionRequest | pb.UndeleteSessionRequest):
        return
    if status == SESSION_STATUS_DELETED:
        raise Refused("SESSION_DELETED")
    if isinstance(request, pb.RestoreSessionRequest):
        status, expired = SESSION_STATUS_ACTIVE, expired and request.WhichOneof("expiration") is None
    elif isinstance(request, pb.CloseSessionRequest):
        status, expired = SESSION_STATUS_ACTIVE, expired and status != SESSION_STATUS_CLOSED
    if status == SESSION_STATUS_CLOSED:
        raise Refused("SESSION_CLOSED")
    if expired:
        raise Refused("SESSION_EXPIRED")


def ends(state: State, request: Any) -> bool:
    """Whether a change closes or deletes a session that was not; what it was drafting is lost."""
    if isinstance(request, pb.CloseSessionRequest):
        return state.head.status == SESSION_STATUS_ACTIVE
    return isinstance(request, pb.DeleteSessionRequest) and state.head.status != SESSION_STATUS_DELETED


def change_status(state: State, request: Any, given: Given) -> None:
    head = state.head
    if ends(state, request):
        runs.lose_with_session(state, given.now)
        if isinstance(request, pb.CloseSessionRequest):
            head.status, head.close_reason = SESSION_STATUS_CLOSED, request.reason
            head.close_time.CopyFrom(given.now)
        else:
            state.before_delete, head.status = head.status, SESSION_STATUS_DELETED
            head.delete_time.CopyFrom(given.now)
            head.purge_time.FromNanoseconds(given.now.ToNanoseconds() + KEPT // timedelta(microseconds=1) * 1000)
    elif isinstance(request, pb.UndeleteSessionRequest) and head.status == SESSION_STATUS_DELETED:
        head.status, state.before_delete = SessionStatus.ValueType(state.before_delete), 0
        head.ClearField("delete_time")
        head.ClearField("purge_time")
    elif isinstance(request, pb.RestoreSessionRequest) and (head.status == SESSION_STATUS_CLOSED or state.expired):
        head.status, head.close_reason = SESSION_STATUS_ACTIVE, ""
        head.ClearField("close_time")
        live(state, request, given)


def begin(state: State, request: pb.CreateSessionRequest, given: Given) -> None:
    live(state, request, given)
    new = Session(title=request.title, metadata_json=request.metadata_json, labels=request.labels)
    state.head.MergeFrom(new)
    if request.HasField("idle_ttl"):
        state.head.idle_ttl.CopyFrom(request.idle_ttl)


def live(state: State, request: pb.CreateSessionRequest | pb.RestoreSessionRequest, given: Given) -> None:
    """A new life replaces expire_time, and an idle_ttl that has run out."""
    if request.WhichOneof("expiration"):
        ends_at = given.now.ToNanoseconds() + request.ttl.ToNanoseconds()
        state.head.expire_time.FromNanoseconds(request.expire_time.ToNanoseconds() or ends_at)
        state.present.is_over = False
        if state.present.is_idle:
            state.head.ClearField("idle_ttl")
            state.present.is_idle = False


def expire(state: State, given: Given) -> None:
    """What the sweeper's commit does: nothing that reads did not show before."""
    if state.active is not None:
        runs.lose(state, RUN_STATUS_EXPIRED, runs.SESSION_EXPIRED, given.now)
    state.head.status = SESSION_STATUS_EXPIRED
