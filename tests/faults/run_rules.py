"""What runs promise: tokens rise with every grant, and who was taken over acts no more."""

from collections.abc import Iterator

from faults.account import NEVER, Account, Operation, Request
from faults.request_rules import may_have_made
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
        fences = [one.asked.fence for one in may_have_made(account, maker)] if maker is not None else []
        # An attempt without a fence may have made it; of those with one, one must have held the grant.
        if fences and all(fence is not None and tuple(fence) != held for fence in fences):
            yield f"version {commit.version} was made under {fences}, while the grant was {held}"
        if commit.run_id and (held is None or commit.run_id != held[0]):
            yield f"version {commit.version} stands under run {commit.run_id}, while the grant was {held}"
        if commit.HasField("run"):
            run = commit.run
            held = (run.run_id, run.fencing_token) if run.status == RUN_STATUS_RUNNING else None


def leases_are_renewed_by_their_holder_alone(account: Account) -> Iterator[str]:
    """No lease is renewed of a run that was taken over, or had ended, before the renewal was sent."""
    ends = {
        run.run_id: commit.version
        for commit in account.commits
        for run in (commit.run, commit.ended_run)
        if run.run_id and run.status != RUN_STATUS_RUNNING
    }
    for operation in account.operations:
        fence, told = operation.asked.fence, operation.told
        if operation.asked.method != "RenewRun" or not operation.is_ok or fence is None or told is None:
            continue
        if told.grant is None or tuple(told.grant) != tuple(fence):
            yield f"{operation} was answered with {told.grant}"
        version = ends.get(fence[0], NEVER)
        if version <= account.known_before(operation.asked.at):
            yield f"{operation} renewed {fence[0]}, though version {version} had ended it before it was sent"


def takeovers_wait_for_the_lease(account: Account) -> Iterator[str]:
    """A run is ended as EXPIRED only once its lease is over, as far as its holder was told of it."""
    for commit in account.commits:
        ended = commit.ended_run if commit.HasField("ended_run") else commit.run
        if ended.status != RUN_STATUS_EXPIRED:
            continue
        leases = _last_leases(account, ended.run_id, account.makers.get(commit.version))
        if leases and min(leases) > commit.commit_time.ToNanoseconds():
            yield f"version {commit.version} ended {ended.run_id} as EXPIRED before its lease was over"


def _last_leases(account: Account, run_id: str, taker: Request | None) -> list[int]:
    """The leases of which one was the last before a takeover; none where a renewal's outcome is not known.

    When the server itself ended the run nobody was told: it may have been any of them.
    """
    ended_at = max((one.ended_at for one in taker.attempts), default=NEVER) if taker else NEVER
    sent = [one for one in _leasings(account, run_id) if one.asked.at < ended_at]
    if any(not one.is_ok for one in sent):
        return []
    before = [one for one in sent if taker and one.ended_at < taker.invoked_at]
    return [
        one.told.lease
        for one in sent
        if one.told is not None and one.told.lease is not None
        if not any(one.ended_at < later.asked.at for later in before)
    ]


def _leasings(account: Account, run_id: str) -> Iterator[Operation]:
    """The calls that may have set a run's lease: not those that were told of it once more, after others may have."""
    for operation in account.operations:
        receipt = operation.told.receipt if operation.told else None
        if receipt is not None and receipt["replayed"]:
            continue
        granted = operation.told.grant if operation.told else None
        renews = operation.asked.method == "RenewRun" and operation.asked.fence is not None
        named = operation.asked.fence[0] if renews and operation.asked.fence else granted[0] if granted else ""
        if named == run_id and not operation.is_refused:
            yield operation


def _grants(account: Account) -> Iterator[Commit]:
    for commit in account.commits:
        if commit.HasField("run") and commit.run.started_version == commit.version:
            yield commit
