"""Makers of messages: short names for what a conversation is made of.

Each gives a plain proto ``Message`` to be sent with ``session.append`` or ``client.create``; a message that you filled
in yourself does as well.

    await session.append(
        messages=[
            user("What is the weather in Oslo?"),
            assistant(tool_calls=[call("c1", "weather", {"city": "Oslo"})]),
            tool("c1", {"degrees": 4}),
            assistant("It is 4 degrees."),
        ]
    )

All of them raise :class:`lockstitch.InvalidField`, which is a ValueError, for text that holds a lone surrogate and for
objects that JSON can't write (NaN, infinities), before anything is sent. Python objects are written as compact JSON
with their keys in order and their integers exact; :class:`lockstitch.JsonText` is sent byte for byte.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from lockstitch.v1.message_pb2 import Blob, Message, Part, Role, ToolCallPart, ToolResultPart, Usage
from lockstitch.wire import JsonText, checked_text, timestamp, to_json

Content = str | Part
"""A piece of a message: text, or any part of the wire."""


def user(
    *content: Content,
    message_id: str = "",
    author: str = "",
    event_time: datetime | None = None,
    metadata: object = None,
) -> Message:
    """What the person said: texts and parts, in order.

    Args:
        content: Texts, or parts such as :func:`json_part` and :func:`blob` give.
        message_id: Your own id for it, 1 to 128 characters, unique in its session for good; the server makes one
            otherwise.
        author: Who within the role, at most 128 characters.
        event_time: Your own time of it, with a time zone. Kept and filtered by; orders nothing.
        metadata: An object that is kept with it as JSON, at most 64 KiB; None for none.

    Example:
        ``user("Look at this:", blob("image/png", uri="https://example.org/a.png"))``
    """
    return _message(
        "user", Role.ROLE_USER, content, message_id=message_id, author=author, event_time=event_time, metadata=metadata
    )


def assistant(
    *content: Content,
    tool_calls: Iterable[ToolCallPart] = (),
    reasoning: str = "",
    usage: Usage | None = None,
    incomplete: bool = False,
    message_id: str = "",
    author: str = "",
    event_time: datetime | None = None,
    metadata: object = None,
) -> Message:
    """What the model said, and the tools it asks for. Its calls enter the session's ledger with it.

    Args:
        content: Texts and parts, in order.
        tool_calls: What :func:`call` gives; they stand behind the content.
        reasoning: The model's reasoning; it stands before the content.
        usage: The model's name and the tokens it read and wrote.
        incomplete: True where the text broke off before its end.
        message_id, author, event_time, metadata: As for :func:`user`.

    Example:
        ``assistant("I'll look it up.", tool_calls=[call("c1", "search", {"q": "fjords"})])``
    """
    message = _message(
        "assistant",
        Role.ROLE_ASSISTANT,
        content,
        message_id=message_id,
        author=author,
        event_time=event_time,
        metadata=metadata,
    )
    if reasoning:
        message.parts.insert(0, Part(reasoning=checked_text(reasoning, field="assistant message: reasoning")))
    message.parts.extend(Part(tool_call=tool_call) for tool_call in tool_calls)
    if usage is not None:
        message.usage.CopyFrom(usage)
    message.incomplete = incomplete
    return message


def call(call_id: str, name: str, arguments: Mapping[str, object] | str) -> ToolCallPart:
    """A tool call, for :func:`assistant`.

    Args:
        call_id: The provider's id of the call, 1 to 128 characters. It may be used again by a later call.
        name: The tool's name, 1 to 128 characters.
        arguments: The arguments as an object; or as the JSON text that the provider gave, kept byte for byte.

    Example:
        ``call("c1", "weather", {"city": "Oslo"})`` or ``call(choice.id, choice.function.name,
        choice.function.arguments)``
    """
    field = f"tool call {call_id!r}: arguments"
    return ToolCallPart(
        call_id=checked_text(call_id, field="tool call: call_id"),
        name=checked_text(name, field=f"tool call {call_id!r}: name"),
        arguments_json=to_json(JsonText(arguments) if isinstance(arguments, str) else arguments, field=field),
    )


def tool(
    call_id: str,
    result: object = None,
    *,
    is_error: bool = False,
    message_id: str = "",
    author: str = "",
    event_time: datetime | None = None,
    metadata: object = None,
) -> Message:
    """What a tool gave back. Ends its call in the ledger with it: SUCCEEDED, or FAILED with ``is_error``.

    Args:
        call_id: The provider's id of the call that it answers.
        result: Text is kept as text, :class:`JsonText` as JSON byte for byte, any other object is written as JSON. None
            is an outcome without output; JSON's null is ``JsonText("null")``.
        is_error: True where the tool failed.
        message_id, author, event_time, metadata: As for :func:`user`.

    Example:
        ``tool("c1", {"degrees": 4})``
    """
    message = _message(
        f"tool {call_id!r}",
        Role.ROLE_TOOL,
        (),
        message_id=message_id,
        author=author,
        event_time=event_time,
        metadata=metadata,
    )
    message.call_id = checked_text(call_id, field="tool message: call_id")
    part = ToolResultPart(call_id=message.call_id, is_error=is_error)
    field = f"tool {call_id!r} message: result"
    if isinstance(result, str) and not isinstance(result, JsonText):
        part.text = checked_text(result, field=field)
    elif result is not None:
        part.json = to_json(result, field=field)
    message.parts.append(Part(tool_result=part))
    return message


def system(*content: Content, message_id: str = "", author: str = "", metadata: object = None) -> Message:
    """Instructions of the application to the model. Arguments as for :func:`user`."""
    return _message("system", Role.ROLE_SYSTEM, content, message_id=message_id, author=author, metadata=metadata)


def developer(*content: Content, message_id: str = "", author: str = "", metadata: object = None) -> Message:
    """Instructions of the developer, for models that tell them from the system's. Arguments as for :func:`user`."""
    return _message("developer", Role.ROLE_DEVELOPER, content, message_id=message_id, author=author, metadata=metadata)


def json_part(value: object) -> Part:
    """A piece of JSON.

    Example:
        ``user("The form:", json_part({"name": "Ada", "order": 7203685477580123457}))``
    """
    return Part(json=to_json(value, field="json part"))


def blob(mime_type: str, *, data: bytes | None = None, uri: str = "") -> Part:
    """Bytes (``data``, counted towards the request's 3 MiB) or where they lie (``uri``, never fetched by the server).

    Example:
        ``user("What is this?", blob("image/png", data=path.read_bytes()))``
    """
    mime_type = checked_text(mime_type, field="blob: mime_type")
    if data is not None:
        return Part(blob=Blob(mime_type=mime_type, data=data))
    return Part(blob=Blob(mime_type=mime_type, uri=checked_text(uri, field="blob: uri")))


def _message(
    who: str,
    role: Role.ValueType,
    content: Iterable[Content],
    *,
    message_id: str,
    author: str,
    metadata: object,
    event_time: datetime | None = None,
) -> Message:
    parts = [
        Part(text=checked_text(piece, field=f"{who} message: parts[{place}].text")) if isinstance(piece, str) else piece
        for place, piece in enumerate(content)
    ]
    return Message(
        message_id=checked_text(message_id, field=f"{who} message: message_id"),
        role=role,
        author=checked_text(author, field=f"{who} message: author"),
        parts=parts,
        event_time=timestamp(event_time, field=f"{who} message: event_time"),
        metadata_json="" if metadata is None else to_json(metadata, field=f"{who} message: metadata"),
    )
