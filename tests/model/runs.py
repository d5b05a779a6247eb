"""Runs: one at a time, by a lease that its holder renews and a token that fences who held it before."""

from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.run_pb2 import (
    RUN_STATUS_CANCELLED,
    RUN_STATUS_EXPIRED,
    RUN_STATUS_RUNNING,
    RUN_STATUS_SUPERSEDED,
    Fence,
    Run,
    RunStatus,
)
from model import Given, Refused, ledger
from model.session import State

LEASE_NANOSECONDS = 30_000_000_000
INTERRUPTED, TAKEN_OVER = "Interrupted by another run.", "Its lease ran out, and another run took over."
FORCED, LAPSED = "Its session was closed or deleted by force.", "Its lease ran out."
SESSION_EXPIRED = "Its session expired."


def find(state: State, run_id: str) -> Run:
    found = next((run for run in state.runs if run.run_id == run_id), None)
    if found is None:
        raise Refused("RUN_NOT_FOUND")
    return found


def fence_of(request: Any) -> Fence | None:
    """The fence that a request carries."""
    has_one = "fence" in request.DESCRIPTOR.fields_by_name and request.HasField("fence")
    return request.fence if has_one else None


def check_fence(state: State, fence: Fence) -> None:
    """An old token is fenced, and so is a run that somebody else ended; what its holder ended has ended."""
    run = find(state, fence.run_id)
    if run.fencing_token != fence.fencing_token or run.run_id in state.fenced:
        raise Refused("RUN_FENCED", run_id=run.run_id)
    if run.status != RUN_STATUS_RUNNING:
        raise Refused("RUN_ENDED", run_id=run.run_id)


def check(state: State, request: Any) -> None:
    """What a request says of runs, against those there are."""
    if (fence := fence_of(request)) is not None:
        check_fence(state, fence)
    named = isinstance(request, r.CancelRunRequest | pb.UpdateMemoryRequest) and request.run_id
    if named and find(state, request.run_id).status != RUN_STATUS_RUNNING:
        raise Refused("RUN_ENDED", run_id=request.run_id)
    ends_it = isinstance(request, pb.CloseSessionRequest | pb.DeleteSessionRequest) and not request.force
    rejects = isinstance(request, r.StartRunRequest) and request.on_busy <= r.ON_BUSY_REJECT
    if state.is_held and (ends_it or rejects):
        raise active(state)


def active(state: State) -> Refused:
    until = f"{state.present.lease.ToDatetime().isoformat()}Z"
    return Refused("RUN_ACTIVE", run_id=state.head.active_run_id, lease_expire_time=until)


def takes_over(state: State, request: Any) -> bool:
    """Whether a request ends the active run for its holder, and with it what the run was drafting."""
    if isinstance(request, r.StartRunRequest):
        return state.active is not None and not joins(state, request)
    return isinstance(request, r.CancelRunRequest) and request.now


def joins(state: State, request: r.StartRunRequest) -> bool:
    return state.is_held and request.on_busy == r.ON_BUSY_JOIN


def start(state: State, request: r.StartRunRequest, given: Given) -> Run | None:
    if joins(state, request):
        return shown(state, state.head.active_run_id)
    run_id = request.run_id or given.run_id
    if any(run.run_id == run_id for run in state.runs):
        if run_id == state.head.active_run_id:
            raise Refused("INVALID_FIELD")
        raise Refused("RUN_ENDED", run_id=run_id)
    if state.active is not None:
        held = state.is_held
        lose(
            state,
            RUN_STATUS_SUPERSEDED if held else RUN_STATUS_EXPIRED,
            INTERRUPTED if held else TAKEN_OVER,
            given.now,
        )
    run = Run(
        run_id=run_id,
        session_id=state.head.session_id,
        status=RUN_STATUS_RUNNING,
        worker=request.worker,
        fencing_token=len(state.runs) + 1,
        start_time=given.now,
        started_version=state.head.version,
        labels=request.labels,
    )
    lease = request.lease.ToNanoseconds() if request.HasField("lease") else LEASE_NANOSECONDS
    run.lease_expire_time.FromNanoseconds(given.now.ToNanoseconds() + lease)
    state.runs.append(run)
    state.head.active_run_id = run_id
    state.present.lease.CopyFrom(run.lease_expire_time)
    state.present.is_lapsed = False
    return run


def end(state: State, status: int, error: str, now: Timestamp) -> Run:
    """End the active run."""
    run = find(state, state.head.active_run_id)
    run.status, run.error, run.ended_version = RunStatus.ValueType(status), error, state.head.version
    run.end_time.CopyFrom(now)
    state.head.active_run_id = ""
    return run


def lose(state: State, status: int, error: str, now: Timestamp) -> Run:
    """End the active run for its holder, who is fenced: what it was doing has an unknown outcome."""
    run = end(state, status, error, now)
    state.fenced.add(run.run_id)
    for call in state.calls:
        if call.status == ledger.RUNNING and state.starters.get(call.tool_call_id) == run.run_id:
            ledger.end(call, (ledger.INTERRUPTED, "", ""), state.head.version, now)
    return run


def lose_with_session(state: State, now: Timestamp) -> None:
    """A close or a deletion ends the run, if there is one: a live one was forced to."""
    if state.active is not None:
        held = state.is_held
        lose(state, RUN_STATUS_CANCELLED if held else RUN_STATUS_EXPIRED, FORCED if held else LAPSED, now)


def cancel(state: State, request: r.CancelRunRequest, given: Given) -> Run:
    run = find(state, request.run_id)
    run.cancel_requested = run.cancel_requested or not request.now
    return lose(state, RUN_STATUS_CANCELLED, "", given.now) if request.now else run


def renew(state: State, fence: Fence, given: Given) -> Run:
    """Makes no commit; a lease that ran out is renewed as long as nobody took over."""
    check_fence(state, fence)
    if state.expired:
        raise Refused("SESSION_EXPIRED")  # a lease does not bring back what its time has ended
    state.present.lease.CopyFrom(given.lease)
    state.present.is_lapsed = False
    return shown(state, fence.run_id)


def shown(state: State, run_id: str) -> Run:
    """A run with its lease as it was last renewed."""
    run = Run.FromString(find(state, run_id).SerializeToString())
    if run_id == state.head.active_run_id:
        run.lease_expire_time.CopyFrom(state.present.lease)
    return run
