"""Sessions by tenant, and the one order of checks that every change goes through."""

from copy import deepcopy
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import ROLE_USER
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, Session
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallChange
from model import Caller, Given, Refused, ledger, memory
from model.session import State, memory_change_of

NOT_CONTENT = {"request_id", "expected_version", "expected_memory_version", "force"}
OUTPUT_ONLY = ("seq", "version", "create_time", "elided_bytes")


class Timeline:
    """A session's states by version, who asked for each, and what each request_id was answered."""

    def __init__(self, head: Session) -> None:
        self.states = [State(head)]
        self.log: list[tuple[Caller, Any]] = []
        self.records: dict[str, tuple[Any, Any]] = {}


class Store:
    def __init__(self) -> None:
        self.sessions: dict[tuple[str, str], Timeline] = {}
        self.made_ids: dict[tuple[str, str, str], str] = {}

    def find(self, caller: Caller, session_id: str) -> Timeline:
        found = self.sessions.get((caller.tenant, session_id))
        if found is None or (caller.role == "user" and found.states[-1].head.user_id != caller.subject):
            raise Refused("SESSION_NOT_FOUND")
        return found

    def change(self, caller: Caller, request: Any, given: Given, *, malformed: bool = False) -> Any:
        """Authorise, shape, replay, state, versions, write."""
        authorise(caller, request)
        if malformed:
            raise Refused("INVALID_FIELD")
        timeline, creates = self._reach(caller, request, given), isinstance(request, pb.CreateSessionRequest)
        content = content_of(request, timeline)
        known = timeline.records.get(request.request_id)
        if creates and timeline.records:
            known = next(iter(timeline.records.values()))  # the id is the scope of a creation
        if known and known[0] != content:
            raise Refused("SESSION_EXISTS" if creates and request.session_id else "REQUEST_ID_REUSED")
        if known:
            again = deepcopy(known[1])
            again.receipt.replayed = True
            return again
        check_state(timeline.states[-1], request)
        check_versions(timeline.states[-1].head, request)
        state, answer = commit(timeline, request, given)
        if state is not timeline.states[-1]:
            timeline.states.append(state)
            timeline.log.append((caller, request))
            timeline.records[request.request_id] = content, answer
            self.sessions[caller.tenant, state.head.session_id] = timeline
            if creates and not request.session_id:
                self.made_ids[caller.tenant, state.head.user_id, request.request_id] = state.head.session_id
        return answer

    def _reach(self, caller: Caller, request: Any, given: Given) -> Timeline:
        """The session as far as the caller may reach it, or a new one for a request that creates."""
        new: Any = request if isinstance(request, pb.CreateSessionRequest) else None
        if isinstance(request, pb.AppendRequest) and not request.session_id.startswith("sess_"):
            new = request.create_if_missing if request.HasField("create_if_missing") else None
        if new is None:
            return self.find(caller, request.session_id)
        user = caller.subject if caller.role == "user" else new.user_id
        made = self.made_ids.get((caller.tenant, user, request.request_id), given.session_id)
        head = Session(session_id=request.session_id or made, tenant_id=caller.tenant, user_id=user, agent=new.agent)
        head.status = SESSION_STATUS_ACTIVE
        found = self.sessions.get((caller.tenant, head.session_id), Timeline(head))
        if user and found.states[-1].head.user_id != user:
            raise Refused("SESSION_EXISTS")
        return found


def authorise(caller: Caller, request: Any) -> None:
    """What a user may not do or claim."""
    claims = isinstance(request, pb.UpdateMemoryRequest | pb.CompleteToolCallRequest)
    if isinstance(request, pb.CreateSessionRequest):
        claims = request.HasField("memory") or request.user_id not in {"", caller.subject}
    elif isinstance(request, pb.AppendRequest):
        claims = bool(request.tool_calls) or request.HasField("memory_change") or request.allow_orphans or request.force
        claims = claims or request.create_if_missing.user_id not in {"", caller.subject}
    elif isinstance(request, pb.UpdateToolCallRequest):
        claims = not request.HasField("approval") or bool(request.status) or bool(request.resources)
    for message in getattr(request, "messages", ()):
        claims = claims or message.role not in {0, ROLE_USER} or bool(message.author) or message.HasField("original")
    if claims and caller.role == "user":
        raise Refused("ROLE_NOT_ALLOWED")


def content_of(request: Any, timeline: Timeline) -> Any:
    """What two requests with one request_id must have in common."""
    content = deepcopy(request)
    for name in NOT_CONTENT.intersection(content.DESCRIPTOR.fields_by_name):
        content.ClearField(name)
    for message in getattr(content, "messages", ()):
        for name in OUTPUT_ONLY:
            message.ClearField(name)
    if isinstance(content, pb.CreateSessionRequest):
        content.user_id = timeline.states[0].head.user_id if content.user_id == "" else content.user_id
    return content


def check_state(state: State, request: Any) -> None:
    closed = state.head.status == SESSION_STATUS_CLOSED
    if isinstance(request, pb.RestoreSessionRequest):
        closed, expired = False, state.expired and request.WhichOneof("expiration") is None
    elif isinstance(request, pb.CloseSessionRequest):
        closed, expired = False, state.expired and not closed
    else:
        expired = state.expired
    if closed or expired:
        raise Refused("SESSION_CLOSED" if closed else "SESSION_EXPIRED")


def check_versions(head: Session, request: Any) -> None:
    expected = {field.name: value for field, value in request.ListFields() if field.name.startswith("expected_")}
    for name, value in expected.items():
        if value != getattr(head, name.removeprefix("expected_")):
            current = {
                "current_version": head.version,
                "memory_version": head.memory_version,
                "last_seq": head.last_seq,
            }
            raise Refused("VERSION_CONFLICT", expected_version=value, **current)
    change = memory_change_of(request)
    computed = change is not None and change.WhichOneof("change") in {"replace", "set"}
    if head.memory_version and computed and not expected and not request.force:
        raise Refused("EXPECTED_VERSION_REQUIRED")


def write(state: State, request: Any, given: Given) -> tuple[ToolCall | None, bool]:
    """Do what is asked for; gives the one call that the answer shows, and whether a message only repeats an outcome."""
    if isinstance(request, pb.UpdateToolCallRequest | pb.CompleteToolCallRequest):
        known = ToolCallChange.DESCRIPTOR.fields_by_name
        change = ToolCallChange(**{field.name: value for field, value in request.ListFields() if field.name in known})
        if isinstance(request, pb.CompleteToolCallRequest) and not change.status:
            change.status = ledger.FAILED if change.error else ledger.SUCCEEDED
        return state.change_call(change, given), False
    if isinstance(request, pb.CloseSessionRequest | pb.RestoreSessionRequest):
        state.set_status(request, given)
    if isinstance(request, pb.CreateSessionRequest):
        state.live(request, given)
        state.head.MergeFrom(Session(title=request.title, metadata_json=request.metadata_json, labels=request.labels))
        if request.HasField("idle_ttl"):
            state.head.idle_ttl.CopyFrom(request.idle_ttl)
    orphans = getattr(request, "allow_orphans", False)
    stored = [state.append(message, given, allow_orphans=orphans) for message in getattr(request, "messages", ())]
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
    return None, not all(stored)


def answer_to(request: Any, state: State, tool_call: ToolCall | None) -> Any:
    answer = getattr(pb, type(request).__name__.replace("Request", "Response"))()
    if tool_call is not None:
        answer.tool_call.CopyFrom(tool_call)
    elif isinstance(request, pb.UpdateMemoryRequest):
        answer.memory.CopyFrom(memory.shown(state.memory, state.head.memory_version))
    elif not isinstance(request, pb.AppendRequest):
        answer.session.CopyFrom(state.head)
    return answer


def commit(timeline: Timeline, request: Any, given: Given) -> tuple[State, Any]:
    """The next state, or the last one where nothing changed, and the answer."""
    before = deepcopy(timeline.states[-1])
    before.head.version += 1
    state = deepcopy(before)
    tool_call, repeats = write(state, request, given)
    is_news = state != before or not timeline.log
    if is_news and repeats:
        raise Refused("TOOL_CALL_ENDED")
    if is_news:
        head, is_use = state.head, not isinstance(request, pb.CloseSessionRequest | pb.RestoreSessionRequest)
        for time in ("update_time", *["last_activity_time"] * is_use, *["create_time"] * (head.version == 1)):
            getattr(head, time).CopyFrom(given.now)
    state = state if is_news else timeline.states[-1]
    answer = answer_to(request, state, tool_call)
    answer.receipt.CopyFrom(state.receipt(given.store_epoch, of_commit=is_news))
    return state, answer
