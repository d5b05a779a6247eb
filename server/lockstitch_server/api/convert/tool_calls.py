"""Tool calls: changes of the ledger on the way in, calls with what messages hold of them on the way out."""

import re
from collections.abc import Iterable, Sequence

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

from lockstitch.v1 import message_pb2, tool_call_pb2
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.convert import outcome
from lockstitch_server.api.convert.outcome import Outcome
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import (
    LedgerChange,
    LedgerOp,
    MessageRole,
    NewMessage,
    SessionKey,
    ToolCall,
    ToolCallStatus,
)
from lockstitch_server.service import json_text

RESOURCES_MAX = 64
_STATE_BYTES_MAX = 4096
_ERROR_BYTES_MAX = 65_536
_NO_CALL = (0, 0)
_NO_APPROVAL = b"\x4a\x04\x08\x00\x12\x00"
"""A ToolCall on the wire whose approval says `granted: false, note: ""`, which a serializer leaves out: read behind an
earlier answer it takes that back, where the two would be merged."""
_DIGEST = re.compile(r"sha256:([0-9a-f]{32})")

Resources = RepeatedCompositeFieldContainer[tool_call_pb2.Resource]


def status_of(value: int, field: str) -> ToolCallStatus | None:
    """A status of a request; None where it was left out."""
    if not value:
        return None
    try:
        return ToolCallStatus(value)
    except ValueError:
        raise InvalidField(field, "is not a status that there is") from None


def digest_of(value: str, field: str) -> bytes | None:
    """The bytes of an arguments_digest as answers spell it; None where it was left out."""
    if not value:
        return None
    match = _DIGEST.fullmatch(value)
    if match is None:
        raise InvalidField(field, 'must be "sha256:" and 32 hex digits')
    return bytes.fromhex(match[1])


def target(
    tool_call_id: str, call_id: str, key: SessionKey, prefix: str, id_max: int
) -> tuple[tuple[int, int] | None, str | None]:
    """Which call is meant: the ledger's key, or the provider's id."""
    if tool_call_id:
        checks.identifier(tool_call_id, f"{prefix}tool_call_id", id_max)
        # An id that is none of this session's is looked for all the same: the session comes first, then its calls.
        return ids.parse_tool_call_id(key, tool_call_id) or _NO_CALL, None
    return None, checks.identifier(call_id, f"{prefix}call_id", id_max)


def detail(*, prefix: str, resources: Resources, approval: tool_call_pb2.Approval | None = None) -> bytes | None:
    """What the ledger keeps beside columns, checked; None where there is nothing."""
    if len(resources) > RESOURCES_MAX:
        raise InvalidField(f"{prefix}resources", f"holds more than {RESOURCES_MAX}")
    for place, resource in enumerate(resources):
        field = f"{prefix}resources[{place}]"
        checks.identifier(resource.uri, f"{field}.uri", checks.URI_CHARACTERS_MAX)
        for name, state in (("before", resource.before), ("after", resource.after)):
            if len(state.encode()) > _STATE_BYTES_MAX:
                raise InvalidField(f"{field}.{name}", f"is larger than {_STATE_BYTES_MAX} bytes")
    kept = tool_call_pb2.ToolCall(resources=resources)
    if approval is None:
        return kept.SerializeToString() or None
    checks.line(approval.note, f"{prefix}approval.note", checks.REASON_CHARACTERS_MAX)
    kept.approval.CopyFrom(approval)
    return _NO_APPROVAL + kept.SerializeToString()


def update(change: tool_call_pb2.ToolCallChange, key: SessionKey, prefix: str, id_max: int) -> LedgerChange:
    """A change of an open call: a status, the answer to an approval, resources."""
    place, call_id = target(change.tool_call_id, change.call_id, key, prefix, id_max)
    status = status_of(change.status, f"{prefix}status")
    approval = change.approval if change.HasField("approval") else None
    if status is not None and not status.is_open and approval is None:
        raise InvalidField(f"{prefix}status", "ends the call: complete it instead")
    refused = None
    if approval is not None:
        granted_status = ToolCallStatus.PENDING if approval.granted else ToolCallStatus.CANCELLED
        if status not in {None, granted_status}:
            raise InvalidField(f"{prefix}status", f"must be {granted_status.name} with this approval, or left out")
        if not approval.granted:
            refused = Outcome(ToolCallStatus.CANCELLED, None, "").digest()
    kept = detail(prefix=prefix, resources=change.resources, approval=approval)
    if status is None and kept is None:
        raise InvalidField(f"{prefix}status", "is required unless an approval or resources are given")
    return LedgerChange(
        op=LedgerOp.UPDATE,
        field=f"{prefix}tool_call_id" if place else f"{prefix}call_id",
        tool_call=place,
        call_id=call_id,
        status=status,
        granted=None if approval is None else approval.granted,
        outcome_digest=refused,
        detail=kept,
    )


def complete(
    change: tool_call_pb2.ToolCallChange, key: SessionKey, prefix: str, id_max: int, message_index: int
) -> tuple[LedgerChange, list[NewMessage]]:
    """The end of a call, and the TOOL message that is written for it where a message made the call."""
    place, call_id = target(change.tool_call_id, change.call_id, key, prefix, id_max)
    ended = ended_outcome(change, prefix)
    messages: list[NewMessage] = []
    if ended.status is not ToolCallStatus.INTERRUPTED:
        # Where only the ledger's id was given, the message's call_id is filled in when it is read.
        body = outcome.to_message(ended, call_id or "")
        messages.append(NewMessage(role=MessageRole.TOOL, body=body, call_id=call_id))
    return (
        LedgerChange(
            op=LedgerOp.COMPLETE,
            field=f"{prefix}tool_call_id" if place else f"{prefix}call_id",
            message_index=message_index if messages else None,
            tool_call=place,
            call_id=call_id,
            status=ended.status,
            outcome_digest=ended.digest(),
            detail=detail(prefix=prefix, resources=change.resources),
            result=_own_result(ended),
        ),
        messages,
    )


def ended_outcome(change: tool_call_pb2.ToolCallChange, prefix: str) -> Outcome:
    """The outcome that a change gives a call."""
    status = status_of(change.status, f"{prefix}status")
    if status is None:
        status = ToolCallStatus.FAILED if change.error else ToolCallStatus.SUCCEEDED
    if status.is_open:
        raise InvalidField(f"{prefix}status", "does not end the call")
    if len(change.error.encode()) > _ERROR_BYTES_MAX:
        raise InvalidField(f"{prefix}error", f"is larger than {_ERROR_BYTES_MAX} bytes")
    if change.error and status is ToolCallStatus.SUCCEEDED:
        raise InvalidField(f"{prefix}error", "has no place in a call that succeeded")
    result = checks.json(change.result_json, f"{prefix}result_json") if change.result_json else None
    return Outcome(status, result, change.error)


def record(change: tool_call_pb2.ToolCallChange, prefix: str, id_max: int) -> LedgerChange:
    """A new call that no message makes."""
    if change.tool_call_id:
        raise InvalidField(f"{prefix}tool_call_id", "is given by the server: a new call has a call_id")
    status = status_of(change.status, f"{prefix}status") or ToolCallStatus.PENDING
    if change.HasField("approval"):
        raise InvalidField(f"{prefix}approval", "has no place in a new call")
    if status.is_open and (change.result_json or change.error):
        raise InvalidField(f"{prefix}status", "must be one that ends the call where it has a result or an error")
    ended = None if status.is_open else ended_outcome(change, prefix)
    arguments = checks.json(change.arguments_json, f"{prefix}arguments_json")
    return LedgerChange(
        op=LedgerOp.RECORD,
        field=f"{prefix}call_id",
        call_id=checks.identifier(change.call_id, f"{prefix}call_id", id_max),
        name=checks.identifier(change.name, f"{prefix}name", id_max),
        arguments_digest=json_text.canonical_digest(arguments),
        status=status,
        outcome_digest=None if ended is None else ended.digest(),
        detail=detail(prefix=prefix, resources=change.resources),
        arguments=arguments,
        result=None if ended is None else _own_result(ended),
    )


def _own_result(ended: Outcome) -> bytes | None:
    """Result and error as the ledger keeps them where no message does; None where there is nothing."""
    result = "" if ended.result is None else ended.result.decode()
    return tool_call_pb2.ToolCall(result_json=result, error=ended.error).SerializeToString() or None


class Bodies:
    """Parses each message that calls refer to once."""

    def __init__(self) -> None:
        """Empty."""
        self._parsed: dict[int, message_pb2.Message] = {}

    def arguments(self, call: ToolCall) -> str:
        """A call's arguments; empty where they were not read."""
        if call.arguments is not None:
            return call.arguments.decode()
        if call.message_seq is None or call.message_body is None or call.part_index is None:
            return ""
        message = self._parsed.get(call.message_seq)
        if message is None:
            message = self._parsed[call.message_seq] = message_pb2.Message.FromString(call.message_body)
        # The parts of an erased message are gone.
        return message.parts[call.part_index].tool_call.arguments_json if message.parts else ""


class Room:
    """The bytes that an answer has left for tool calls."""

    def __init__(self, left: int) -> None:
        """Shared by all calls of the answer."""
        self._left = left

    def take(self, size: int) -> bool:
        """Take some of it, where it is there."""
        if size > self._left:
            return False
        self._left -= size
        return True

    def give(self, size: int) -> None:
        """Take it whether it is there or not: a call is never given without its ids."""
        self._left -= size


def fill(target: tool_call_pb2.ToolCall, call: ToolCall, bodies: Bodies, room: Room) -> None:
    """Write a call. Where there is no room for all of it, its result is left out first, and its resources last."""
    _envelope(target, call)
    room.give(target.ByteSize())
    arguments = bodies.arguments(call)
    result = error = ""
    if call.result_body is not None:
        stored = outcome.of_message(message_pb2.Message.FromString(call.result_body))
        result = "" if stored.result is None else stored.result.decode()
        error = stored.error
    elif call.result is not None:
        kept = tool_call_pb2.ToolCall.FromString(call.result)
        result, error = kept.result_json, kept.error
    target.elided_bytes = _unread_bytes(call) + _fill_bodies(target, call, room, (error, arguments, result))


def fill_without_messages(target: tool_call_pb2.ToolCall, call: ToolCall, room: Room) -> None:
    """Write a call as a commit carries it: without what messages hold."""
    _envelope(target, call)
    room.give(target.ByteSize())
    arguments = result = error = ""
    if call.arguments is not None and call.requested_version == call.version:
        arguments = call.arguments.decode()
    if call.result is not None and call.ended_version == call.version:
        kept = tool_call_pb2.ToolCall.FromString(call.result)
        result, error = kept.result_json, kept.error
    target.elided_bytes = _fill_bodies(target, call, room, (error, arguments, result))


def _fill_bodies(target: tool_call_pb2.ToolCall, call: ToolCall, room: Room, texts: tuple[str, str, str]) -> int:
    """Write what may be left out of a call, the most needed first; gives the bytes that were left out."""
    left_out = 0
    if room.take(len(call.detail)):
        target.MergeFromString(call.detail)
        _merge_resources(target)
    else:
        left_out += len(call.detail)
    for field, text in zip(("error", "arguments_json", "result_json"), texts, strict=True):
        size = len(text.encode())
        if room.take(size):
            setattr(target, field, text)
        else:
            left_out += size
    return left_out


def fill_all(
    target: RepeatedCompositeFieldContainer[tool_call_pb2.ToolCall], calls: Iterable[ToolCall], room: Room
) -> None:
    """Write calls that share some room."""
    bodies = Bodies()
    for call in calls:
        fill(target.add(), call, bodies, room)


def _unread_bytes(call: ToolCall) -> int:
    """The stored bytes of bodies that were not read."""
    unread = 0
    if call.message_body is None and call.arguments is None:
        unread += call.message_bytes
    if call.result_seq is not None and call.result_body is None:
        unread += call.result_bytes
    return unread


def _envelope(target: tool_call_pb2.ToolCall, call: ToolCall) -> None:
    target.tool_call_id = call.tool_call_id
    target.call_id = call.call_id
    target.name = call.name
    if call.arguments_digest:  # it is erased with the arguments
        target.arguments_digest = f"sha256:{call.arguments_digest.hex()}"
    target.status = tool_call_pb2.ToolCallStatus.ValueType(call.status)
    target.message_id = call.message_id
    target.result_message_id = call.result_message_id
    target.run_id = call.run_id
    target.requested_version = call.requested_version
    target.ended_version = call.ended_version
    checks.to_timestamp(call.create_time, target.create_time)
    if call.start_time is not None:
        checks.to_timestamp(call.start_time, target.start_time)
    if call.end_time is not None:
        checks.to_timestamp(call.end_time, target.end_time)


def _merge_resources(target: tool_call_pb2.ToolCall) -> None:
    """One entry a uri: later states replace earlier ones."""
    merged: dict[str, tool_call_pb2.Resource] = {}
    for resource in target.resources:
        known = merged.setdefault(resource.uri, tool_call_pb2.Resource(uri=resource.uri))
        known.MergeFrom(resource)
    if len(merged) < len(target.resources):
        entries: Sequence[tool_call_pb2.Resource] = tuple(merged.values())
        target.ClearField("resources")
        target.resources.extend(entries)
