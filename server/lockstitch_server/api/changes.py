"""Requests that change a session, turned into changes and their content."""

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2, working_memory_pb2
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.convert import memory, messages, sessions, tool_calls
from lockstitch_server.api.requests import REQUEST_TOOL_CALLS_MAX, Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import BatchTooLarge, InvalidField, MessageTooLarge
from lockstitch_server.model import (
    CallerRole,
    Change,
    Content,
    Expiration,
    LedgerChange,
    MemoryScope,
    MemoryWrite,
    Method,
    NewMessage,
    NewSession,
)


def create_session(request: pb.CreateSessionRequest, requests: Requests) -> tuple[Change, NewSession, Content]:
    """CreateSession."""
    policy, principal, settings = requests.policy, requests.principal, requests.settings
    policy.require(principal, Claim.CREATE_SESSION)
    if request.session_id:
        policy.require(principal, Claim.CHOOSE_SESSION_ID, "session_id")
    request.user_id = _user(request.user_id, requests)
    if request.HasField("memory"):
        policy.require(principal, Claim.WRITE_MEMORY, "memory")
    messages.authorise(request.messages, principal, policy)

    request_id = requests.request_id(request.request_id)
    session_id = _own_session_id(request.session_id, "session_id", requests)
    _forget_output(request)
    _check_sizes(request, request.messages, requests, extra=request.memory.ByteSize())
    change = requests.change(
        request,
        Method.CREATE_SESSION,
        session_id or ids.server_session_id(principal.tenant_id, request.user_id, request_id),
        request_id,
    )
    metadata = request.metadata_json
    new = NewSession(
        user_id=request.user_id,
        agent=_agent(request.agent, "agent", requests),
        title=checks.line(request.title, "title", checks.TITLE_CHARACTERS_MAX),
        labels=sessions.labels(
            request.labels, "labels", labels_max=settings.labels_max, characters_max=settings.id_characters_max
        ),
        metadata=checks.json(metadata, "metadata_json", settings.metadata_bytes_max) if metadata else b"",
        expiration=sessions.expiration(
            request.WhichOneof("expiration"),
            request.expire_time,
            request.ttl,
            request.idle_ttl if request.HasField("idle_ttl") else None,
        ),
    )
    first_memory = None
    if request.HasField("memory"):
        values = memory.keys_of(request.memory, "memory", settings.memory_bytes_max)
        replaced = working_memory_pb2.MemoryChange(replace=request.memory)
        first_memory = MemoryWrite(
            path="memory",
            values={**values},
            scope=MemoryScope.ALL,
            requested=replaced.SerializeToString(deterministic=True),
        )
    stored, ledger = messages.new_messages(request.messages, requests.message_limits)
    return change, new, Content(messages=tuple(stored), ledger=tuple(ledger), memory=first_memory)


def append(request: pb.AppendRequest, requests: Requests) -> tuple[Change, Content, NewSession | None]:
    """Append."""
    policy, principal, settings = requests.policy, requests.principal, requests.settings
    messages.authorise(request.messages, principal, policy)
    for claimed, claim, field in (
        (bool(request.tool_calls), Claim.WRITE_TOOL_CALLS, "tool_calls"),
        (request.HasField("memory_change"), Claim.WRITE_MEMORY, "memory_change"),
        (request.allow_orphans, Claim.STORE_ORPHANS, "allow_orphans"),
        (request.force, Claim.FORCE, "force"),
    ):
        if claimed:
            policy.require(principal, claim, field)
    create = None
    if request.HasField("create_if_missing"):
        policy.require(principal, Claim.CREATE_SESSION, "create_if_missing")
        create = NewSession(
            user_id=_user(request.create_if_missing.user_id, requests, "create_if_missing.user_id"),
            agent=_agent(request.create_if_missing.agent, "create_if_missing.agent", requests),
        )

    request_id = requests.request_id(request.request_id)
    requests.ref(request.session_id)
    if create is not None:
        # A missing session is not created under an id that only the server gives.
        if ids.is_server_session_id(request.session_id):
            create = None
        else:
            policy.require(principal, Claim.CHOOSE_SESSION_ID, "session_id")
    if not request.messages and not request.tool_calls and not request.HasField("memory_change"):
        raise InvalidField("messages", "is required unless tool_calls or memory_change is given")
    _forget_output(request)
    _check_sizes(
        request,
        request.messages,
        requests,
        extra=request.memory_change.ByteSize() + sum(_tool_call_bytes(call) for call in request.tool_calls),
    )
    if len(request.tool_calls) > REQUEST_TOOL_CALLS_MAX:
        sentence = f"The request holds more than {REQUEST_TOOL_CALLS_MAX} tool calls."
        raise BatchTooLarge(sentence, field="tool_calls", metadata={"limit": str(REQUEST_TOOL_CALLS_MAX)})
    change = requests.change(
        request,
        Method.APPEND,
        request.session_id,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        expected_memory_version=(
            request.expected_memory_version if request.HasField("expected_memory_version") else None
        ),
        force=request.force,
    )
    stored, ledger = messages.new_messages(request.messages, requests.message_limits)
    for place, call in enumerate(request.tool_calls):
        step, results = _ledger_step(call, f"tool_calls[{place}].", change, requests, len(stored))
        ledger.append(step)
        stored.extend(results)
    memory_change = None
    if request.HasField("memory_change"):
        memory_change = memory.change(request.memory_change, "memory_change", settings.memory_bytes_max)
    content = Content(
        messages=tuple(stored), ledger=tuple(ledger), memory=memory_change, allow_orphans=request.allow_orphans
    )
    return change, content, create


def _ledger_step(
    call: tool_call_pb2.ToolCallChange, prefix: str, change: Change, requests: Requests, stored: int
) -> tuple[LedgerChange, list[NewMessage]]:
    id_max, key = requests.settings.id_characters_max, change.session.key
    if call.name or call.arguments_json:
        return tool_calls.record(call, prefix, id_max), []
    status = tool_calls.status_of(call.status, f"{prefix}status")
    if call.result_json or call.error or (status is not None and not status.is_open and not call.HasField("approval")):
        if call.HasField("approval"):
            raise InvalidField(f"{prefix}approval", "has no place beside a result")
        return tool_calls.complete(call, key, prefix, id_max, stored)
    return tool_calls.update(call, key, prefix, id_max), []


def update_memory(request: pb.UpdateMemoryRequest, requests: Requests) -> tuple[Change, Content]:
    """UpdateMemory."""
    policy, principal = requests.policy, requests.principal
    policy.require(principal, Claim.WRITE_MEMORY)
    request_id = requests.request_id(request.request_id)
    requests.ref(request.session_id)
    if request.change.WhichOneof("change") == "replace":
        request.change.replace.ClearField("version")
    requests.check_size(request, request.change.ByteSize())
    expected = request.expected_version if request.HasField("expected_version") else None
    expected_memory = request.expected_memory_version if request.HasField("expected_memory_version") else None
    change = requests.change(
        request,
        Method.UPDATE_MEMORY,
        request.session_id,
        request_id,
        expected_version=expected,
        expected_memory_version=expected_memory,
        force=request.force,
    )
    written = memory.change(request.change, "change", requests.settings.memory_bytes_max)
    return change, Content(memory=written)


def update_tool_call(request: pb.UpdateToolCallRequest, requests: Requests) -> tuple[Change, Content]:
    """UpdateToolCall."""
    policy, principal = requests.policy, requests.principal
    only_answers = request.HasField("approval") and not request.resources and not request.status
    policy.require(principal, Claim.ANSWER_APPROVAL if only_answers else Claim.WRITE_TOOL_CALLS)
    request_id = requests.request_id(request.request_id)
    requests.ref(request.session_id)
    requests.check_size(request)
    change = requests.change(
        request,
        Method.UPDATE_TOOL_CALL,
        request.session_id,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
    )
    asked = tool_call_pb2.ToolCallChange(status=request.status, resources=request.resources)
    _set_target(asked, request.tool_call_id, request.call_id)
    if request.HasField("approval"):
        asked.approval.CopyFrom(request.approval)
    step = tool_calls.update(asked, change.session.key, "", requests.settings.id_characters_max)
    return change, Content(ledger=(step,))


def complete_tool_call(request: pb.CompleteToolCallRequest, requests: Requests) -> tuple[Change, Content]:
    """CompleteToolCall."""
    policy, principal = requests.policy, requests.principal
    policy.require(principal, Claim.WRITE_TOOL_CALLS)
    request_id = requests.request_id(request.request_id)
    requests.ref(request.session_id)
    most = requests.settings.content_bytes_max
    if len(request.result_json.encode()) > most:
        sentence = f"result_json is larger than {most} bytes."
        raise MessageTooLarge(sentence, field="result_json", metadata={"limit_bytes": str(most)})
    requests.check_size(request)
    change = requests.change(
        request,
        Method.COMPLETE_TOOL_CALL,
        request.session_id,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
    )
    asked = tool_call_pb2.ToolCallChange(
        status=request.status, resources=request.resources, result_json=request.result_json, error=request.error
    )
    _set_target(asked, request.tool_call_id, request.call_id)
    step, results = tool_calls.complete(asked, change.session.key, "", requests.settings.id_characters_max, 0)
    return change, Content(messages=tuple(results), ledger=(step,))


def close_session(request: pb.CloseSessionRequest, requests: Requests) -> tuple[Change, str]:
    """CloseSession."""
    requests.policy.require(requests.principal, Claim.CLOSE_SESSION)
    request_id = requests.request_id(request.request_id)
    requests.ref(request.session_id)
    reason = checks.line(request.reason, "reason", checks.REASON_CHARACTERS_MAX)
    expected = request.expected_version if request.HasField("expected_version") else None
    change = requests.change(request, Method.CLOSE_SESSION, request.session_id, request_id, expected_version=expected)
    return change, reason


def restore_session(request: pb.RestoreSessionRequest, requests: Requests) -> tuple[Change, Expiration]:
    """RestoreSession."""
    requests.policy.require(requests.principal, Claim.RESTORE_SESSION)
    request_id = requests.request_id(request.request_id)
    requests.ref(request.session_id)
    life = sessions.expiration(request.WhichOneof("expiration"), request.expire_time, request.ttl)
    expected = request.expected_version if request.HasField("expected_version") else None
    change = requests.change(request, Method.RESTORE_SESSION, request.session_id, request_id, expected_version=expected)
    return change, life


def _user(user_id: str, requests: Requests, field: str = "user_id") -> str:
    """Whose session it becomes: a user's is its own."""
    principal = requests.principal
    if principal.role is CallerRole.USER:
        if user_id not in {"", principal.subject}:
            requests.policy.require(principal, Claim.ACT_FOR_A_USER, field)
        return principal.subject
    return checks.identifier(user_id, field, requests.settings.id_characters_max, required=False)


def _agent(agent: str, field: str, requests: Requests) -> str:
    return checks.identifier(agent, field, requests.settings.id_characters_max, required=False)


def _own_session_id(session_id: str, field: str, requests: Requests) -> str:
    checks.identifier(session_id, field, requests.settings.id_characters_max, required=False)
    if ids.is_server_session_id(session_id):
        raise InvalidField(field, 'must not begin with "sess_", which marks the server\'s own')
    return session_id


def _set_target(change: tool_call_pb2.ToolCallChange, tool_call_id: str, call_id: str) -> None:
    if tool_call_id:
        change.tool_call_id = tool_call_id
    else:
        change.call_id = call_id


def _forget_output(request: pb.CreateSessionRequest | pb.AppendRequest) -> None:
    messages.forget_output(request.messages)
    if isinstance(request, pb.CreateSessionRequest):
        if request.HasField("memory"):
            request.memory.ClearField("version")
    elif request.memory_change.WhichOneof("change") == "replace":
        request.memory_change.replace.ClearField("version")


def _check_sizes(
    request: pb.CreateSessionRequest | pb.AppendRequest, given: messages.Messages, requests: Requests, *, extra: int
) -> None:
    messages.check_sizes(given, requests.message_limits)
    # Content is only counted where the whole request is large enough to hold too much of it.
    content = None
    if request.ByteSize() > requests.settings.content_bytes_max:
        content = extra + sum(messages.content_bytes(message) for message in given)
    requests.check_size(request, content)


def _tool_call_bytes(given: tool_call_pb2.ToolCallChange) -> int:
    return len(given.arguments_json.encode()) + len(given.result_json.encode()) + len(given.error.encode())
