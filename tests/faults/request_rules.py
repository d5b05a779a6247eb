"""What request ids promise: a retry is no second change, a refusal is none, and a guard holds."""

from collections.abc import Iterator

from faults.account import Account, Operation, Request, hash_of
from lockstitch.v1.commit_pb2 import Commit

COMES_AGAIN = {"OVERLOADED", "DRAINING", "DATABASE_UNAVAILABLE", "RATE_LIMITED"}
"""A server may say so before it looks at anything: nothing was done."""


def replays_repeat_the_receipt(account: Account) -> Iterator[str]:
    """Whoever is answered about one request is answered the same, field for field."""
    for requests in account.requests.values():
        for request in requests:
            first: Operation | None = None
            for attempt in _answered(account, request):
                first = first or attempt
                if _receipt(attempt) != _receipt(first):
                    yield f"{attempt} has another receipt than {first}"
                elif attempt.told and first.told and attempt.told.answer != first.told.answer:
                    yield f"{attempt} has another answer than {first}"


def replays_are_told(account: Account) -> Iterator[str]:
    """One answer at the most says that it made the change; whoever asks later is told that it was made before."""
    for requests in account.requests.values():
        for request in requests:
            made = [attempt for attempt in _answered(account, request) if not _is_replayed(attempt)]
            if len(made) > 1:
                yield f"{request.request_id} was made by {' and by '.join(str(attempt) for attempt in made)}"
            known = min((attempt.ended_at for attempt in _answered(account, request)), default=None)
            for attempt in request.attempts:
                if known is None or attempt.asked.at <= known or attempt.is_unknown:
                    continue
                reason = attempt.told.reason if attempt.told else ""
                if attempt.is_refused and reason not in COMES_AGAIN:
                    yield f"{attempt} was refused with {reason}, though it had been acknowledged"
                elif attempt.is_ok and not _is_replayed(attempt):
                    yield f"{attempt} was no replay, though it had been acknowledged"


def refused_requests_leave_no_trace(account: Account) -> Iterator[str]:
    """A request that was refused as often as it was sent is not in the log."""
    for request_id, requests in account.requests.items():
        version = account.version_of_hash.get(hash_of(request_id))
        if version is not None and not any(request.may_have_been_done for request in requests):
            yield f"{request_id} was refused, and is in the log as version {version}"


def reused_ids_are_refused(account: Account) -> Iterator[str]:
    """An id that made a commit serves no other content."""
    for request_id, requests in account.requests.items():
        answered = [request for request in requests if _answered(account, request)]
        if len(answered) > 1:
            yield f"{request_id} was acknowledged for {len(answered)} contents"


def guarded_changes_follow_their_version(account: Account) -> Iterator[str]:
    """A change that was made with an expected version came right behind it, and behind the memory that it expected."""
    memory_version = 0
    for commit in account.commits:
        maker = account.makers.get(commit.version)
        if maker is not None and not any(_fits(one, commit, memory_version) for one in may_have_made(account, maker)):
            expected = [(one.asked.expected_version, one.asked.expected_memory_version) for one in maker.attempts]
            yield f"{maker.request_id} made {commit.version} (memory at {memory_version}), but expected {expected}"
        if (commit.HasField("memory") and not commit.memory_run_id) or _begins_with_memory(commit):
            memory_version = commit.version


def no_call_fails_by_a_bug(account: Account) -> Iterator[str]:
    """No answer is one that only a bug gives."""
    for operation in account.operations:
        told = operation.told
        if told is not None and (told.reason == "INTERNAL" or told.code == "UNKNOWN"):
            yield f"{operation} failed with {told.code} {told.reason} {told.details}"
    for stream in account.streams:
        if stream.ended is not None and (stream.ended.reason == "INTERNAL" or stream.ended.code == "UNKNOWN"):
            yield f"stream {stream.opened.stream} ended with {stream.ended.code} {stream.ended.reason}"


def may_have_made(account: Account, maker: Request) -> list[Operation]:
    """The attempts that may have made a commit: the one that says so, else all that were not refused.

    Also one that was told of a replay: a server that lost its connection at the commit asks again, and replays itself.
    """
    said = [attempt for attempt in _answered(account, maker) if not _is_replayed(attempt)]
    return said or [attempt for attempt in maker.attempts if not attempt.is_refused]


def _answered(account: Account, request: Request) -> list[Operation]:
    return [attempt for attempt in request.attempts if account.has_commit(attempt)]


def _receipt(operation: Operation) -> dict[str, object]:
    receipt = operation.told.receipt if operation.told else None
    return {name: value for name, value in (receipt or {}).items() if name != "replayed"}


def _is_replayed(operation: Operation) -> bool:
    receipt = operation.told.receipt if operation.told else None
    return receipt is not None and receipt["replayed"]


def _fits(attempt: Operation, commit: Commit, memory_version: int) -> bool:
    asked = attempt.asked
    return asked.expected_version in (None, commit.version - 1) and asked.expected_memory_version in (
        None,
        memory_version,
    )


def _begins_with_memory(commit: Commit) -> bool:
    return commit.version == 1 and commit.session.memory_version == 1
