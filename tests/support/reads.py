"""Every read of a session, held against the model; pages of drawn sizes, and the commits replayed."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from lockstitch.v1 import commit_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import CALLER_ROLE_SYSTEM
from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, ROLE_USER
from lockstitch.v1.run_pb2 import RUN_STATUS_CANCELLED, RUN_STATUS_RUNNING
from lockstitch.v1.run_service_pb2 import GetRunRequest, GetRunResponse, ListRunsRequest
from lockstitch.v1.session_pb2 import SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_PENDING, TOOL_CALL_STATUS_SUCCEEDED, ToolCall
from model import Caller, Refused, memory, reads, runs
from support import checkpoint_reads
from support.checkpoint_reads import check_checkpoints
from support.lockstep import Lockstep

RECENT_TOOL_CALLS = 20
READS = (
    pb.GetSessionRequest,
    pb.GetMemoryRequest,
    pb.ListMessagesRequest,
    pb.ListToolCallsRequest,
    pb.ListMemoryVersionsRequest,
    pb.ListCommitsRequest,
    pb.GetContextRequest,
    ListRunsRequest,
)


def check_reads(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    """Read all there is, as this caller may; by all readers the same session."""
    check_sessions(lockstep, caller, sizes)
    error = lockstep.error_for(caller, session_id)
    if error is not None:
        for kind in READS:
            lockstep.same(lockstep.ask(caller, kind(session_id=session_id)), error, f"{caller} {session_id}")
        for of_engines in checkpoint_reads.READS:
            expected = checkpoint_reads.ROLE_NOT_ALLOWED if caller.role == "user" else error
            lockstep.same(lockstep.ask(caller, of_engines(session_id=session_id)), expected, f"{caller} {session_id}")
    timeline = lockstep.model.sessions.get((caller.tenant, session_id))
    try:
        lockstep.model.find(caller, session_id)
    except Refused:
        shown = pb.GetSessionRequest(session_id=session_id, show_deleted=True)
        lockstep.same(lockstep.ask(caller, shown), error, f"{caller} {session_id}, show_deleted")
        return
    assert timeline is not None
    check_session(lockstep, caller, session_id)
    if error is None:
        check_messages(lockstep, caller, session_id, sizes)
        check_calls(lockstep, caller, session_id, sizes)
        check_runs(lockstep, caller, session_id, sizes)
        check_context(lockstep, caller, session_id)
        check_checkpoints(lockstep, caller, session_id, sizes, paged)
        check_commits(lockstep, caller, session_id, sizes)


def check_session(lockstep: Lockstep, caller: Caller, session_id: str) -> None:
    """Now, and as it was after each commit."""
    timeline, what = lockstep.model.find(caller, session_id), f"{caller} {session_id}"
    now = timeline.states[-1]
    asked = pb.GetSessionRequest(session_id=session_id, show_deleted=True, include_open_tool_calls=True)
    for recent in (0, 1, 3, 1000):
        asked.recent_messages, asked.include_memory = recent, recent > 0
        expected = pb.GetSessionResponse(
            session=reads.head(now),
            memory=memory.shown(now.memory()) if recent else None,
            messages=now.messages[-recent:] if recent else [],
            open_tool_calls=reads.open_calls(now),
        )
        lockstep.same(lockstep.read(caller, asked), expected, what)
    for version, state in enumerate(timeline.states[1:], start=1):
        asked.at_version = version
        expected = pb.GetSessionResponse(
            session=state.head,
            memory=memory.shown(state.memory()),
            messages=state.messages,
            open_tool_calls=reads.open_calls(state),
        )
        lockstep.same(lockstep.read(caller, asked), expected, f"{what} at {version}")


def check_sessions(lockstep: Lockstep, caller: Caller, sizes: Sequence[int]) -> None:
    for request in (
        pb.ListSessionsRequest(),
        pb.ListSessionsRequest(show_deleted=True),
        pb.ListSessionsRequest(user_id="ann", labels={"k": "v"}),
        pb.ListSessionsRequest(forked_from="s1"),
        pb.ListSessionsRequest(statuses=[SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED]),
    ):
        expected = reads.sessions(lockstep.model, caller, request)
        lockstep.same(paged(lockstep, caller, request, "sessions", sizes), expected, f"{caller} {request}")


def check_calls(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    state = lockstep.model.find(caller, session_id).states[-1]
    ended = [TOOL_CALL_STATUS_PENDING, TOOL_CALL_STATUS_SUCCEEDED]
    for request in (
        pb.ListToolCallsRequest(session_id=session_id),
        pb.ListToolCallsRequest(session_id=session_id, statuses=ended, name="search"),
        *(pb.ListToolCallsRequest(session_id=session_id, run_id=run.run_id) for run in state.runs[-2:]),
    ):
        got = paged(lockstep, caller, request, "tool_calls", sizes)
        lockstep.same(got, reads.tool_calls(state, request), f"{caller} {request}")


def check_runs(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    """Runs with their own memories, and the session's beside them."""
    timeline, what = lockstep.model.find(caller, session_id), f"{caller} {session_id}"
    state = timeline.states[-1]
    for asked in (
        ListRunsRequest(session_id=session_id),
        ListRunsRequest(session_id=session_id, statuses=[RUN_STATUS_RUNNING, RUN_STATUS_CANCELLED]),
    ):
        lockstep.same(paged(lockstep, caller, asked, "runs", sizes), reads.runs_of(state, asked), what)
    for run_id in ("", *(run.run_id for run in state.runs)):
        if run_id:
            got = lockstep.read(caller, GetRunRequest(session_id=session_id, run_id=run_id))
            lockstep.same(got, GetRunResponse(run=runs.shown(state, run_id)), what)
        got = lockstep.read(caller, pb.GetMemoryRequest(session_id=session_id, run_id=run_id))
        lockstep.same(got, pb.GetMemoryResponse(memory=memory.shown(state.memory(run_id))), f"{what} {run_id}")
        versions = pb.ListMemoryVersionsRequest(session_id=session_id, run_id=run_id)
        got = paged(lockstep, caller, versions, "memories", sizes)
        lockstep.same(got, reads.memories(timeline, run_id), f"{what} {run_id}")
    nobodys = GetRunRequest(session_id=session_id, run_id="nobody's")
    lockstep.same(lockstep.ask(caller, nobodys), ("NOT_FOUND", "RUN_NOT_FOUND", {}), what)


def check_messages(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    state = lockstep.model.find(caller, session_id).states[-1]
    for request in (
        pb.ListMessagesRequest(session_id=session_id),
        pb.ListMessagesRequest(session_id=session_id, descending=True),
        pb.ListMessagesRequest(session_id=session_id, roles=[ROLE_USER, ROLE_TOOL], after_seq=1),
        pb.ListMessagesRequest(session_id=session_id, roles=[ROLE_ASSISTANT], before_seq=5, descending=True),
        *(pb.ListMessagesRequest(session_id=session_id, run_id=run.run_id) for run in state.runs[-2:]),
    ):
        got = paged(lockstep, caller, request, "messages", sizes, as_of_version=state.head.version)
        lockstep.same(got, reads.messages(state, request), f"{caller} {request}")


def check_context(lockstep: Lockstep, caller: Caller, session_id: str) -> None:
    state = lockstep.model.find(caller, session_id).states[-1]
    ended = [call for call in state.calls if call not in reads.open_calls(state)]
    for most in (0, 1, 2, 3, 5):
        messages = reads.context(state, most or 200)
        expected = pb.GetContextResponse(
            session=reads.head(state),
            memory=memory.shown(state.memory()),
            last_run=runs.shown(state, state.runs[-1].run_id) if state.runs else None,
            messages=messages,
            open_tool_calls=reads.open_calls(state),
            recent_tool_calls=ended[-RECENT_TOOL_CALLS:],
            as_of_version=state.head.version,
            truncated=len(messages) < len(state.messages),
        )
        got = lockstep.read(caller, pb.GetContextRequest(session_id=session_id, max_messages=most))
        lockstep.same(got, expected, f"{caller} {session_id} max_messages={most}")


def check_commits(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    """The log is the model's, and replayed it gives what reads give."""
    timeline = lockstep.model.find(caller, session_id)
    request = pb.ListCommitsRequest(session_id=session_id)
    commits: list[commit_pb2.Commit] = paged(lockstep, caller, request, "commits", sizes)
    backwards = pb.ListCommitsRequest(session_id=session_id, descending=True)
    lockstep.same(paged(lockstep, caller, backwards, "commits", sizes), commits[::-1], "commits, newest first")
    later = pb.ListCommitsRequest(session_id=session_id, after_version=1)
    lockstep.same(paged(lockstep, caller, later, "commits", sizes), commits[1:], "commits after version 1")

    for version, got in enumerate(commits, start=1):
        expected = reads.commit(timeline, version)
        bodies = {call.tool_call_id: call for call in expected.tool_calls}
        for call in got.tool_calls:
            check_call_in_commit(call, bodies.get(call.tool_call_id, ToolCall()), version)
        if got.principal.role == CALLER_ROLE_SYSTEM:
            expected.request_id_hash = got.request_id_hash  # of an id that only the server has
        lockstep.same(without_bodies(got), without_bodies(expected), f"{caller} {session_id} commit {version}")
    assert len(commits) == len(timeline.log)
    assert len({commit.request_id_hash for commit in commits}) == len(commits)

    # A fork's beginning is read, not replayed.
    state, base = timeline.states[-1], timeline.states[1 if commits[0].HasField("base") else 0]
    told = [message for commit in commits for message in commit.messages]
    lockstep.same(base.messages + told, state.messages, "messages replayed")
    memories: dict[str, memory.Values] = {run_id: values for run_id, (values, _) in base.memories.items()}
    for commit in commits:
        if commit.HasField("memory"):
            memories[commit.memory_run_id] = memory.after(memories.get(commit.memory_run_id, {}), commit.memory)
    known = {run_id: values for run_id, (values, _) in state.memories.items()}
    lockstep.same(memories, known, "memory replayed")
    ledgers = (base.calls, *(commit.tool_calls for commit in commits))
    calls = {call.tool_call_id: bare(call) for ledger in ledgers for call in ledger}
    lockstep.same(calls, {call.tool_call_id: bare(call) for call in state.calls}, "tool calls replayed")


def check_call_in_commit(got: ToolCall, whole: ToolCall, version: int) -> None:
    """Arguments and result are there once: in the message that holds them, else in the commit that brought them."""
    has_arguments = not whole.message_id and whole.requested_version == version
    has_result = not whole.result_message_id and whole.ended_version == version
    assert got.arguments_json == (whole.arguments_json if has_arguments else ""), (got, whole)
    assert got.result_json == (whole.result_json if has_result else ""), (got, whole)
    assert got.error in ({whole.error} if not whole.result_message_id else {whole.error, ""}), (got, whole)


def bare(call: ToolCall) -> ToolCall:
    shown = ToolCall.FromString(call.SerializeToString())
    for name in ("arguments_json", "result_json", "error"):
        shown.ClearField(name)
    return shown


def without_bodies(commit: commit_pb2.Commit) -> commit_pb2.Commit:
    """Calls by id, without what check_call_in_commit looks at; a change without what only answers have."""
    shown = commit_pb2.Commit.FromString(commit.SerializeToString())
    calls = sorted((bare(call) for call in commit.tool_calls), key=lambda call: call.tool_call_id)
    del shown.tool_calls[:]
    shown.tool_calls.extend(calls)
    return shown


def paged(
    lockstep: Lockstep, caller: Caller, request: Any, name: str, sizes: Sequence[int], **each: object
) -> list[Any]:
    """Read page by page, the pages of these sizes in turn."""
    items: list[Any] = []
    for size in cycle(sizes):
        request.page_size = size
        page = lockstep.read(caller, request)
        assert len(getattr(page, name)) <= size
        assert all(getattr(page, field) == value for field, value in each.items())
        items.extend(getattr(page, name))
        if not page.next_page_token:
            return items
        request.page_token = page.next_page_token
    raise AssertionError
