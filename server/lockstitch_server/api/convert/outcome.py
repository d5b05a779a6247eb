"""The outcome of a tool call, which a TOOL message and CompleteToolCall say in two ways."""

from dataclasses import dataclass
from hashlib import sha256

import orjson

from lockstitch.v1 import message_pb2
from lockstitch_server.model import ToolCallStatus


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: equal digests are equal outcomes, whichever way they were said."""

    status: ToolCallStatus
    result: bytes | None
    """JSON text."""
    error: str

    def digest(self) -> bytes:
        """The first 16 bytes of SHA-256 over status, result and error."""
        result = b"" if self.result is None else b"=" + self.result
        return sha256(b"\0".join((bytes((self.status,)), self.error.encode(), result))).digest()[:16]


def of_message(message: message_pb2.Message) -> Outcome:
    """The outcome that a TOOL message holds: in its tool_result part, else in its text or json parts."""
    texts = [part.text for part in message.parts if part.WhichOneof("content") == "text"]
    for part in message.parts:
        if part.WhichOneof("content") == "tool_result":
            return _of_result(part.tool_result, "".join(texts))
    for part in message.parts:
        if part.WhichOneof("content") == "json":
            return Outcome(ToolCallStatus.SUCCEEDED, part.json.encode(), "")
    return Outcome(ToolCallStatus.SUCCEEDED, orjson.dumps("".join(texts)) if texts else None, "")


def _of_result(part: message_pb2.ToolResultPart, error: str) -> Outcome:
    output = part.WhichOneof("output")
    if part.is_error and output == "text":
        return Outcome(ToolCallStatus.FAILED, None, part.text)
    status = ToolCallStatus.FAILED if part.is_error else ToolCallStatus.SUCCEEDED
    if output == "json":
        return Outcome(status, part.json.encode(), error if part.is_error else "")
    return Outcome(status, orjson.dumps(part.text) if output == "text" else None, "")


def to_message(outcome: Outcome, call_id: str) -> bytes:
    """The body of the TOOL message that CompleteToolCall writes for an outcome."""
    message = message_pb2.Message()
    part = message.parts.add().tool_result
    part.call_id = call_id
    part.is_error = outcome.status is not ToolCallStatus.SUCCEEDED
    if outcome.result is not None:
        part.json = outcome.result.decode()
        if outcome.error:
            message.parts.add().text = outcome.error
    elif outcome.error:
        part.text = outcome.error
    return message.SerializeToString()
