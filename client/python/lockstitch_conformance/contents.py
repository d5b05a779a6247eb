"""What sessions hold, made from what a check has."""

from collections.abc import Mapping
from typing import Any

from lockstitch.v1.message_pb2 import (
    ROLE_ASSISTANT,
    ROLE_TOOL,
    ROLE_USER,
    Message,
    Part,
    ToolCallPart,
    ToolResultPart,
)
from lockstitch.v1.run_pb2 import Fence, Run
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemoryKeys


def said(message: str | Message, **fields: Any) -> Message:
    """What the person said, or a message as it is."""
    if isinstance(message, Message):
        return message
    return Message(role=ROLE_USER, parts=[Part(text=message)], **fields)


def answered(*parts: str | Part, **fields: Any) -> Message:
    """What the model said; a text is a part of it."""
    made = [Part(text=part) if isinstance(part, str) else part for part in parts]
    return Message(role=ROLE_ASSISTANT, parts=made, **fields)


def calling(*call_ids: str, name: str = "look_up", arguments_json: str = "{}", **fields: Any) -> Message:
    """A message of the model's that calls a tool, once for each id."""
    calls = [ToolCallPart(call_id=call_id, name=name, arguments_json=arguments_json) for call_id in call_ids]
    return answered(*(Part(tool_call=call) for call in calls), **fields)


def gave(call_id: str, result_json: str = "1", **fields: Any) -> Message:
    """What a tool gave."""
    result = ToolResultPart(call_id=call_id, json=result_json)
    return Message(role=ROLE_TOOL, call_id=call_id, parts=[Part(tool_result=result)], **fields)


def patch(patch_json: str) -> MemoryChange:
    return MemoryChange(merge_patch_json=patch_json)


def keys(values: Mapping[str, str] | None = None, *delete: str) -> MemoryChange:
    """A change of top-level keys: JSON to set, names to delete."""
    return MemoryChange(keys=MemoryKeys(set=values or {}, delete=delete))


def fence(run: Run) -> Fence:
    return Fence(run_id=run.run_id, fencing_token=run.fencing_token)
