"""OpenAI's chat format, both ways: what the normal form has no place for stays in a message's original."""

import json
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error

from lockstitch.cli.output import compact
from lockstitch.cli.transcripts.batches import batches, checked
from lockstitch.cli.transcripts.call_ids import CallIds, is_id
from lockstitch.cli.transcripts.json_values import as_list, as_object, as_text, is_json
from lockstitch.cli.transcripts.lines import Line
from lockstitch.cli.transcripts.transcript import Defaults, LineError, Opening, Transcript, WrongFormat, request_id
from lockstitch.v1.message_pb2 import Blob, Message, Original, Part, Role, ToolCallPart, ToolResultPart
from lockstitch.v1.session_pb2 import Session

FORMAT = "openai-chat"
_ROLES = {
    "user": Role.ROLE_USER,
    "assistant": Role.ROLE_ASSISTANT,
    "tool": Role.ROLE_TOOL,
    "function": Role.ROLE_TOOL,  # what "tool" was called in 2023
    "system": Role.ROLE_SYSTEM,
    "developer": Role.ROLE_DEVELOPER,
}
_NAMES = {number: name for name, number in _ROLES.items() if name != "function"}
_ANTHROPICS = frozenset({"tool_use", "tool_result", "thinking"})
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/=]*)")
_URI_CHARACTERS_MAX = 2048
_ANY_IMAGE = "image/*"

Chat = dict[str, object]


def transcript(line: Line, defaults: Defaults) -> Transcript:
    """A line: an object with `id`, `user` and `messages`, or the list of messages alone."""
    value = line.value
    messages = value.get("messages") if isinstance(value, dict) else value
    if isinstance(value, dict) and str(value.get("format", "")).startswith("lockstitch/"):
        raise WrongFormat(line.number, "this is lockstitch's own export: import it with --format lockstitch")
    if not isinstance(messages, list):
        raise WrongFormat(line.number, "this is no chat of OpenAI's format: it has no list of messages")
    try:
        ids = CallIds()
        stored = [_message(said, f"message {place}", ids) for place, said in enumerate(messages, start=1)]
        opening = _opening(line, defaults)
    except _Anthropics as error:
        raise WrongFormat(line.number, f"{error} is Anthropic's: import it with --format anthropic") from error
    except UnicodeEncodeError as error:
        raise LineError(line.number, "it holds a lone surrogate, which is no text") from error
    except ValueError as error:
        raise LineError(line.number, str(error)) from error
    return Transcript(line.number, opening, batches(stored))


class _Anthropics(ValueError):
    """A piece of a message belongs to another format."""


def _opening(line: Line, defaults: Defaults) -> Opening:
    """The session of a chat; what its line has beside the messages is kept as metadata, unless the session says it."""
    frame: Chat | None = {**line.value, "messages": None} if isinstance(line.value, dict) else None
    given, user = (frame or {}).get("id"), (frame or {}).get("user")
    owner = defaults.owner(user if isinstance(user, str) and is_id(user) else "")
    session_id = f"{defaults.id_prefix}{given}" if isinstance(given, str) else ""
    if not is_id(session_id) or session_id.startswith("sess_"):
        session_id = ""
    # Without an id, a chat is known by what it says and where: two equal chats in a file are two.
    identity = compact(given) if given is not None else f"{line.number}\0{line.text.strip().decode()}"
    said_by_session = frame == _frame(Session(session_id=session_id, user_id=owner))
    return Opening(
        request_id=request_id(FORMAT, defaults.id_prefix, identity),
        session_id=session_id,
        user_id=owner,
        agent=defaults.agent,
        metadata_json="" if said_by_session else compact({FORMAT: frame}),
    )


def _frame(session: Session) -> Chat:
    return {"id": session.session_id, **({"user": session.user_id} if session.user_id else {}), "messages": None}


def frame_of(session: Session) -> Chat | None:
    """What stands around a session's messages, in whose place it has "messages"; None where they stand alone."""
    if f'"{FORMAT}"' in session.metadata_json:
        kept = json.loads(session.metadata_json)
        frame = kept.get(FORMAT, False) if isinstance(kept, dict) else False
        if frame is None or (isinstance(frame, dict) and "messages" in frame):
            return frame
    return _frame(session)


def _message(said: object, what: str, ids: CallIds) -> tuple[Message, bool]:
    """A message of the normal form, and whether it is an orphan. It has an original unless it says all without."""
    said = as_object(said, what)
    role = _ROLES.get(str(said.get("role")))
    if role is None:
        raise ValueError(f"{what} has the role {compact(said.get('role'))}, which is none of OpenAI's chat")
    is_orphan = False
    if role == Role.ROLE_TOOL:
        call_id, is_orphan = ids.of_result(_call_id(said))
        message = Message(role=role, call_id=call_id, parts=_result(said, call_id))
    else:
        message = Message(role=role, parts=_content(said.get("content"), what))
        if role == Role.ROLE_ASSISTANT:
            message.parts.extend(_calls(said, what, ids))
    name = said.get("name")
    if isinstance(name, str) and is_id(name):
        message.author = name
    if not message.parts or chat_message(message) != said:
        message.original.CopyFrom(Original(format=FORMAT, data=compact(said).encode()))
    return checked(message, what), is_orphan


def _call_id(said: Chat) -> str:
    given = said.get("tool_call_id", said.get("name") if said.get("role") == "function" else None)
    return given if isinstance(given, str) else ""


def _content(content: object, what: str) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [Part(text=content)]
    return [_part(piece, what) for piece in as_list(content, f"the content of {what}")]


def _part(piece: object, what: str) -> Part:
    if isinstance(piece, str):
        return Part(text=piece)
    piece = as_object(piece, f"a piece of {what}")
    if piece.get("type") in _ANTHROPICS:
        raise _Anthropics(f"a piece of type {compact(piece['type'])}")
    if piece.get("type") == "text":
        return Part(text=as_text(piece.get("text"), f"the text of {what}"))
    image = piece.get("image_url")
    if piece.get("type") == "image_url" and isinstance(image, dict) and (blob := _blob(image.get("url"))):
        return Part(blob=blob)
    text = compact(piece)
    return Part(json=text) if is_json(text) else Part(text=text)


def _blob(url: object) -> Blob | None:
    if not isinstance(url, str):
        return None
    if found := _DATA_URL.fullmatch(url):
        try:
            return Blob(mime_type=found[1], data=b64decode(found[2], validate=True))
        except Base64Error:
            return None
    if url.startswith("data:") or len(url) > _URI_CHARACTERS_MAX or not url.isprintable() or not url:
        return None
    return Blob(mime_type=_ANY_IMAGE, uri=url)


def _calls(said: Chat, what: str, ids: CallIds) -> list[Part]:
    ids.begin_message()
    asked = as_list(said.get("tool_calls") or [], f"tool_calls of {what}")
    functions = [as_object(call, f"a tool call of {what}") for call in asked]
    if isinstance(said.get("function_call"), dict):  # what was asked for before tool_calls: one, known by its name
        function = as_object(said["function_call"], "")
        functions.append({"id": function.get("name"), "function": function})
    return [_call(call, ids) for call in functions]


def _call(call: Chat, ids: CallIds) -> Part:
    given = call.get("id")
    # "custom" tools take plain text where functions take JSON.
    function = call.get("function", call.get("custom"))
    function = function if isinstance(function, dict) else {}
    name, arguments = function.get("name"), function.get("arguments", function.get("input", ""))
    text = arguments if isinstance(arguments, str) else compact(arguments)
    return Part(
        tool_call=ToolCallPart(
            call_id=ids.of_call(given if isinstance(given, str) else ""),
            name=str(name) if is_id(name) else "unnamed",
            arguments_json=text if is_json(text) else compact(text),
        )
    )


def _result(said: Chat, call_id: str) -> list[Part]:
    result = ToolResultPart(call_id=call_id)
    content = said.get("content")
    if isinstance(content, str):
        result.text = content
    elif content is not None:
        pieces = as_list(content, "a result")
        texts = [piece.get("text") for piece in pieces if isinstance(piece, dict)]
        if len(texts) == len(pieces) and all(isinstance(text, str) for text in texts):
            result.text = "".join(str(text) for text in texts)
        else:
            result.json = compact(content)
    return [Part(tool_result=result)]


def chat_message(message: Message) -> Chat:
    """A stored message as OpenAI's chat has it: its original where there is one, else as near as the format comes."""
    if message.original.format == FORMAT:
        return as_object(json.loads(message.original.data), "an original")
    said: Chat = {"role": _NAMES[message.role]}
    if message.role == Role.ROLE_TOOL:
        said |= {"tool_call_id": message.call_id} | ({"name": message.author} if message.author else {})
        return said | {"content": _output(message)}
    said |= {"name": message.author} if message.author else {}
    calls = [
        {
            "id": part.tool_call.call_id,
            "type": "function",
            "function": {"name": part.tool_call.name, "arguments": part.tool_call.arguments_json},
        }
        for part in message.parts
        if part.HasField("tool_call")
    ]
    pieces = [piece for part in message.parts if (piece := _piece(part)) is not None]
    is_text = len(pieces) == 1 and pieces[0].get("type") == "text"
    empty = None if calls else ""
    said |= {"content": pieces[0].get("text") if is_text else pieces or empty}
    return said | ({"tool_calls": calls} if calls else {})


def _output(message: Message) -> str:
    """What a TOOL message gave back, as text."""
    for part in message.parts:
        match part.WhichOneof("content"):
            case "tool_result":
                return part.tool_result.text or part.tool_result.json
            case "json":
                return part.json
    return "".join(part.text for part in message.parts)


def _piece(part: Part) -> Chat | None:
    match part.WhichOneof("content"):
        case "text":
            return {"type": "text", "text": part.text}
        case "json":
            value = json.loads(part.json)
            is_piece = isinstance(value, dict) and isinstance(value.get("type"), str) and value["type"] != "text"
            return value if is_piece else {"type": "text", "text": part.json}
        case "blob" if part.blob.mime_type.startswith("image/"):
            url = part.blob.uri or _data_url(part.blob)
            return {"type": "image_url", "image_url": {"url": url}}
        case "blob":
            return {"type": "file", "file": {"file_data": part.blob.uri or _data_url(part.blob)}}
        case _:
            return None  # calls stand beside the content, and the format has no reasoning


def _data_url(blob: Blob) -> str:
    return f"data:{blob.mime_type};base64,{b64encode(blob.data).decode()}"
