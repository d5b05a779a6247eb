"""Commits on the way out."""

from lockstitch.v1 import commit_pb2, working_memory_pb2
from lockstitch_server.api import checks
from lockstitch_server.api.convert import messages, runs, sessions, tool_calls
from lockstitch_server.model import CallerRole, Commit, Method
from lockstitch_server.service import budget

_ROLES = {
    CallerRole.USER: commit_pb2.CALLER_ROLE_USER,
    CallerRole.ENGINE: commit_pb2.CALLER_ROLE_ENGINE,
    CallerRole.ADMIN: commit_pb2.CALLER_ROLE_ADMIN,
    CallerRole.SYSTEM: commit_pb2.CALLER_ROLE_SYSTEM,
}


def fill(target: commit_pb2.Commit, commit: Commit, shown: frozenset[int] | None = None) -> None:
    """Write a commit, each content once; where `shown` is given, of its messages only these seqs."""
    target.version = commit.version
    target.request_id_hash = commit.request_id_hash
    target.principal.subject = commit.principal.subject
    target.principal.role = _ROLES[commit.principal.role]
    target.run_id = commit.run_id
    target.traceparent = commit.traceparent
    checks.to_timestamp(commit.commit_time, target.commit_time)
    for message in commit.messages:
        if shown is not None and message.seq not in shown:
            continue
        messages.fill(target.messages.add(), message)
    if commit.memory_change is not None:
        target.memory.CopyFrom(working_memory_pb2.MemoryChange.FromString(commit.memory_change))
        target.memory_run_id = commit.memory_run_id
    # Calls that one commit touches may together hold more than an answer does, which their own lists give.
    room = tool_calls.Room(budget.ANSWER_BYTES - budget.SESSION_BYTES - target.ByteSize())
    for tool_call in commit.tool_calls:
        tool_calls.fill_without_messages(target.tool_calls.add(), tool_call, room)
    target.erased = commit.erased
    if commit.removed is not None:
        first_seq, last_seq = commit.removed
        target.removed.add(first_seq=first_seq, last_seq=last_seq)
    _fill_states(target, commit)


def _fill_states(target: commit_pb2.Commit, commit: Commit) -> None:
    """Write what a commit made of the session, its runs and its checkpoints."""
    if commit.run is not None:
        runs.fill(target.run, commit.run)
    if commit.ended_run is not None:
        runs.fill(target.ended_run, commit.ended_run)
    for ref in commit.checkpoints:
        target.checkpoints.add(
            namespace=ref.namespace, checkpoint_id=ref.checkpoint_id, bytes=ref.bytes, deleted=ref.deleted
        )
    if commit.method is Method.FORK_SESSION and commit.session is not None:
        sessions.fill(target.base.session, commit.session)
        target.base.version = commit.session.version
        target.base.last_seq = commit.session.last_seq
    elif commit.session is not None:
        sessions.fill(target.session, commit.session)
