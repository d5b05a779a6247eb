"""The log of a session, and what a request adds to it."""

from copy import deepcopy
from typing import Any

from lockstitch.v1 import admin_service_pb2 as a
from lockstitch.v1 import checkpoint_service_pb2 as c
from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.run_pb2 import RUN_STATUS_EXPIRED, Run
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_DELETED, Session
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallChange
from model import SYSTEM, Caller, Given, Refused, checkpoints, drafts, ledger, lifecycle, memory, runs
from model.requests import memory_change_of
from model.session import State

ANSWERS = {name: getattr(module, name) for module in (pb, r, c) for name in dir(module) if name.endswith("Response")}


class Timeline:
    """A session's states by version, who asked for each, and what each request_id was answered."""

    def __init__(self, head: Session) -> None:
        self.states = [State(head)]
        self.log: list[tuple[Caller, Any]] = []
        self.records: dict[str, tuple[Any, Any]] = {}
        self.purged_by: tuple[str, a.PurgeSessionResponse] | None = None

    @property
    def is_purged(self) -> bool:
        """Whether its content is gone: from its purge_time on, whether or not the sweeper has come by."""
        return self.purged_by is not None or self.states[-1].present.is_gone

    def add(self, caller: Caller, request: Any, states: list[State]) -> None:
        """Take over the states that a request made; all but the last are the server's own commits."""
        self.states += states
        self.log += [(SYSTEM, None)] * (len(states) - 1) + [(caller, request)]

    def sweep(self, given: Given, *, loses_drafts: bool, loses_run: bool) -> None:
        """What the sweeper commits, where it gives up drafts at once, or a run whose lease has run out."""
        state = deepcopy(self.states[-1])
        if state.present.is_gone:
            self.purged_by = "server:", a.PurgeSessionResponse()
        if state.head.status == SESSION_STATUS_DELETED:
            return
        made = lose_drafts(state, None, given) if loses_drafts else []
        if state.active and state.present.is_lapsed and loses_run:
            made += lose_drafts(state, state.head.active_run_id, given)
            state.begin_version("")
            now = given.of_server(state.head.version).now
            runs.lose(state, RUN_STATUS_EXPIRED, runs.LAPSED, now)
            state.end_version(now, is_use=False)
            made.append(deepcopy(state))
        if state.head.status == SESSION_STATUS_ACTIVE and state.expired:
            made += lose_drafts(state, None, given)
            state.begin_version("")
            now = given.of_server(state.head.version).now
            lifecycle.expire(state, given._replace(now=now))
            state.end_version(now, is_use=False)
            made.append(deepcopy(state))
        self.states += made
        self.states[-1] = state  # drafts without any text go without a commit
        self.log += [(SYSTEM, None)] * len(made)


def lose_drafts(state: State, under: str | None, given: Given) -> list[State]:
    """Lose drafts, each in a commit of its own; gives the states that those leave."""
    return [deepcopy(state) for name in drafts.lost(state, under) if drafts.lose(state, name, given)]


def commit(timeline: Timeline, request: Any, given: Given, source: State | None = None) -> tuple[list[State], Any]:
    """The states that a request makes, none where it changes nothing, and its answer."""
    before, fence = deepcopy(timeline.states[-1]), runs.fence_of(request)
    made: list[State] = []
    if runs.takes_over(before, request):
        made = lose_drafts(before, before.head.active_run_id, given)
    elif lifecycle.ends(before, request):
        made = lose_drafts(before, None, given)
    before.begin_version(fence.run_id if fence else "")
    state = deepcopy(before)
    shown, repeats = write(state, request, given, source)
    # Any content makes a session that was missing; to copy nothing does not.
    is_news = state != before or not (timeline.log or isinstance(request, c.CopyCheckpointsRequest))
    if is_news and repeats:
        raise Refused("TOOL_CALL_ENDED")
    if is_news:
        state.end_version(given.now, is_use=is_use(request))
    else:
        timeline.states[-1].present.writes = state.present.writes
    answer = answer_to(request, state if is_news else timeline.states[-1], shown)
    shows = state if is_news else timeline.states[-1]
    answer.receipt.CopyFrom(shows.receipt(given.store_epoch, of_commit=is_news))
    if not shows.head.version:
        answer.receipt.commit_time.CopyFrom(given.now)
    return [*made, state] if is_news else [], answer


def is_use(request: Any) -> bool:
    return not isinstance(request, lifecycle.STATUS_CHANGES + checkpoints.CHANGES)


def write(state: State, request: Any, given: Given, source: State | None) -> tuple[ToolCall | Run | int | None, bool]:
    """Do what is asked for; gives what the answer shows, and whether a message only repeats an outcome."""
    shown: ToolCall | Run | int | None = None
    repeats = False
    match request:
        case pb.UpdateToolCallRequest() | pb.CompleteToolCallRequest():
            shown = state.change_call(change_of(request), given)
        case r.StartRunRequest():
            shown = runs.start(state, request, given)
        case r.CancelRunRequest():
            shown = runs.cancel(state, request, given)
        case r.FinishRunRequest():
            shown = runs.end(state, request.status, request.error, given.now)
        case pb.UpdateMemoryRequest():
            state.remember(request.change, request.run_id)
        case pb.AppendRequest():
            repeats = store(state, request, given)
        case pb.CreateSessionRequest():
            lifecycle.begin(state, request, given)
            repeats = store(state, request, given)
        case c.PutCheckpointRequest() | c.DeleteCheckpointsRequest() | c.CopyCheckpointsRequest():
            shown = checkpoints.change(state, request, given, source)
        case _:
            lifecycle.change_status(state, request, given)
    return shown, repeats


def store(state: State, request: pb.AppendRequest | pb.CreateSessionRequest, given: Given) -> bool:
    """Store what a request brings, in order; whether a message only repeats an outcome."""
    orphans = getattr(request, "allow_orphans", False)
    stored = [state.append(message, given, allow_orphans=orphans) for message in request.messages]
    for change in getattr(request, "tool_calls", ()):
        if change.name:
            state.record(change, given)
        else:
            state.change_call(change, given)
    own_ids = [message.message_id for message in state.messages if message.message_id]
    if len(set(own_ids)) < len(own_ids):
        raise Refused("MESSAGE_ID_EXISTS")
    if (memory_change := memory_change_of(request)) is not None:
        state.remember(memory_change)
    if isinstance(request, pb.AppendRequest) and request.HasField("finish_run"):
        runs.end(state, request.finish_run.status, request.finish_run.error, given.now)
    return not all(stored)


def change_of(request: pb.UpdateToolCallRequest | pb.CompleteToolCallRequest) -> ToolCallChange:
    known = ToolCallChange.DESCRIPTOR.fields_by_name
    change = ToolCallChange(**{field.name: value for field, value in request.ListFields() if field.name in known})
    if isinstance(request, pb.CompleteToolCallRequest) and not change.status:
        change.status = ledger.FAILED if change.error else ledger.SUCCEEDED
    return change


def answer_to(request: Any, state: State, shown: ToolCall | Run | int | None) -> Any:
    answer = ANSWERS[type(request).__name__.replace("Request", "Response")]()
    if isinstance(shown, ToolCall):
        answer.tool_call.CopyFrom(shown)
    elif isinstance(shown, Run):
        answer.run.CopyFrom(shown)
    elif isinstance(request, pb.UpdateMemoryRequest):
        answer.memory.CopyFrom(memory.shown(state.memory(request.run_id)))
    elif isinstance(shown, int):
        setattr(answer, "copied" if isinstance(request, c.CopyCheckpointsRequest) else "deleted", shown)
    elif not isinstance(request, pb.AppendRequest | c.PutCheckpointRequest):
        answer.session.CopyFrom(state.head)
    return answer
