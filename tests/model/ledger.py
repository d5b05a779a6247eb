"""Tool calls: how one is found, and what may become of it."""

from collections.abc import Iterable, Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1.message_pb2 import Message, Part, ToolResultPart
from lockstitch.v1.tool_call_pb2 import Approval, Resource, ToolCall, ToolCallStatus
from model import Refused
from support.json_reference import dumps

PENDING, RUNNING, AWAITING_APPROVAL, SUCCEEDED, FAILED, CANCELLED, INTERRUPTED = ToolCallStatus.values()[1:]
OPEN = (PENDING, RUNNING, AWAITING_APPROVAL)
Outcome = tuple[int, str, str]  # status, result, error


def find(calls: Sequence[ToolCall], tool_call_id: str, call_id: str) -> ToolCall:
    """By the ledger's id; or by the provider's the one open call, or the newest that had it if none is open."""
    found = [
        call for call in calls if (call.tool_call_id if tool_call_id else call.call_id) == (tool_call_id or call_id)
    ]
    is_open = [call for call in found if call.status in OPEN]
    if len(is_open) > 1:
        raise Refused("TOOL_CALL_AMBIGUOUS")
    if not found:
        raise Refused("TOOL_CALL_NOT_FOUND")
    return (is_open or found)[-1]


def touch(call: ToolCall, resources: Iterable[Resource]) -> None:
    """One entry a uri; later states replace earlier ones."""
    for resource in resources:
        known = next((known for known in call.resources if known.uri == resource.uri), None)
        (known or call.resources.add()).MergeFrom(resource)


def move(call: ToolCall, status: int, approval: Approval | None, version: int, now: Timestamp) -> None:
    """Change the status of an open call, as said or as its approval has it."""
    after = status or call.status if approval is None else PENDING
    if call.status not in OPEN:
        raise Refused("TOOL_CALL_ENDED")
    if call.status != AWAITING_APPROVAL if approval is not None else after != call.status != PENDING:
        raise Refused("TOOL_CALL_STATUS", status=ToolCallStatus.Name(call.status).removeprefix("TOOL_CALL_STATUS_"))
    call.status = ToolCallStatus.ValueType(after)
    if after == RUNNING and not call.HasField("start_time"):
        call.start_time.CopyFrom(now)
    if approval is not None:
        call.approval.CopyFrom(approval)
        if not approval.granted:
            end(call, (CANCELLED, "", ""), version, now)


def is_news(call: ToolCall, outcome: Outcome) -> bool:
    """A call ends once: an equal outcome is no news, another is refused; only an unknown one may be settled."""
    if call.status in OPEN or (call.status == INTERRUPTED and outcome[0] != INTERRUPTED):
        return True
    if outcome != (call.status, call.result_json, call.error):
        raise Refused("TOOL_CALL_ENDED")
    return False


def end(call: ToolCall, outcome: Outcome, version: int, now: Timestamp) -> None:
    status, call.result_json, call.error = outcome
    call.status, call.ended_version = ToolCallStatus.ValueType(status), version
    call.end_time.CopyFrom(now)


def outcome_of(message: Message) -> Outcome:
    """What a TOOL message says: in its tool_result and the texts beside it, else in its json or its texts."""
    texts = [part.text for part in message.parts if part.HasField("text")]
    for result in (part.tool_result for part in message.parts if part.HasField("tool_result")):
        if result.is_error:
            return (
                FAILED,
                result.json,
                result.text if result.HasField("text") else "".join(texts if result.json else ()),
            )
        return SUCCEEDED, dumps(result.text) if result.HasField("text") else result.json, ""
    for part in (part for part in message.parts if part.HasField("json")):
        return SUCCEEDED, part.json, ""
    return SUCCEEDED, dumps("".join(texts)) if texts else "", ""


def result_parts(outcome: Outcome, call_id: str) -> list[Part]:
    """What the TOOL message holds that a completion writes."""
    status, result, error = outcome
    part = Part(tool_result=ToolResultPart(call_id=call_id, is_error=status != SUCCEEDED))
    if result:
        part.tool_result.json = result
    elif error:
        part.tool_result.text = error
    return [part, Part(text=error)] if result and error else [part]
