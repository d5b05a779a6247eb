"""UpdateToolCall and CompleteToolCall."""

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2
from lockstitch_server.api.convert import tool_calls
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import MessageTooLarge
from lockstitch_server.model import Change, Content, Method


def update_tool_call(request: pb.UpdateToolCallRequest, requests: Requests) -> tuple[Change, Content]:
    """UpdateToolCall."""
    policy, principal = requests.policy, requests.principal
    only_answers = request.HasField("approval") and not request.resources and not request.status
    policy.require(principal, Claim.ANSWER_APPROVAL if only_answers else Claim.WRITE_TOOL_CALLS)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    requests.check_size(request)
    fence = requests.fence(request)
    change = requests.change(
        request,
        Method.UPDATE_TOOL_CALL,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
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
    ref = requests.ref(request.session_id)
    most = requests.settings.content_bytes_max
    if len(request.result_json.encode()) > most:
        sentence = f"result_json is larger than {most} bytes."
        raise MessageTooLarge(sentence, field="result_json", metadata={"limit_bytes": str(most)})
    requests.check_size(request)
    fence = requests.fence(request)
    change = requests.change(
        request,
        Method.COMPLETE_TOOL_CALL,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
    )
    asked = tool_call_pb2.ToolCallChange(
        status=request.status, resources=request.resources, result_json=request.result_json, error=request.error
    )
    _set_target(asked, request.tool_call_id, request.call_id)
    step, results = tool_calls.complete(asked, change.session.key, "", requests.settings.id_characters_max, 0)
    return change, Content(messages=tuple(results), ledger=(step,))


def _set_target(change: tool_call_pb2.ToolCallChange, tool_call_id: str, call_id: str) -> None:
    if tool_call_id:
        change.tool_call_id = tool_call_id
    else:
        change.call_id = call_id
