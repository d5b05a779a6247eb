"""Ways to damage a recorded history."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from faults.account import hash_of
from faults.history import Final, Frame, Invoked, Logged, Opened, Record, Returned
from lockstitch.v1.commit_pb2 import Commit

Kind = TypeVar("Kind", bound=Record)


class Damaged:
    """A copy of a history, to be changed at will."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)

    def all(self, kind: type[Kind], keep: Callable[[Kind], bool] = lambda _: True) -> list[Kind]:
        return [record for record in self.records if isinstance(record, kind) and keep(record)]

    def change(self, record: Record, **fields: Any) -> None:
        self.records[self._place(record)] = replace(record, **fields)

    def drop(self, *records: Record) -> None:
        for record in records:
            del self.records[self._place(record)]

    def insert_behind(self, record: Record, *more: Record) -> None:
        place = self._place(record) + 1
        self.records[place:place] = more

    def swap(self, one: Record, other: Record) -> None:
        here, there = self._place(one), self._place(other)
        self.records[here], self.records[there] = other, one

    def _place(self, record: Record) -> int:
        return next(place for place, known in enumerate(self.records) if known is record)

    def asked(self, request_id: str, attempt: int = 0) -> Invoked:
        return self.all(Invoked, lambda record: record.request_id == request_id)[attempt]

    def told(self, request_id: str, attempt: int = 0) -> Returned:
        op = self.asked(request_id, attempt).op
        return self.all(Returned, lambda record: record.op == op)[0]

    def asked_for(self, method: str, place: int = 0) -> Invoked:
        return self.all(Invoked, lambda record: record.method == method)[place]

    def told_of(self, method: str, place: int = 0) -> Returned:
        op = self.asked_for(method, place).op
        return self.all(Returned, lambda record: record.op == op)[0]

    def change_receipt(self, told: Returned, **fields: Any) -> None:
        assert told.receipt is not None
        self.change(told, receipt={**told.receipt, **fields})

    def change_seen(self, told: Returned, **fields: Any) -> None:
        assert told.seen is not None
        self.change(told, seen={**told.seen, **fields})

    def acknowledge(self, asked: Invoked, like: Returned) -> None:
        """Let a call have the answer of another one."""
        told = self.all(Returned, lambda record: record.op == asked.op)[0]
        self.records[self._place(told)] = replace(like, op=asked.op, at=told.at)

    def logged(self, version: int) -> Logged:
        return self.all(Logged, lambda record: commit_in(record).version == version)[0]

    def version_of(self, request_id: str) -> int:
        receipt = self.told(request_id).receipt
        assert receipt is not None
        return receipt["version"]

    def edit_log(self, version: int, edit: Callable[[Commit], object]) -> None:
        record = self.logged(version)
        commit = commit_in(record)
        edit(commit)
        self.change(record, commit=b64encode(commit.SerializeToString()).decode())

    def add_to_log(self, version: int) -> None:
        """Let the log end with a copy of one of its commits."""
        last = self.all(Logged)[-1]
        commit = commit_in(self.logged(version))
        commit.version = commit_in(last).version + 1
        self.insert_behind(last, replace(last, commit=b64encode(commit.SerializeToString()).decode()))
        (final,) = self.all(Final)
        self.change(final, version=commit.version)

    def ask_otherwise(self, asked: Invoked, edit: Callable[[Any], object], kind: Any) -> None:
        """Let a client have asked for something else."""
        request = kind.FromString(b64decode(asked.request))
        edit(request)
        self.change(asked, request=b64encode(request.SerializeToString()).decode())

    def streams(self, reader: str) -> list[Opened]:
        return self.all(Opened, lambda record: record.reader == reader)

    def commits(self, stream: Opened) -> list[Frame]:
        return self.all(Frame, lambda record: record.stream == stream.stream and record.frame == "commit")

    def frames(self, stream: Opened) -> list[Frame]:
        return self.all(Frame, lambda record: record.stream == stream.stream)


def commit_in(record: Logged) -> Commit:
    return Commit.FromString(b64decode(record.commit))


def of(request_id: str) -> Callable[[Commit], object]:
    """Let a commit be of another request."""

    def edit(commit: Commit) -> None:
        commit.request_id_hash = bytes.fromhex(hash_of(request_id))

    return edit
