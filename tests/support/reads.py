"""Every read of a session, held against the model; pages of drawn sizes, and the commits replayed."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from lockstitch.v1 import commit_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, ROLE_USER
from lockstitch.v1.session_pb2 import SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_PENDING, TOOL_CALL_STATUS_SUCCEEDED, ToolCall
from model import Caller, memory, reads
from support.lockstep import Lockstep

RECENT_TOOL_CALLS = 20


def check_reads(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    """Read all there is, as this caller may; by all readers the same session."""
    error = lockstep.error_for(caller, session_id)
    if error is not None:
        for kind in (pb.GetSessionRequest, pb.ListMessagesRequest, pb.ListCommitsRequest, pb.GetContextRequest):
            lockstep.same(lockstep.ask(caller, kind(session_id=session_id)), error, f"{caller} {session_id}")
        return
    timeline = lockstep.model.find(caller, session_id)
    state = timeline.states[-1]
    shown_memory = memory.shown(state.memory, state.head.memory_version)
    what = f"{caller} {session_id}"

    for recent in (0, 1, 3, 1000):
        got = lockstep.read(
            caller,
            pb.GetSessionRequest(
                session_id=session_id, recent_messages=recent, include_memory=recent > 0, include_open_tool_calls=True
            ),
        )
        expected = pb.GetSessionResponse(
            session=reads.head(state),
            memory=shown_memory if recent else None,
            messages=state.messages[-recent:] if recent else [],
            open_tool_calls=reads.open_calls(state),
        )
        lockstep.same(got, expected, what)
    got = lockstep.read(caller, pb.GetMemoryRequest(session_id=session_id))
    lockstep.same(got, pb.GetMemoryResponse(memory=shown_memory), what)

    check_messages(lockstep, caller, session_id, sizes)
    ended = [TOOL_CALL_STATUS_PENDING, TOOL_CALL_STATUS_SUCCEEDED]
    for of_calls in (
        pb.ListToolCallsRequest(session_id=session_id),
        pb.ListToolCallsRequest(session_id=session_id, statuses=ended, name="search"),
    ):
        lockstep.same(paged(lockstep, caller, of_calls, "tool_calls", sizes), reads.tool_calls(state, of_calls), what)
    for of_sessions in (
        pb.ListSessionsRequest(),
        pb.ListSessionsRequest(user_id="ann", labels={"k": "v"}),
        pb.ListSessionsRequest(statuses=[SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED]),
    ):
        expected_sessions = reads.sessions(lockstep.model, caller, of_sessions)
        lockstep.same(paged(lockstep, caller, of_sessions, "sessions", sizes), expected_sessions, what)
    check_context(lockstep, caller, session_id)
    check_commits(lockstep, caller, session_id, sizes)


def check_messages(lockstep: Lockstep, caller: Caller, session_id: str, sizes: Sequence[int]) -> None:
    state = lockstep.model.find(caller, session_id).states[-1]
    for request in (
        pb.ListMessagesRequest(session_id=session_id),
        pb.ListMessagesRequest(session_id=session_id, descending=True),
        pb.ListMessagesRequest(session_id=session_id, roles=[ROLE_USER, ROLE_TOOL], after_seq=1),
        pb.ListMessagesRequest(session_id=session_id, roles=[ROLE_ASSISTANT], before_seq=5, descending=True),
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
            memory=memory.shown(state.memory, state.head.memory_version),
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
        lockstep.same(without_bodies(got), without_bodies(expected), f"{caller} {session_id} commit {version}")
    assert len(commits) == len(timeline.log)

    state = timeline.states[-1]
    lockstep.same([message for commit in commits for message in commit.messages], state.messages, "messages replayed")
    values: memory.Values = {}
    for commit in commits:
        values = memory.after(values, commit.memory) if commit.HasField("memory") else values
    lockstep.same(values, state.memory, "memory replayed")
    calls = {call.tool_call_id: bare(call) for commit in commits for call in commit.tool_calls}
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
