"""Append."""

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2
from lockstitch_server import ids
from lockstitch_server.api.changes import content as contents
from lockstitch_server.api.convert import memory, messages, runs, tool_calls
from lockstitch_server.api.requests import REQUEST_TOOL_CALLS_MAX, Requests
from lockstitch_server.auth.policy import Claim, Policy
from lockstitch_server.errors import BatchTooLarge, InvalidField
from lockstitch_server.model import Change, Content, LedgerChange, Method, NewMessage, NewSession, Principal


def append(request: pb.AppendRequest, requests: Requests) -> tuple[Change, Content, NewSession | None]:
    """Append."""
    policy, principal, settings = requests.policy, requests.principal, requests.settings
    given = tuple(request.messages)
    _authorise(request, given, principal, policy)
    has_memory_change = request.HasField("memory_change")
    create = None
    if request.HasField("create_if_missing"):
        policy.require(principal, Claim.CREATE_SESSION, "create_if_missing")
        create = NewSession(
            user_id=contents.user(request.create_if_missing.user_id, requests, "create_if_missing.user_id"),
            agent=contents.agent(request.create_if_missing.agent, "create_if_missing.agent", requests),
        )

    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    # Under an id that only the server gives nothing is created, so nobody chose one.
    if create is not None and not ids.is_server_session_id(request.session_id):
        policy.require(principal, Claim.CHOOSE_SESSION_ID, "session_id")
    fence = requests.fence(request)
    run_end = runs.end_of(request.finish_run, fence) if request.HasField("finish_run") else None
    if not given and not request.tool_calls and not has_memory_change and run_end is None:
        raise InvalidField("messages", "is required unless tool_calls, memory_change or finish_run is given")
    contents.forget_output(request, given)
    contents.check_sizes(
        request,
        given,
        requests,
        extra=_beside_messages,
        tool_calls=len(request.tool_calls),
    )
    if len(request.tool_calls) > REQUEST_TOOL_CALLS_MAX:
        sentence = f"The request holds more than {REQUEST_TOOL_CALLS_MAX} tool calls."
        raise BatchTooLarge(sentence, field="tool_calls", metadata={"limit": str(REQUEST_TOOL_CALLS_MAX)})
    change = requests.change(
        request,
        Method.APPEND,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        expected_memory_version=(
            request.expected_memory_version if request.HasField("expected_memory_version") else None
        ),
        fence=fence,
        force=request.force,
    )
    stored, ledger = messages.new_messages(given, requests.message_limits)
    for place, call in enumerate(request.tool_calls):
        step, results = _ledger_step(call, f"tool_calls[{place}].", change, requests, len(stored))
        ledger.append(step)
        stored.extend(results)
    memory_change = None
    if has_memory_change:
        memory_change = memory.change(request.memory_change, "memory_change", settings.memory_bytes_max)
    content = Content(
        messages=tuple(stored),
        ledger=tuple(ledger),
        memory=memory_change,
        allow_orphans=request.allow_orphans,
        run_end=run_end,
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


def _authorise(request: pb.AppendRequest, given: messages.Messages, principal: Principal, policy: Policy) -> None:
    messages.authorise(given, principal, policy)
    if request.tool_calls:
        policy.require(principal, Claim.WRITE_TOOL_CALLS, "tool_calls")
    if request.HasField("memory_change"):
        policy.require(principal, Claim.WRITE_MEMORY, "memory_change")
    if request.allow_orphans:
        policy.require(principal, Claim.STORE_ORPHANS, "allow_orphans")
    if request.force:
        policy.require(principal, Claim.FORCE, "force")


def _beside_messages(request: pb.AppendRequest) -> int:
    return request.memory_change.ByteSize() + sum(_tool_call_bytes(call) for call in request.tool_calls)


def _tool_call_bytes(given: tool_call_pb2.ToolCallChange) -> int:
    return len(given.arguments_json.encode()) + len(given.result_json.encode()) + len(given.error.encode())
