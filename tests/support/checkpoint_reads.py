"""Every read of checkpoints, held against the model."""

from collections.abc import Callable, Sequence
from typing import Any

from lockstitch.v1.checkpoint_pb2 import Checkpoint
from lockstitch.v1.checkpoint_service_pb2 import GetCheckpointRequest, GetCheckpointResponse, ListCheckpointsRequest
from lockstitch.v1.session_pb2 import SESSION_STATUS_DELETED
from model import Caller, checkpoints
from support.lockstep import Error, Lockstep

READS = (GetCheckpointRequest, ListCheckpointsRequest)
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"namespace": ""},
    {"namespace": "sub graph", "before": "0003"},
    {"run_id": "run 1"},
    {"metadata_json": '{"source":"loop"}'},
    {"metadata_json": '{"step":null}', "namespace": ""},
)
ROLE_NOT_ALLOWED: Error = ("PERMISSION_DENIED", "ROLE_NOT_ALLOWED", {})
NOT_FOUND: Error = ("NOT_FOUND", "CHECKPOINT_NOT_FOUND", {})
Paged = Callable[..., list[Any]]


def check_checkpoints(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int], paged: Paged) -> None:
    """By id, the latest, with those that they go on from; in lists of the session, and of the tenant."""
    what = f"{caller} {session_id}"
    if caller.role == "user":
        for kind in READS:
            lockstep.same(lockstep.ask(caller, kind(session_id=session_id)), ROLE_NOT_ALLOWED, what)
        return
    state = lockstep.model.find(caller, session_id).states[-1]
    for namespace, checkpoint_id in state.present.checkpoints:
        asked = GetCheckpointRequest(session_id=session_id, namespace=namespace, checkpoint_id=checkpoint_id)
        for asked.ancestors in (False, True):
            place = (namespace, checkpoint_id)
            expected = GetCheckpointResponse(
                checkpoint=checkpoints.shown(state, place),
                ancestors=checkpoints.ancestors(state, place) if asked.ancestors else (),
            )
            got = lockstep.read(caller, asked)
            if got.next_ancestors_page_token:
                check_that_ancestors_end(lockstep, caller, asked, got)
            lockstep.same(got, expected, f"{what} {asked}")
    for namespace in ("", "sub graph", "nobody's"):
        latest = max((place for place in state.present.checkpoints if place[0] == namespace), default=None)
        got = lockstep.ask(caller, GetCheckpointRequest(session_id=session_id, namespace=namespace))
        found = latest and GetCheckpointResponse(checkpoint=checkpoints.shown(state, latest))
        lockstep.same(got, found or NOT_FOUND, f"{what} the latest of {namespace!r}")
    missing = GetCheckpointRequest(session_id=session_id, checkpoint_id="nobody's")
    lockstep.same(lockstep.ask(caller, missing), NOT_FOUND, what)
    states = [
        line.states[-1]
        for (tenant, _), line in lockstep.model.sessions.items()
        if tenant == caller.tenant and not line.is_purged and line.states[-1].head.status != SESSION_STATUS_DELETED
    ]
    for shown in FILTERS:
        asked_for = ListCheckpointsRequest(session_id=session_id, **shown)
        got = paged(lockstep, caller, asked_for, "checkpoints", sizes)
        lockstep.same(got, checkpoints.listed(state, asked_for), f"{what} {asked_for}")
        of_all = ListCheckpointsRequest(**shown)
        got = paged(lockstep, caller, of_all, "checkpoints", [50])
        ids = [one.checkpoint_id for one in got]
        assert ids == sorted(ids, reverse=True)
        expected_of_all = [one for each in states for one in checkpoints.listed(each, of_all)]
        lockstep.same(sorted(got, key=_whose), sorted(expected_of_all, key=_whose), f"{caller} {of_all}")


def check_that_ancestors_end(
    lockstep: Lockstep, caller: Caller, asked: GetCheckpointRequest, got: GetCheckpointResponse
) -> None:
    """Where the parent of the last one was deleted, a page without any ends them; the token is taken off."""
    rest = GetCheckpointRequest.FromString(asked.SerializeToString())
    rest.ancestors_page_token = got.next_ancestors_page_token
    last = lockstep.read(caller, rest)
    assert not last.ancestors, (asked, got, last)
    assert not last.next_ancestors_page_token, (asked, got, last)
    got.ClearField("next_ancestors_page_token")


def _whose(checkpoint: Checkpoint) -> tuple[str, str, str]:
    return checkpoint.checkpoint_id, checkpoint.session_id, checkpoint.namespace
