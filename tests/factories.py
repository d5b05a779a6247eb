"""What tests say: messages, tool calls and their results."""

from typing import Any
from uuid import uuid4

from lockstitch.v1 import message_pb2, tool_call_pb2, working_memory_pb2

USER, ASSISTANT, TOOL = message_pb2.ROLE_USER, message_pb2.ROLE_ASSISTANT, message_pb2.ROLE_TOOL
PENDING, RUNNING = tool_call_pb2.TOOL_CALL_STATUS_PENDING, tool_call_pb2.TOOL_CALL_STATUS_RUNNING
AWAITING_APPROVAL = tool_call_pb2.TOOL_CALL_STATUS_AWAITING_APPROVAL
SUCCEEDED, FAILED = tool_call_pb2.TOOL_CALL_STATUS_SUCCEEDED, tool_call_pb2.TOOL_CALL_STATUS_FAILED
CANCELLED, INTERRUPTED = tool_call_pb2.TOOL_CALL_STATUS_CANCELLED, tool_call_pb2.TOOL_CALL_STATUS_INTERRUPTED


def fresh(what: str = "id") -> str:
    """Make an id that no other test has."""
    return f"{what}-{uuid4().hex}"


def said(*texts: str, role: message_pb2.Role.ValueType = USER, **fields: Any) -> message_pb2.Message:
    """Make a message of texts, a user's unless another role is given."""
    return message_pb2.Message(role=role, parts=[message_pb2.Part(text=text) for text in texts], **fields)


def held(*, role: message_pb2.Role.ValueType = USER, **part: Any) -> message_pb2.Message:
    """Make a message of one part."""
    return message_pb2.Message(role=role, parts=[message_pb2.Part(**part)])


def called(*call_ids: str, name: str = "book", arguments: str = "{}", text: str = "") -> message_pb2.Message:
    """Make an assistant's message that asks for tools."""
    calls = [
        message_pb2.Part(tool_call=message_pb2.ToolCallPart(call_id=call_id, name=name, arguments_json=arguments))
        for call_id in call_ids
    ]
    texts = [message_pb2.Part(text=text)] if text else []
    return message_pb2.Message(role=ASSISTANT, parts=[*texts, *calls])


def answered(call_id: str, json: str = '"done"', *, is_error: bool = False) -> message_pb2.Message:
    """Make the TOOL message that answers a call."""
    result = message_pb2.ToolResultPart(call_id=call_id, json=json, is_error=is_error)
    return message_pb2.Message(role=TOOL, call_id=call_id, parts=[message_pb2.Part(tool_result=result)])


def patched(json: str) -> working_memory_pb2.MemoryChange:
    """Make a merge patch of memory."""
    return working_memory_pb2.MemoryChange(merge_patch_json=json)


def replaced(**fields: Any) -> working_memory_pb2.MemoryChange:
    """Make a replacement of memory."""
    return working_memory_pb2.MemoryChange(replace=working_memory_pb2.WorkingMemory(**fields))


def keyed(*delete: str, **values: str) -> working_memory_pb2.MemoryChange:
    """Make a change of memory by its keys, each to a JSON text."""
    return working_memory_pb2.MemoryChange(keys=working_memory_pb2.MemoryKeys(set=values, delete=delete))


def texts_of(messages: Any) -> list[str]:
    """Give the texts of messages, each message's joined."""
    return ["".join(part.text for part in message.parts) for message in messages]
