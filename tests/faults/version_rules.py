"""What versions promise: one after the other, in the order of time, and seen by whoever asks later."""

from collections import Counter
from collections.abc import Iterator

from faults.account import Account, Operation, is_of_server, version_told


def log_was_read(account: Account) -> Iterator[str]:
    """Nothing is judged without the log as it stood when all was over."""
    if account.final is None:
        yield "its log was never read"
    elif account.final.version != max((commit.version for commit in account.commits), default=0):
        yield f"its log ends at {account.final.version}, but holds other commits"


def log_is_contiguous(account: Account) -> Iterator[str]:
    """The log holds each version from 1 on, once, in order."""
    for place, commit in enumerate(account.commits, start=1):
        if commit.version != place:
            yield f"version {commit.version} stands in the log where {place} must"
            return


def acknowledged_versions_are_unique(account: Account) -> Iterator[str]:
    """Two requests were never told that they made one version."""
    tellers: dict[int, str] = {}
    for operation in account.changes:
        told = operation.told
        if told is None or told.receipt is None or not _made_something(operation):
            continue
        version = told.receipt["version"]
        other = tellers.setdefault(version, operation.asked.request_id)
        if other != operation.asked.request_id:
            yield f"{operation} was told {version}, and so was {other}"


def _made_something(operation: Operation) -> bool:
    """Whether a receipt alone shows that there is a commit: it stored messages, recorded calls, or was given again."""
    receipt = operation.told.receipt if operation.told else None
    return receipt is not None and bool(receipt["message_ids"] or receipt["tool_call_ids"] or receipt["replayed"])


def acknowledged_changes_are_in_the_log(account: Account) -> Iterator[str]:
    """What a client was told to be stored is in the log, at the version that it was told."""
    for operation in account.changes:
        told = operation.told
        if told is None or told.receipt is None:
            continue
        version, found = told.receipt["version"], account.version_made_by(operation)
        # What changed nothing has no commit, and is judged anew until it has one; then that is what it is told.
        if _made_something(operation) and found != version:
            yield f"{operation} was told {version}; the log has {'nothing' if found is None else found} of it"
        elif found is not None and found < version:
            yield f"{operation} was told {version}, though the log has it as {found}"


def every_commit_traces_to_a_request(account: Account) -> Iterator[str]:
    """A commit was asked for by a client, or made by the server itself."""
    for commit in account.commits:
        if not is_of_server(commit) and account.made_by(commit) is None:
            yield f"nobody asked for version {commit.version}"
        if is_of_server(commit) and commit.request_id_hash.hex() in account.by_hash:
            yield f"version {commit.version} is the server's, with the request_id of a client"


def requests_have_one_commit(account: Account) -> Iterator[str]:
    """A request that was acknowledged is in the log once."""
    yield from _doubled(account, are_known=True)


def unknown_outcomes_happen_once_at_most(account: Account) -> Iterator[str]:
    """A request whose outcome nobody was told is in the log once, or not at all."""
    yield from _doubled(account, are_known=False)


def _doubled(account: Account, *, are_known: bool) -> Iterator[str]:
    for found, times in Counter(commit.request_id_hash.hex() for commit in account.commits).items():
        attempts = [one for each in account.requests.get(account.by_hash.get(found, ""), ()) for one in each.attempts]
        if times > 1 and any(attempt.is_ok for attempt in attempts) == are_known:
            yield f"{account.by_hash.get(found, found)} is in the log {times} times"


def real_time_is_respected(account: Account) -> Iterator[str]:
    """A change that was asked for when a version was known already has a greater one."""
    for operation in account.changes:
        told = operation.told
        if told is None or told.receipt is None:
            continue
        known, version = account.known_before(operation.asked.at), told.receipt["version"]
        if account.has_commit(operation) and not told.receipt["replayed"]:
            if version <= known:
                yield f"{operation} made version {version}; {known} was known before it was sent"
        elif not told.receipt["replayed"] and version < known:
            yield f"{operation} changed nothing at {version}; {known} was known before it was sent"
    for version, maker in account.makers.items():
        known = account.known_before(maker.invoked_at)
        if version <= known:
            yield f"{maker.request_id} made version {version}; {known} was known before it was first sent"


def reads_never_go_back(account: Account) -> Iterator[str]:
    """Whoever reads sees all that was known before, on whichever server."""
    for operation in account.operations:
        version = version_told(operation)
        if operation.told is None or version is None or operation.told.receipt is not None:
            continue
        known = account.known_before(operation.asked.at)
        if version < known and not _may_show_the_past(operation):
            yield f"{operation} saw version {version}; {known} was known before it was sent"
    for stream in account.streams:
        for frame in stream.frames:
            known = account.known_before(stream.opened.at)
            if frame.frame == "opened" and frame.version < known:
                yield f"stream {stream.opened.stream} opened at {frame.version}; {known} was known before"
    if account.final is not None and account.final.version < account.known_before(account.final.invoked_at):
        yield f"the log ends at {account.final.version}; more was known before it was read"


def nothing_is_seen_before_it_is_asked_for(account: Account) -> Iterator[str]:
    """No answer and no frame shows a version whose request had not been sent yet."""
    for at, version, what in account.sightings:
        if version < len(account.begun_at) and account.begun_at[version] > at:
            yield f"{what} showed version {version} before it was asked for"


def _may_show_the_past(operation: Operation) -> bool:
    """Whether a read asked for an earlier version, or gave the first of several pages."""
    if operation.asked.method in {"GetSession", "GetMemory"}:
        return bool(operation.request.HasField("at_version"))
    seen = operation.told.seen if operation.told else None
    return seen is not None and "commits" in seen and seen.get("more", False)
