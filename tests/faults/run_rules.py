"""What runs promise: tokens rise with every grant, and who was taken over acts no more."""

from collections.abc import Iterator

from faults.account import Account, Operation, Request
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.run_pb2 import RUN_STATUS_EXPIRED, RUN_STATUS_RUNNING


def fencing_tokens_only_rise(account: Account) -> Iterator[str]:
    """Each grant has a greater token than all before it, in the log and in what holders were told."""
    newest = 0
    for commit in _grants(account):
        if commit.run.fencing_token <= newest:
            yield f"version {commit.version} grants {commit.run.fencing_token} after {newest}"
        newest = max(newest, commit.run.fencing_token)
    granted = {(commit.run.run_id, commit.run.fencing_token) for commit in _grants(account)}
    for operation in account.operations:
        if operation.told is not None and operation.told.grant and tuple(operation.told.grant) not in granted:
            yield f"{operation} was granted {tuple(operation.told.grant)}, which is not in the log"


def fenced_changes_hold_the_newest_grant(account: Account) -> Iterator[str]:
    """A change under a fence was made while that run had neither ended nor been taken over."""
    held: tuple[str, int] | None = None
    for commit in account.commits:
        maker = account.makers.get(commit.version)
        fence = maker.attempts[0].asked.fence if maker is not None else None
        if fence is not None and tuple(fence) != held:
            yield f"version {commit.version} was made under {tuple(fence)}, while the grant was {held}"
        if commit.HasField("run"):
            run = commit.run
            held = (run.run_id, run.fencing_token) if run.status == RUN_STATUS_RUNNING else None


def leases_are_renewed_by_their_holder_alone(account: Account) -> Iterator[str]:
    """No lease is renewed that was taken over before the renewal was sent."""
    grants = [(commit.run.fencing_token, commit.version) for commit in _grants(account)]
    for operation in _renewals(account):
        token = operation.asked.fence[1] if operation.asked.fence else 0
        known = account.known_before(operation.asked.at)
        newer = [version for other, version in grants if other > token and version <= known]
        if newer:
            yield f"{operation} renewed {token}, though version {newer[0]} had taken over before it was sent"


def takeovers_wait_for_the_lease(account: Account) -> Iterator[str]:
    """A run is ended as EXPIRED only once its lease is over, as far as its holder was told of it."""
    for commit in account.commits:
        maker = account.makers.get(commit.version)
        ended = commit.ended_run if commit.HasField("ended_run") else commit.run
        if maker is None or ended.status != RUN_STATUS_EXPIRED:
            continue
        leases = _last_leases(account, ended.run_id, maker)
        if leases and min(leases) > commit.commit_time.ToNanoseconds():
            yield f"version {commit.version} ended {ended.run_id} as EXPIRED before its lease was over"


def _last_leases(account: Account, run_id: str, taker: Request) -> list[int]:
    """The leases of which one was the last before a takeover; none where a renewal's outcome is not known."""
    sent = [one for one in _leasings(account, run_id) if one.asked.at < max(a.ended_at for a in taker.attempts)]
    if any(not one.is_ok for one in sent):
        return []
    before = [one for one in sent if one.ended_at < taker.invoked_at]
    return [
        one.told.lease
        for one in sent
        if one.told is not None and one.told.lease is not None
        if not any(one.ended_at < later.asked.at for later in before)
    ]


def _leasings(account: Account, run_id: str) -> Iterator[Operation]:
    """The calls that may have set a run's lease."""
    for operation in account.operations:
        granted = operation.told.grant if operation.told else None
        renews = operation.asked.method == "RenewRun" and operation.asked.fence is not None
        named = operation.asked.fence[0] if renews and operation.asked.fence else granted[0] if granted else ""
        if named == run_id and not operation.is_refused:
            yield operation


def _grants(account: Account) -> Iterator[Commit]:
    for commit in account.commits:
        if commit.HasField("run") and commit.run.started_version == commit.version:
            yield commit


def _renewals(account: Account) -> Iterator[Operation]:
    for operation in account.operations:
        if operation.asked.method == "RenewRun" and operation.is_ok:
            yield operation
