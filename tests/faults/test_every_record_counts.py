"""Nothing that a history says can be altered unnoticed: each of its records is damaged in each way, one at a time."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from faults.account import account_of
from faults.check import broken_rules
from faults.damages import Damaged, commit_in
from faults.history import Frame, Invoked, Logged, Record, Returned
from lockstitch.v1.commit_pb2 import Commit

Altered: TypeAlias = Iterator[tuple[Record, Record | None, str]]
"""What is altered, what it becomes (nothing where it is left out), and how."""

OTHER_DIGEST = "0" * 16
REASONS = ("VERSION_CONFLICT", "RUN_FENCED", "RUN_ENDED", "SESSION_CLOSED", "TOOL_CALL_ENDED", "REQUEST_ID_REUSED")


def _other(value: Any) -> Any:
    """Another value of the kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return OTHER_DIGEST
        case []:
            return ["made-up"]
        case _:
            return value[:-1]


def receipts(d: Damaged) -> Altered:
    """Each field of each receipt; but a server that lost its connection may replay to itself."""
    for told in d.all(Returned, lambda told: told.receipt is not None):
        receipt: dict[str, Any] = dict(told.receipt or {})
        for name, value in receipt.items():
            if (name, value) != ("replayed", False):
                changed: Any = receipt | {name: _other(value)}
                yield told, replace(told, receipt=changed), f"{name} of op {told.op}"


def answers(d: Damaged) -> Altered:
    """The resource beside each receipt, where nothing in it is renewed without a commit."""
    for told in d.all(Returned, lambda told: bool(told.answer) and told.grant is None):
        yield told, replace(told, answer=OTHER_DIGEST), f"answer of op {told.op}"


def reads(d: Damaged) -> Altered:
    """Each thing that a read showed; of a list each row, left out, given twice and given otherwise."""
    for told in d.all(Returned, lambda told: told.seen is not None and told.grant is None):
        seen: dict[str, Any] = dict(told.seen or {})
        for name, value in seen.items():
            if (name, value) == ("more", False):
                continue  # a page behind the last one may be empty
            for other in _otherwise(value) if isinstance(value, list) else [_other(value)]:
                changed: Any = seen | {name: other}
                yield told, replace(told, seen=changed), f"{name} of op {told.op}"


def _otherwise(rows: list[Any]) -> Iterator[list[Any]]:
    for place, row in enumerate(rows):
        yield rows[:place] + rows[place + 1 :]
        yield [*rows[:place], row, *rows[place:]]
        yield [*rows[:place], [*row[:-1], OTHER_DIGEST], *rows[place + 1 :]]


def outcomes(d: Damaged) -> Altered:
    """Each answer refused, for each reason there is for a change; each refusal refused for another."""
    changes = {asked.op for asked in d.all(Invoked, lambda asked: bool(asked.request_id))}
    for told in d.all(Returned, lambda told: told.outcome != "unknown" and told.op in changes):
        for reason in REASONS:
            if reason != told.reason:
                refused = Returned(at=told.at, op=told.op, outcome="refused", code="FAILED", reason=reason)
                yield told, refused, f"{reason} for op {told.op}"


def frames(d: Damaged) -> Altered:
    """Each commit of each stream, left out and given otherwise."""
    for frame in d.all(Frame, lambda frame: frame.frame == "commit"):
        named = f"version {frame.version} of stream {frame.stream}"
        yield frame, None, named
        yield frame, replace(frame, version=frame.version + 1), f"version of {named}"
        yield frame, replace(frame, seqs=[*frame.seqs, 99]), f"seqs of {named}"
        yield frame, replace(frame, digest=OTHER_DIGEST), f"digest of {named}"
        yield frame, replace(frame, request_id_hash=OTHER_DIGEST), f"request of {named}"


def commits(d: Damaged) -> Altered:
    """Each commit of the log, left out and edited."""
    for logged in d.all(Logged):
        version = commit_in(logged).version
        yield logged, None, f"version {version}"
        for name, edit in EDITS.items():
            commit = commit_in(logged)
            edit(commit)
            if commit != commit_in(logged):
                packed = b64encode(commit.SerializeToString()).decode()
                yield logged, replace(logged, commit=packed), f"{name} of version {version}"


def _first(items: Any, name: str) -> None:
    """Let the first have another value of a field."""
    for item in items[:1]:
        setattr(item, name, _other(getattr(item, name)))


EDITS: dict[str, Callable[[Commit], object]] = {
    "principal": lambda commit: setattr(commit.principal, "subject", "another"),
    "request": lambda commit: setattr(commit, "request_id_hash", b"0" * 16),
    "run": lambda commit: setattr(commit, "run_id", "another"),
    "time": lambda commit: setattr(commit.commit_time, "nanos", commit.commit_time.nanos + 1000),
    "messages": lambda commit: commit.ClearField("messages"),
    "a message's text": lambda commit: _first([part for m in commit.messages for part in m.parts], "text"),
    "a message's seq": lambda commit: _first(commit.messages, "seq"),
    "a message's role": lambda commit: _first(commit.messages, "role"),
    "a message's id": lambda commit: _first(commit.messages, "message_id"),
    "calls": lambda commit: commit.ClearField("tool_calls"),
    "a call's status": lambda commit: _first(commit.tool_calls, "status"),
    "removals": lambda commit: commit.ClearField("removed"),
    "memory": lambda commit: commit.ClearField("memory"),
    "the session": lambda commit: commit.ClearField("session"),
    "a run's grant": lambda commit: commit.ClearField("run"),
    "a run's end": lambda commit: commit.ClearField("ended_run"),
    "a run's token": lambda commit: _first([commit.run] if commit.HasField("run") else [], "fencing_token"),
}


@pytest.mark.parametrize("altered", [receipts, answers, reads, outcomes, frames, commits], ids=lambda of: of.__name__)
def test_what_is_altered_breaks_a_rule(story: list[Record], altered: Callable[[Damaged], Altered]) -> None:
    unnoticed, count = [], 0
    for record, becomes, how in altered(Damaged(story)):
        damaged, count = Damaged(story), count + 1
        if becomes is None:
            damaged.drop(record)
        else:
            damaged.insert_behind(record, becomes)
            damaged.drop(record)
        if not broken_rules(account_of(damaged.records)):
            unnoticed.append(how)
    assert count > 10
    assert unnoticed == []
