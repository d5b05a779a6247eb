"""Model messages in the formats of providers."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence

from lockstitch.context_history import ModelMessage, left_out_note
from lockstitch.v1.message_pb2 import Blob, Part, ToolResultPart

Json = dict[str, object]
"""One object of a provider's request, ready for JSON."""

_ANTHROPIC_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def openai_chat(messages: Iterable[ModelMessage]) -> list[Json]:
    """The messages of OpenAI's chat completions."""
    return [_openai_message(message) for message in messages]


def anthropic(messages: Sequence[ModelMessage], *, opening: str) -> Json:
    """``system`` and ``messages`` of Anthropic's messages API.

    Its rules: instructions stand apart; user and assistant take turns, the user first (``opening`` stands there where
    the history begins with the assistant); results are the user's and come first in it; call ids are unique and plain.
    """
    turns: list[tuple[str, list[Json]]] = []
    instructions: list[str] = []
    ids = _CallIds()
    for message in messages:
        if message.role in {"system", "developer"}:
            instructions.append("\n".join(_text(part) for part in message.parts))
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if role == "assistant":
            ids.forget_unanswered()
        blocks = [block for part in message.parts for block in _anthropic_blocks(part, ids)]
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    if turns and turns[0][0] == "assistant":
        turns.insert(0, ("user", [_text_block(opening)]))
    return {
        "system": "\n\n".join(instructions),
        "messages": [{"role": role, "content": blocks or [_text_block("(no text)")]} for role, blocks in turns],
    }


class _CallIds:
    """Call ids that Anthropic takes: a provider's own where it is plain and new, else one made of it."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._current: dict[str, list[str]] = {}

    def of_call(self, call_id: str) -> str:
        plain = call_id
        number = 1
        while plain in self._used or not _ANTHROPIC_ID.fullmatch(plain):
            number += 1
            plain = f"{re.sub(r'[^A-Za-z0-9_-]', '_', call_id)[:48]}_{number}"
        self._used.add(plain)
        self._current.setdefault(call_id, []).append(plain)
        return plain

    def of_result(self, call_id: str) -> str:
        # Results stand behind their call in call order: the first call of that id that has none yet is the one.
        return self._current[call_id].pop(0)

    def forget_unanswered(self) -> None:
        """Begins another assistant's message: results of earlier ones have all been met."""
        self._current.clear()


def _openai_message(message: ModelMessage) -> Json:
    if message.role == "tool":
        result = message.parts[0].tool_result
        return {"role": "tool", "tool_call_id": result.call_id, "content": _output(result)}
    pieces = [piece for part in message.parts if (piece := _openai_piece(part)) is not None]
    texts = [piece["text"] for piece in pieces if piece["type"] == "text"]
    content: object = pieces
    if len(pieces) == len(texts) and len(texts) <= 1:
        content = texts[0] if texts else ""
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments_json or "{}"},
        }
        for call in message.calls
    ]
    if calls:
        return {"role": message.role, "content": content or None, "tool_calls": calls}
    return {"role": message.role, "content": content}


def _openai_piece(part: Part) -> Json | None:
    match part.WhichOneof("content"):
        case "tool_call" | "reasoning" | "tool_result" | None:
            return None  # a call has a field of its own; reasoning is not sent back
        case "blob" if part.blob.mime_type.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": part.blob.uri or _data_uri(part.blob)}}
        case _:
            return {"type": "text", "text": _text(part)}


def _anthropic_blocks(part: Part, ids: _CallIds) -> list[Json]:
    match part.WhichOneof("content"):
        case "tool_call":
            call = part.tool_call
            arguments = json.loads(call.arguments_json or "{}")
            wrapped = arguments if isinstance(arguments, dict) else {"arguments": arguments}
            return [{"type": "tool_use", "id": ids.of_call(call.call_id), "name": call.name, "input": wrapped}]
        case "tool_result":
            result = part.tool_result
            block: Json = {
                "type": "tool_result",
                "tool_use_id": ids.of_result(result.call_id),
                "content": _output(result),
            }
            return [block | {"is_error": True} if result.is_error else block]
        case "blob" if part.blob.mime_type.startswith("image/"):
            return [{"type": "image", "source": _image_source(part.blob)}]
        case "reasoning" | None:
            return []
        case _:
            return [_text_block(text)] if (text := _text(part)) else []


def _text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def _image_source(blob: Blob) -> Json:
    if blob.uri:
        return {"type": "url", "url": blob.uri}
    return {"type": "base64", "media_type": blob.mime_type, "data": b64encode(blob.data).decode()}


def _data_uri(blob: Blob) -> str:
    return f"data:{blob.mime_type};base64,{b64encode(blob.data).decode()}"


def _text(part: Part) -> str:
    """A part as text, where it has to be."""
    match part.WhichOneof("content"):
        case "text":
            return part.text
        case "json":
            return part.json
        case "blob":
            return f"[{part.blob.mime_type}: {part.blob.uri or left_out_note(len(part.blob.data))}]"
        case _:
            return ""


def _output(result: ToolResultPart) -> str:
    return result.json if result.WhichOneof("output") == "json" else result.text
