"""What an answer is remembered by: ids, versions and digests, of a few bytes each."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from google.protobuf.message import Message as Proto

from faults.history import Receipt, Row, Seen
from lockstitch.v1.commit_pb2 import Commit, CommitReceipt
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.run_pb2 import Run
from lockstitch.v1.tool_call_pb2 import ToolCall

DIGEST_BYTES = 8


def digest_of(message: Proto) -> str:
    """A digest of all that a message says."""
    return sha256(message.SerializeToString(deterministic=True)).digest()[:DIGEST_BYTES].hex()


def message_row(message: Message) -> Row:
    return message.seq, message.message_id, digest_of(message)


def call_row(call: ToolCall) -> Row:
    return call.tool_call_id, int(call.status), digest_of(call)


def run_row(run: Run) -> Row:
    """A run without its lease, which is renewed without a commit."""
    bare = Run()
    bare.CopyFrom(run)
    bare.ClearField("lease_expire_time")
    return run.run_id, int(run.status), run.fencing_token, digest_of(bare)


def commit_row(commit: Commit) -> Row:
    return commit.version, digest_of(commit)


def receipt_of(receipt: CommitReceipt) -> Receipt:
    return Receipt(
        version=receipt.version,
        first_seq=receipt.first_seq,
        last_seq=receipt.last_seq,
        message_ids=list(receipt.message_ids),
        tool_call_ids=list(receipt.tool_call_ids),
        memory_version=receipt.memory_version,
        commit_time=receipt.commit_time.ToNanoseconds(),
        store_epoch=receipt.store_epoch,
        replayed=receipt.replayed,
    )


_LISTED: dict[str, Callable[[Any], Row]] = {
    "messages": message_row,
    "open_tool_calls": call_row,
    "recent_tool_calls": call_row,
    "tool_calls": call_row,
    "runs": run_row,
    "commits": commit_row,
}


def seen_in(answer: Any) -> Seen:
    """What a read gave."""
    named, seen = answer.DESCRIPTOR.fields_by_name, Seen()
    if "session" in named:
        session = answer.session
        seen["version"], seen["last_seq"] = session.version, session.last_seq
        seen["memory_version"], seen["session"] = session.memory_version, digest_of(session)
    if "as_of_version" in named:
        seen["version"] = answer.as_of_version
    if "memory" in named and answer.HasField("memory"):
        seen["memory"] = digest_of(answer.memory)
        seen["memory_version"] = answer.memory.version
    for name, row in _LISTED.items():
        if name in named:
            seen[name] = [row(item) for item in getattr(answer, name)]  # type: ignore[literal-required]  # one of Seen's
    for name in ("run", "last_run"):
        if name in named and answer.HasField(name):
            seen["runs"] = [run_row(getattr(answer, name))]
    if "next_page_token" in named:
        seen["more"] = bool(answer.next_page_token)
    return seen
