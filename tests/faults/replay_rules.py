"""What a history is held against its replay for: changes, answers, reads and refusals."""

from collections import defaultdict
from collections.abc import Iterator
from difflib import unified_diff
from functools import lru_cache
from typing import Any

from faults.account import NEVER, Account, Operation, hash_of, is_of_server
from faults.digests import digest_of, receipt_of
from faults.reads_replayed import all_reads, at_version_of, seen_at
from faults.replay import Replay
from faults.request_rules import COMES_AGAIN, may_have_made
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.session_service_pb2 import CreateSessionRequest
from model import Refused, runs
from support.reads import check_call_in_commit, without_bodies

VERSIONS_MAX = 50
"""A refusal that may have been due at more versions than these is not judged."""
DIFFERENCE_LINES = 12

OF_NO_VERSION = {"RenewRun", "ListCommits"}
"""What other rules judge."""

READ_IN_THE_END = {type(request).__name__.removesuffix("Request") for request in all_reads("")}

Found = dict[str, list[str]]


def changes_were_allowed(account: Account) -> Iterator[str]:
    """Each commit is a change that its session took at that version: its state, its run and its guards allow it."""
    yield from _replayed(account)["changes_were_allowed"]


def log_is_what_was_asked_for(account: Account) -> Iterator[str]:
    """Each commit of the log holds what its request asked for, and nothing else."""
    yield from _replayed(account)["log_is_what_was_asked_for"]


def answers_are_the_replay(account: Account) -> Iterator[str]:
    """A receipt, and the resource beside it, are those of the commit."""
    yield from _replayed(account)["answers_are_the_replay"]


def answers_without_a_commit_changed_nothing(account: Account) -> Iterator[str]:
    """Where the log has nothing of a change that was answered, there was nothing to change."""
    yield from _replayed(account)["answers_without_a_commit_changed_nothing"]


def reads_are_the_replay(account: Account) -> Iterator[str]:
    """A read shows the session as the changes up to its version made it."""
    yield from _replayed(account)["reads_are_the_replay"]


def all_was_read_in_the_end(account: Account) -> Iterator[str]:
    """When all was over each kind of read was made once more, so that nothing lies otherwise than the log says."""
    if not account.commits:
        return
    ended = max((one.told.at for one in account.changes if one.told), default=0)
    last = {one.asked.method for one in account.operations if one.is_ok and one.asked.at > ended}
    missing = READ_IN_THE_END - last
    if missing:
        yield f"{', '.join(sorted(missing))} was not asked for when all was over"


def refusals_were_due(account: Account) -> Iterator[str]:
    """A call was refused for what was so at a time between its sending and its end."""
    yield from _replayed(account)["refusals_were_due"]


@lru_cache(maxsize=1)
def _replayed(account: Account) -> Found:
    return _Judge(account).judged()


class _Judge:
    """Goes through a session's versions once, and holds all that was said of each against the replay."""

    def __init__(self, account: Account) -> None:
        self._account = account
        epochs = (one.told.receipt["store_epoch"] for one in account.changes if one.told and one.told.receipt)
        self._replay = Replay(account.caller, account.session, store_epoch=next(epochs, ""))
        self._found: Found = defaultdict(list)
        self._reads = self._by_version(account.operations, self._version_read)
        self._unchanged = self._by_version(account.changes, self._version_unchanged)
        self._refused: dict[int, list[Operation]] = defaultdict(list)
        self._not_due: dict[int, Operation] = {}
        self._undated: dict[int, list[Operation]] = defaultdict(list)
        self._not_so: dict[int, Operation] = {}

    def judged(self) -> Found:
        self._plan_refusals()
        self._plan_undated_reads()
        self._judge_version()
        for place, commit in enumerate(self._account.commits, start=1):
            if commit.version != place or not self._step(commit):
                return self._found  # behind it nothing can be told
            self._judge_version()
        for version in self._reads.keys() - set(range(len(self._account.commits) + 1)):
            for operation in self._reads[version]:
                self._found["reads_are_the_replay"].append(f"{operation} saw version {version}; the log has none")
        for operation in self._not_so.values():
            self._found["reads_are_the_replay"].append(f"{operation} saw what was so at no version while it lasted")
        for operation in self._not_due.values():
            reason = operation.told.reason if operation.told else ""
            self._found["refusals_were_due"].append(f"{operation} was refused with {reason}, and why can't be seen")
        return self._found

    def _by_version(self, operations: list[Operation], version_of: Any) -> dict[int, list[Operation]]:
        found: dict[int, list[Operation]] = defaultdict(list)
        for operation in operations:
            version = version_of(operation)
            if version is not None:
                found[version].append(operation)
        return found

    def _version_read(self, operation: Operation) -> int | None:
        told = operation.told
        if not operation.is_ok or told is None or told.seen is None or operation.asked.method in OF_NO_VERSION:
            return None
        return at_version_of(operation.request) or told.seen.get("version")

    def _version_unchanged(self, operation: Operation) -> int | None:
        told = operation.told
        if told is None or told.receipt is None or self._account.has_commit(operation) or told.receipt["replayed"]:
            return None
        return told.receipt["version"]

    def _plan_refusals(self) -> None:
        """A refusal is looked for at each version that the session can have had while the call lasted."""
        for operation in self._account.operations:
            told = operation.told
            if told is None or not operation.is_refused or told.reason in COMES_AGAIN:
                continue
            versions = self._versions_meanwhile(operation)
            if len(versions) > VERSIONS_MAX:
                continue
            self._not_due[operation.asked.op] = operation
            for version in versions:
                self._refused[version].append(operation)

    def _plan_undated_reads(self) -> None:
        """A read whose answer names no version shows one that the session can have had while the call lasted."""
        for operation in self._account.operations:
            told = operation.told
            if not operation.is_ok or told is None or told.seen is None or operation.asked.method in OF_NO_VERSION:
                continue
            if self._version_read(operation) is None:
                self._not_so[operation.asked.op] = operation
                for version in self._versions_meanwhile(operation):
                    self._undated[version].append(operation)

    def _versions_meanwhile(self, operation: Operation) -> range:
        account = self._account
        last = min(account.newest_before(operation.ended_at), len(account.commits))
        return range(account.known_before(operation.asked.at), last + 1)

    def _step(self, logged: Commit) -> bool:
        """Replay a commit, and compare it; False where it may not be."""
        account, version = self._account, logged.version
        maker = account.makers.get(version)
        try:
            if is_of_server(logged):
                expected = self._replay.change_by_server(logged)
            elif maker is None:
                return False
            else:
                answer, expected = self._replay.change(may_have_made(account, maker)[0].request, logged)
                self._judge_answers(maker.attempts, answer)
        except Refused as refused:
            asked = maker.request_id if maker else "the server"
            self._found["changes_were_allowed"].append(
                f"version {version}, asked for by {asked}, was to be refused: {refused.reason} {refused.metadata}"
            )
            return False
        self._judge_commit(logged, expected)
        return True

    def _judge_answers(self, attempts: list[Operation], answer: Any) -> None:
        for attempt in attempts:
            told = attempt.told
            if told is None or told.receipt is None or not self._account.has_commit(attempt):
                continue
            expected = receipt_of(answer.receipt)
            expected["replayed"] = told.receipt["replayed"]
            if told.receipt != expected:
                self._found["answers_are_the_replay"].append(f"{attempt} was told {told.receipt}, not {expected}")
            elif told.answer != digest_of(answer):
                self._found["answers_are_the_replay"].append(f"{attempt} was not told {answer}")

    def _judge_commit(self, logged: Commit, expected: Commit) -> None:
        said = self._found["log_is_what_was_asked_for"]
        bodies = {call.tool_call_id: call for call in expected.tool_calls}
        for call in logged.tool_calls:
            try:
                if call.tool_call_id in bodies:
                    check_call_in_commit(call, bodies[call.tool_call_id], logged.version)
            except AssertionError as wrong:
                said.append(f"version {logged.version} says of a call: {wrong}")
        real, model = without_bodies(logged), without_bodies(expected)
        if real != model:
            lines = unified_diff(str(real).splitlines(), str(model).splitlines(), "log", "replay", lineterm="", n=1)
            said.append(f"version {logged.version}: " + "\n".join(list(lines)[:DIFFERENCE_LINES]))

    def _judge_version(self) -> None:
        """Hold against the replay all that was said of the version that it stands at."""
        version = self._replay.version
        for operation in self._reads.get(version, ()):
            self._judge_read(operation)
        for operation in self._undated.get(version, ()):
            if operation.asked.op in self._not_so and not self._wrong_in(operation):
                del self._not_so[operation.asked.op]
        for operation in self._unchanged.get(version, ()):
            self._judge_unchanged(operation)
        for operation in self._refused.get(version, ()):
            if operation.asked.op in self._not_due and self._is_due(operation):
                del self._not_due[operation.asked.op]

    def _judge_read(self, operation: Operation) -> None:
        wrong = self._wrong_in(operation)
        if wrong:
            self._found["reads_are_the_replay"].append(f"{operation}: {wrong}")

    def _wrong_in(self, operation: Operation) -> str:
        """What a read shows otherwise than the session stands at this version."""
        seen = operation.told.seen if operation.told and operation.told.seen else {}
        expected = seen_at(self._replay.state, operation.request)
        if expected is None:
            return "nobody wrote down what it has to show"
        wrong = [
            f"{name} {seen.get(name)} is not {expected.get(name)}"
            for name in sorted(expected.keys() | seen.keys())
            if seen.get(name) != expected.get(name)
        ]
        return "; ".join(wrong)

    def _judge_unchanged(self, operation: Operation) -> None:
        said, told = self._found["answers_without_a_commit_changed_nothing"], operation.told
        self._replay.state.present.is_lapsed = False
        try:
            answer = self._replay.unchanged(operation.request)
        except Refused as refused:
            said.append(f"{operation} was answered, but had to be refused: {refused.reason}")
            return
        grant = told.grant if told else None
        if answer is None:
            said.append(f"{operation} was answered without a commit, but changes something")
        elif grant is not None and tuple(grant) != (answer.run.run_id, answer.run.fencing_token):
            said.append(f"{operation} joined {grant}, not {answer.run}")
        elif told is not None and told.receipt != receipt_of(answer.receipt):
            said.append(f"{operation} was told {told.receipt}, not {receipt_of(answer.receipt)}")
        elif told is not None and grant is None and told.answer != digest_of(answer):
            said.append(f"{operation} was not told {answer}")

    def _is_due(self, operation: Operation) -> bool:
        """Whether a refusal is due at this version."""
        state, told, request = self._replay.state, operation.told, operation.request
        reason = told.reason if told else ""
        match reason:
            case "SESSION_NOT_FOUND":
                return not state.head.version and not _creates(request)
            case "SESSION_EXISTS":
                return bool(state.head.version)
            case "CURSOR_AHEAD":
                return (at_version_of(request) or 0) > state.head.version
            case "REQUEST_ID_REUSED":
                version = self._account.version_of_hash.get(hash_of(operation.asked.request_id), NEVER)
                maker = self._account.makers.get(version)
                return version <= state.head.version and (maker is None or operation not in maker.attempts)
            case _ if not operation.asked.request_id and operation.asked.method != "RenewRun":
                return False  # a read is refused for no other reason
            case _:
                return any(self._refuses(request, operation, is_lapsed=lapsed) for lapsed in (False, True))

    def _refuses(self, request: Any, operation: Operation, *, is_lapsed: bool) -> bool:
        told, state = operation.told, self._replay.state
        state.present.is_lapsed = is_lapsed
        try:
            if operation.asked.method == "RenewRun":
                runs.check_fence(state, request.fence)
            elif state.head.version or hasattr(request, "create_if_missing"):
                self._replay.unchanged(request)
        except Refused as refused:
            same = refused.reason != "VERSION_CONFLICT" or (told is not None and refused.metadata == told.details)
            return told is not None and refused.reason == told.reason and same
        return False


def _creates(request: Any) -> bool:
    """Whether a request makes its session where there is none."""
    named = request.DESCRIPTOR.fields_by_name
    return isinstance(request, CreateSessionRequest) or (
        "create_if_missing" in named and request.HasField("create_if_missing")
    )
