"""StartRun, RenewRun, CancelRun and FinishRun."""

from datetime import timedelta
from typing import Literal, Protocol

from google.protobuf.duration_pb2 import Duration

from lockstitch.v1 import run_service_pb2 as pb
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.convert import runs, sessions
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import Change, Fence, Method, NewRun, OnBusy, RunEnd, SessionRef

_LEASE_MIN = timedelta(seconds=1)


class _Leased(Protocol):
    @property
    def lease(self) -> Duration: ...

    def HasField(self, field_name: Literal["lease"], /) -> bool: ...  # noqa: N802 - protobuf's name


def start_run(request: pb.StartRunRequest, requests: Requests) -> tuple[Change, NewRun]:
    """StartRun."""
    requests.policy.require(requests.principal, Claim.HOLD_RUN)
    settings = requests.settings
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    given_id = checks.identifier(request.run_id, "run_id", settings.id_characters_max, required=False)
    if request.on_busy not in {0, *OnBusy}:
        raise InvalidField("on_busy", "is not one that there is")
    new = NewRun(
        run_id=given_id or ids.run_id(ref.key, ids.request_id_hash(request_id)),
        worker=checks.identifier(request.worker, "worker", settings.id_characters_max, required=False),
        lease=_lease(request, requests),
        on_busy=OnBusy(request.on_busy or OnBusy.REJECT),
        labels=sessions.labels(
            request.labels, "labels", labels_max=settings.labels_max, characters_max=settings.id_characters_max
        ),
    )
    expected = request.expected_version if request.HasField("expected_version") else None
    return requests.change(request, Method.START_RUN, ref, request_id, expected_version=expected), new


def renew_run(request: pb.RenewRunRequest, requests: Requests) -> tuple[SessionRef, Fence, timedelta]:
    """RenewRun."""
    requests.policy.require(requests.principal, Claim.HOLD_RUN)
    ref = requests.ref(request.session_id)
    return ref, requests.fence_of(request.fence), _lease(request, requests)


def cancel_run(request: pb.CancelRunRequest, requests: Requests) -> tuple[Change, str, bool]:
    """CancelRun: the run, and whether it ends at once."""
    requests.policy.require(requests.principal, Claim.CANCEL_RUN)
    if request.now:
        requests.policy.require(requests.principal, Claim.CANCEL_RUN_NOW, "now")
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    run_id = checks.identifier(request.run_id, "run_id", requests.settings.id_characters_max)
    expected = request.expected_version if request.HasField("expected_version") else None
    change = requests.change(request, Method.CANCEL_RUN, ref, request_id, expected_version=expected)
    return change, run_id, request.now


def finish_run(request: pb.FinishRunRequest, requests: Requests) -> tuple[Change, str, RunEnd]:
    """FinishRun."""
    requests.policy.require(requests.principal, Claim.HOLD_RUN)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    fence = requests.fence_of(request.fence)
    end = runs.end(request.status, request.error)
    change = requests.change(
        request,
        Method.FINISH_RUN,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
        target=fence.run_id.encode(),
    )
    return change, fence.run_id, end


def _lease(request: _Leased, requests: Requests) -> timedelta:
    if not request.HasField("lease"):
        return min(requests.settings.lease_default, requests.settings.lease_max)
    return checks.span(request.lease, "lease", _LEASE_MIN, requests.settings.lease_max)
