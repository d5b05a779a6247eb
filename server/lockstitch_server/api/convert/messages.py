"""Messages: checked and taken apart on the way in, put together again on the way out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lockstitch.v1 import message_pb2
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.convert import outcome
from lockstitch_server.auth.policy import Claim, Policy
from lockstitch_server.errors import BatchTooLarge, InvalidField, MessageTooLarge
from lockstitch_server.model import (
    LedgerChange,
    LedgerOp,
    Message,
    MessageRole,
    NewMessage,
    Principal,
    ToolCallStatus,
)
from lockstitch_server.service import json_text

PARTS_MAX = 1000
_ARGUMENTS_KEPT_CHARACTERS = 16 * 1024
_CALL_BYTES = 256
CALL_BYTES_MAX = 2304
"""What a tool call takes beside its bodies: the ledger's id, digest and times, and four names of 128 characters."""

_ROLES = {role.value: role for role in MessageRole}
_PARTS_OF_EVERYBODY = frozenset({"text", "json", "blob"})
_PARTS = {
    MessageRole.USER: _PARTS_OF_EVERYBODY,
    MessageRole.ASSISTANT: _PARTS_OF_EVERYBODY | {"tool_call", "reasoning"},
    MessageRole.TOOL: _PARTS_OF_EVERYBODY | {"tool_result"},
    MessageRole.SYSTEM: _PARTS_OF_EVERYBODY,
    MessageRole.DEVELOPER: _PARTS_OF_EVERYBODY,
}

Messages: TypeAlias = Sequence[message_pb2.Message]


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """What a request's messages may be."""

    messages_max: int
    content_bytes_max: int
    id_characters_max: int
    metadata_bytes_max: int
    tool_calls_max: int


def authorise(messages: Sequence[message_pb2.Message], principal: Principal, policy: Policy) -> None:
    """Raise RoleNotAllowed where the caller may not write what these messages claim."""
    for place, message in enumerate(messages):
        field = f"messages[{place}]"
        if message.role in {message_pb2.ROLE_USER, message_pb2.ROLE_UNSPECIFIED}:
            policy.require(principal, Claim.APPEND_USER_MESSAGE, field)
        else:
            policy.require(principal, Claim.WRITE_OTHER_ROLES, f"{field}.role")
        if message.HasField("original"):
            policy.require(principal, Claim.WRITE_ORIGINAL, f"{field}.original")
        if message.author:
            policy.require(principal, Claim.WRITE_AUTHOR, f"{field}.author")


def forget_output(messages: Iterable[message_pb2.Message]) -> None:
    """Clear what only the server says, so that it is neither stored nor part of the request's digest."""
    for message in messages:
        message.ClearField("seq")
        message.ClearField("version")
        message.ClearField("create_time")
        message.ClearField("elided_bytes")
        message.ClearField("removed_version")
        message.ClearField("erased")
        message.ClearField("run_id")


def check_sizes(messages: Messages, limits: MessageLimits, name: str = "messages") -> None:
    """Raise where there are too many, or where one alone is larger than a request may be."""
    if len(messages) > limits.messages_max:
        sentence = f"The request holds {len(messages)} messages; the most is {limits.messages_max}."
        raise BatchTooLarge(sentence, field=name, metadata={"limit": str(limits.messages_max)})
    for place, message in enumerate(messages):
        if message.ByteSize() > limits.content_bytes_max and content_bytes(message) > limits.content_bytes_max:
            field = _field(name, place)
            sentence = f"{field} is larger than {limits.content_bytes_max} bytes."
            raise MessageTooLarge(sentence, field=field, metadata={"limit_bytes": str(limits.content_bytes_max)})


def beside_bytes(messages: Messages) -> int:
    """What the tool calls of messages take where a commit lists them beside the messages, at most."""
    total = 0
    for message in messages:
        if message.role == message_pb2.ROLE_TOOL:
            total += CALL_BYTES_MAX
        for part in message.parts:
            if part.WhichOneof("content") == "tool_call":
                ids = (message.message_id, part.tool_call.call_id, part.tool_call.name)
                total += _CALL_BYTES + sum(len(given.encode()) for given in ids)
    return total


def content_bytes(message: message_pb2.Message) -> int:
    """The bytes of what a message says, without the envelope of its fields."""
    total = len(message.metadata_json.encode()) + len(message.original.data)
    for part in message.parts:
        match part.WhichOneof("content"):
            case "text":
                total += len(part.text.encode())
            case "json":
                total += len(part.json.encode())
            case "reasoning":
                total += len(part.reasoning.encode())
            case "blob":
                total += len(part.blob.data)
            case "tool_call":
                total += len(part.tool_call.arguments_json.encode())
            case "tool_result":
                total += len(part.tool_result.json.encode()) + len(part.tool_result.text.encode())
    return total


def new_messages(
    messages: Messages, limits: MessageLimits, name: str = "messages"
) -> tuple[list[NewMessage], list[LedgerChange]]:
    """Check messages and take them apart: what the store needs to see, and what they do to the ledger."""
    taken: list[NewMessage] = []
    ledger: list[LedgerChange] = []
    for place, message in enumerate(messages):
        field = _field(name, place)
        role, call_id = _check(message, field, limits)
        if role is MessageRole.ASSISTANT:
            ledger.extend(_recorded(message, place, field))
        elif role is MessageRole.TOOL:
            ended = outcome.of_message(message)
            ledger.append(
                LedgerChange(
                    op=LedgerOp.ANSWER,
                    field=f"{field}.call_id",
                    message_index=place,
                    call_id=call_id,
                    status=ended.status,
                    outcome_digest=ended.digest(),
                )
            )
        message_id = message.message_id or None
        event_time = None
        if message.HasField("event_time"):
            event_time = checks.instant(message.event_time, f"{field}.event_time")
        # These have columns of their own.
        message.ClearField("message_id")
        message.ClearField("role")
        message.ClearField("call_id")
        taken.append(
            NewMessage(
                role=role,
                body=message.SerializeToString(),
                message_id=message_id,
                call_id=call_id or None,
                event_time=event_time,
            )
        )
    if len(ledger) > limits.tool_calls_max:
        sentence = f"The request holds {len(ledger)} tool calls and results; the most is {limits.tool_calls_max}."
        raise BatchTooLarge(sentence, field=name, metadata={"limit": str(limits.tool_calls_max)})
    return taken, ledger


def _field(name: str, place: int) -> str:
    """A message's field: of a list by its place, else by its name alone."""
    return name if name == "message" else f"{name}[{place}]"


def _check(message: message_pb2.Message, field: str, limits: MessageLimits) -> tuple[MessageRole, str]:
    """Check one message; gives its role, and the id of the call that it answers."""
    id_max = limits.id_characters_max
    role = _ROLES.get(message.role)
    if role is None:
        raise InvalidField(f"{field}.role", "is required, and must be one that there is")
    _check_fields(message, field, limits)
    if len(message.parts) > PARTS_MAX:
        raise InvalidField(f"{field}.parts", f"holds more than {PARTS_MAX} parts")
    for place, part in enumerate(message.parts):
        kind = part.WhichOneof("content")
        # Text may be anything.
        if kind != "text":
            _check_part(part, kind, role, f"{field}.parts[{place}]", id_max)
    return role, _check_call_id(message, role, field, id_max)


def _check_fields(message: message_pb2.Message, field: str, limits: MessageLimits) -> None:
    id_max = limits.id_characters_max
    if message.message_id:
        checks.identifier(message.message_id, f"{field}.message_id", id_max)
        if ids.is_server_message_id(message.message_id):
            raise InvalidField(f"{field}.message_id", 'must not begin with "msg_", which marks the server\'s own')
    if message.author:
        checks.identifier(message.author, f"{field}.author", id_max)
    if message.metadata_json:
        checks.json(message.metadata_json, f"{field}.metadata_json", limits.metadata_bytes_max)
    if message.HasField("usage"):
        checks.identifier(message.usage.model, f"{field}.usage.model", id_max, required=False)
        checks.not_negative(message.usage.input_tokens, f"{field}.usage.input_tokens")
        checks.not_negative(message.usage.output_tokens, f"{field}.usage.output_tokens")
    if message.HasField("original"):
        checks.identifier(message.original.format, f"{field}.original.format", id_max)
        if not message.original.data:
            raise InvalidField(f"{field}.original.data", "is required")
    elif not message.parts:
        raise InvalidField(f"{field}.parts", "is required")


def _check_part(part: message_pb2.Part, kind: str | None, role: MessageRole, field: str, id_max: int) -> None:
    if kind is None:
        raise InvalidField(field, "holds nothing")
    if kind not in _PARTS[role]:
        raise InvalidField(f"{field}.{kind}", f"has no place in a message of ROLE_{role.name}")
    match kind:
        case "json":
            checks.json(part.json, f"{field}.json")
        case "blob":
            checks.identifier(part.blob.mime_type, f"{field}.blob.mime_type", id_max)
            if part.blob.WhichOneof("source") is None:
                raise InvalidField(f"{field}.blob", "needs data or uri")
            if part.blob.WhichOneof("source") == "uri":
                checks.identifier(part.blob.uri, f"{field}.blob.uri", checks.URI_CHARACTERS_MAX)
        case "tool_call":
            checks.identifier(part.tool_call.call_id, f"{field}.tool_call.call_id", id_max)
            checks.identifier(part.tool_call.name, f"{field}.tool_call.name", id_max)
            checks.json(part.tool_call.arguments_json, f"{field}.tool_call.arguments_json")
        case "tool_result":
            checks.identifier(part.tool_result.call_id, f"{field}.tool_result.call_id", id_max, required=False)
            if part.tool_result.WhichOneof("output") == "json":
                checks.json(part.tool_result.json, f"{field}.tool_result.json")


def _check_call_id(message: message_pb2.Message, role: MessageRole, field: str, id_max: int) -> str:
    if role is not MessageRole.TOOL:
        if message.call_id:
            raise InvalidField(f"{field}.call_id", "has a place in a message of ROLE_TOOL only")
        return ""
    results = [part.tool_result.call_id for part in message.parts if part.WhichOneof("content") == "tool_result"]
    if len(results) > 1:
        raise InvalidField(f"{field}.parts", "holds more than one tool_result")
    call_id = message.call_id or next(iter(results), "")
    checks.identifier(call_id, f"{field}.call_id", id_max)
    if results and results[0] not in {"", call_id}:
        raise InvalidField(f"{field}.call_id", "is not the one that its tool_result names")
    return call_id


def _recorded(message: message_pb2.Message, place: int, field: str) -> list[LedgerChange]:
    return [
        LedgerChange(
            op=LedgerOp.RECORD,
            field=f"{field}.parts[{part_index}].tool_call",
            message_index=place,
            part_index=part_index,
            call_id=part.tool_call.call_id,
            name=part.tool_call.name,
            arguments_digest=json_text.canonical_digest(part.tool_call.arguments_json.encode()),
            status=ToolCallStatus.PENDING,
        )
        for part_index, part in enumerate(message.parts)
        if part.WhichOneof("content") == "tool_call"
    ]


def fill(target: message_pb2.Message, message: Message, *, elided: bool = False) -> None:
    """Put a stored message together again; an elided one keeps its calls and says what it lost."""
    if message.body is not None:
        target.MergeFromString(message.body)
    if message.body is None:
        target.elided_bytes = message.body_bytes
    elif elided:
        _elide(target)
    target.message_id = message.message_id
    target.seq = message.seq
    target.version = message.version
    target.role = message_pb2.Role.ValueType(message.role)
    target.call_id = message.call_id
    target.run_id = message.run_id
    target.removed_version = message.removed_version
    target.erased = message.erased
    checks.to_timestamp(message.create_time, target.create_time)


def _elide(target: message_pb2.Message) -> None:
    """Leave out the bodies: a call keeps arguments that are short."""
    before = content_bytes(target)
    target.ClearField("original")
    target.ClearField("metadata_json")
    kept = [part for part in target.parts if part.WhichOneof("content") in {"tool_call", "tool_result"}]
    for part in kept:
        if part.WhichOneof("content") == "tool_result":
            part.tool_result.ClearField("output")
        elif len(part.tool_call.arguments_json) > _ARGUMENTS_KEPT_CHARACTERS:
            part.tool_call.ClearField("arguments_json")
    parts = [message_pb2.Part.FromString(part.SerializeToString()) for part in kept]
    target.ClearField("parts")
    target.parts.extend(parts)
    target.elided_bytes = before - content_bytes(target)
