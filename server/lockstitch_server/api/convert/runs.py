"""Runs on the way out; what they are started and ended with on the way in."""

from lockstitch.v1 import run_pb2
from lockstitch_server.api import checks
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import Fence, Run, RunEnd, RunStatus

ERROR_BYTES_MAX = 65_536
_ENDS = {
    run_pb2.RUN_STATUS_SUCCEEDED: RunStatus.SUCCEEDED,
    run_pb2.RUN_STATUS_FAILED: RunStatus.FAILED,
    run_pb2.RUN_STATUS_CANCELLED: RunStatus.CANCELLED,
}


def fill(target: run_pb2.Run, run: Run) -> None:
    """Write a run."""
    target.run_id = run.run_id
    target.session_id = run.session_id
    target.status = run_pb2.RunStatus.ValueType(run.status)
    target.worker = run.worker
    target.fencing_token = run.fencing_token
    target.cancel_requested = run.cancel_requested
    target.error = run.error.decode()
    target.started_version = run.started_version
    target.ended_version = run.ended_version
    target.labels.update(run.labels)
    checks.to_timestamp(run.lease_expire_time, target.lease_expire_time)
    checks.to_timestamp(run.start_time, target.start_time)
    if run.end_time is not None:
        checks.to_timestamp(run.end_time, target.end_time)


def end(status: int, error: str, prefix: str = "") -> RunEnd:
    """Check how a holder ends its run."""
    if status not in _ENDS:
        raise InvalidField(f"{prefix}status", "must be SUCCEEDED, FAILED or CANCELLED")
    if error and _ENDS[run_pb2.RunStatus.ValueType(status)] is RunStatus.SUCCEEDED:
        raise InvalidField(f"{prefix}error", "has no place in a run that succeeded")
    if len(error.encode()) > ERROR_BYTES_MAX:
        raise InvalidField(f"{prefix}error", f"is larger than {ERROR_BYTES_MAX} bytes")
    return RunEnd(status=_ENDS[run_pb2.RunStatus.ValueType(status)], error=error.encode())


def end_of(given: run_pb2.RunEnd, fence: Fence | None) -> RunEnd:
    """Check a finish_run, which needs the fence of the run that it ends."""
    if fence is None:
        raise InvalidField("finish_run", "needs a fence, whose run it ends")
    return end(given.status, given.error, "finish_run.")
