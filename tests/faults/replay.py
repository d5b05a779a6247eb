"""A session replayed: the model of the contract makes each change that a client asked for, in the order of the log.

What only the server decides, its clock and its ids, is taken from the log's commit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from faults.account import hash_of
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import CallerRole, Commit, Principal, SeqRange
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.run_pb2 import RUN_STATUS_EXPIRED, Run
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, Session
from lockstitch.v1.tool_call_pb2 import ToolCall
from lockstitch.v1.working_memory_pb2 import MemoryChange
from model import SYSTEM, Caller, Given, Refused, ledger, lifecycle, runs
from model.commits import answer_to, is_use, store, write
from model.requests import memory_change_of
from model.session import Present, State
from model.store import check


@dataclass
class Before:
    """What a commit is told apart from."""

    calls: dict[str, bytes]
    runs: dict[str, bytes]
    memories: dict[str, int]
    status: int


@dataclass
class Replay:
    """A session at the version that was replayed last."""

    caller: Caller
    session_id: str
    state: State = field(init=False)
    store_epoch: str = ""
    results: dict[str, ToolCall] = field(default_factory=dict)
    """Calls as they stood before a message brought their result, by that message's id."""
    removed: list[Message] = field(default_factory=list)
    """What the last change took back."""

    def __post_init__(self) -> None:
        self.state = State(Session(session_id=self.session_id, tenant_id=self.caller.tenant))

    @property
    def version(self) -> int:
        return self.state.head.version

    def change(self, request: Any, logged: Commit) -> tuple[Any, Commit]:
        """Make a change; gives the answer and the commit that it must have had. Raises Refused where it may not be."""
        state, before = self.state, self._before()
        if not state.head.version:
            self._begin(request)
        state.present.is_lapsed = _was_lapsed(logged)
        check(state, request)
        fence = runs.fence_of(request)
        state.begin_version(fence.run_id if fence else "")
        shown = self._write(request, given_by(logged))
        state.end_version(logged.commit_time, is_use=is_use(request))
        return self._answer(request, shown, of_commit=True), self._commit(self.caller, request, before)

    def change_by_server(self, logged: Commit) -> Commit:
        """Make a commit of the server's own: a run is lost, a life ends."""
        state, before, now = self.state, self._before(), logged.commit_time
        state.begin_version("")
        if logged.HasField("session"):
            lifecycle.expire(state, given_by(logged))
        elif state.active is not None:
            runs.lose(state, RUN_STATUS_EXPIRED, runs.LAPSED, now)
        state.end_version(now, is_use=False)
        made = self._commit(SYSTEM, None, before)
        made.request_id_hash = logged.request_id_hash  # of an id that only the server has
        return made

    def unchanged(self, request: Any) -> Any:
        """What a change answers here that changes nothing; None where it would change something. May raise Refused."""
        other = Replay(self.caller, self.session_id, store_epoch=self.store_epoch, results=dict(self.results))
        other.state = copied(self.state)
        check(other.state, request)
        fence = runs.fence_of(request)
        other.state.begin_version(fence.run_id if fence else "")
        begun = copied(other.state)
        shown = other._write(request, Given(now=Timestamp(), message_ids=("",) * 200, tool_call_ids=("",) * 200))
        if other.state != begun:
            return None
        other.state = copied(self.state)
        return other._answer(request, shown, of_commit=False)

    def _begin(self, request: Any) -> None:
        """The first change makes the session."""
        new = request if isinstance(request, pb.CreateSessionRequest) else request.create_if_missing
        head = self.state.head
        head.user_id = self.caller.subject if self.caller.role == "user" else new.user_id
        head.agent, head.status = new.agent, SESSION_STATUS_ACTIVE

    def _before(self) -> Before:
        state = self.state
        return Before(
            calls={call.tool_call_id: call.SerializeToString(deterministic=True) for call in state.calls},
            runs={run.run_id: run.SerializeToString(deterministic=True) for run in state.runs},
            memories={run_id: memory.version for run_id, memory in state.memories.items()},
            status=state.head.status,
        )

    def _write(self, request: Any, given: Given) -> Any:
        self.removed = []
        if isinstance(request, pb.RemoveMessagesRequest):
            self._take_back(request)
            if request.replacement:
                self._watch_results(lambda: store(self.state, _as_append(request), given))
            return None
        shown, repeats = self._watch_results(lambda: write(self.state, request, given, None))
        if repeats and changes_something(self.state):
            raise Refused("TOOL_CALL_ENDED")
        return shown

    def _watch_results(self, act: Callable[[], Any]) -> Any:
        """Remember how calls stood before messages that bring their results."""
        before = {call.tool_call_id: ToolCall.FromString(call.SerializeToString()) for call in self.state.calls}
        known = {call.tool_call_id: call.result_message_id for call in self.state.calls}
        done = act()
        for call in self.state.calls:
            if call.result_message_id and call.result_message_id != known.get(call.tool_call_id, ""):
                self.results[call.result_message_id] = before.get(call.tool_call_id) or _as_recorded(call)
        return done

    def _take_back(self, request: pb.RemoveMessagesRequest) -> None:
        """Calls that a removed message made go with it; those whose result is removed stand as before it."""
        state = self.state
        if request.WhichOneof("which") == "last":
            first = len(state.messages) - request.last
        else:
            first = next((p for p, m in enumerate(state.messages) if m.seq >= request.from_seq), len(state.messages))
        self.removed = state.messages[max(0, first) :]
        del state.messages[max(0, first) :]
        state.head.message_count = len(state.messages)
        gone = {message.message_id for message in self.removed} - {""}  # of what the log should have had
        state.calls = [
            self.results[call.result_message_id] if call.result_message_id in gone else call
            for call in state.calls
            if not call.message_id or call.message_id not in gone
        ]

    def _answer(self, request: Any, shown: Any, *, of_commit: bool) -> Any:
        if isinstance(request, pb.RemoveMessagesRequest):
            answer: Any = pb.RemoveMessagesResponse(removed_count=len(self.removed))
            for message in self.removed:
                answer.removed.add(removed_version=self.state.head.version).MergeFrom(message)
        elif isinstance(request, pb.CreateSessionRequest):
            answer = pb.CreateSessionResponse(session=self.state.head)
        else:
            answer = answer_to(request, self.state, shown)
        answer.receipt.CopyFrom(self.state.receipt(self.store_epoch, of_commit=of_commit))
        return answer

    def _commit(self, caller: Caller, request: Any, before: Before) -> Commit:
        """What the log and streams must show of the change that was made; its tool calls whole."""
        state = self.state
        made = Commit(
            version=state.head.version,
            request_id_hash=bytes.fromhex(hash_of(request.request_id)) if request is not None else b"",
            principal=Principal(subject=caller.subject, role=CallerRole.Value(f"CALLER_ROLE_{caller.role.upper()}")),
            run_id=state.under,
            commit_time=state.head.update_time,
            messages=[message for message in state.messages[-200:] if message.version == state.head.version],
            tool_calls=[call for call in state.calls if _packed(call) != before.calls.get(call.tool_call_id)],
            removed=_ranges(self.removed) if request is not None else (),
        )
        for run_id, memory in state.memories.items():
            if memory.version != before.memories.get(run_id, 0):
                made.memory.CopyFrom(memory_change_of(request) or MemoryChange())
                made.memory_run_id = run_id
        if made.version == 1 or isinstance(request, lifecycle.STATUS_CHANGES) or state.head.status != before.status:
            made.session.CopyFrom(state.head)
        changed = [run for run in state.runs if _packed(run) != before.runs.get(run.run_id)]
        if changed:
            made.run.CopyFrom(changed[-1])
        if len(changed) > 1:
            made.ended_run.CopyFrom(changed[0])
        return made


def given_by(logged: Commit) -> Given:
    """What the server decided of a commit."""
    return Given(
        now=logged.commit_time,
        run_id=logged.run.run_id,
        message_ids=tuple(message.message_id for message in logged.messages),
        tool_call_ids=tuple(
            call.tool_call_id for call in logged.tool_calls if call.requested_version == logged.version
        ),
    )


def copied(state: State) -> State:
    """A state that may be changed without changing this one; messages are never changed in place."""
    present = Present(is_lapsed=state.present.is_lapsed)
    present.activity.CopyFrom(state.present.activity)
    return State(
        head=_same(state.head),
        messages=list(state.messages),
        memories=dict(state.memories),
        calls=[_same(call) for call in state.calls],
        starters=dict(state.starters),
        runs=[_same(run) for run in state.runs],
        fenced=set(state.fenced),
        before_delete=state.before_delete,
        under=state.under,
        present=present,
    )


def changes_something(state: State) -> bool:
    """Whether the version that was begun has brought a message, which a repeated result may not stand beside."""
    return bool(state.messages) and state.messages[-1].version == state.head.version


def _was_lapsed(logged: Commit) -> bool:
    """Whether the run that a commit ended had no live lease: time is the server's to tell."""
    ended = logged.ended_run if logged.HasField("ended_run") else logged.run
    return ended.status == RUN_STATUS_EXPIRED


def _as_append(request: pb.RemoveMessagesRequest) -> pb.AppendRequest:
    return pb.AppendRequest(messages=request.replacement)


def _as_recorded(call: ToolCall) -> ToolCall:
    """A call as it was before it ended in the very commit that made it."""
    bare: ToolCall = _same(call)
    for name in ("result_json", "error", "result_message_id", "ended_version", "end_time"):
        bare.ClearField(name)
    bare.status = ledger.PENDING
    return bare


def _ranges(removed: list[Message]) -> list[SeqRange]:
    return [SeqRange(first_seq=removed[0].seq, last_seq=removed[-1].seq)] if removed else []


def _packed(message: ToolCall | Run) -> bytes:
    return message.SerializeToString(deterministic=True)


def _same(message: Any) -> Any:
    return type(message).FromString(message.SerializeToString())
