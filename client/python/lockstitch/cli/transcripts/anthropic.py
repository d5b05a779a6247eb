"""The format of Anthropic's messages API: content blocks, with results among the user's."""

from lockstitch.cli.output import compact
from lockstitch.cli.transcripts.batches import batches, checked
from lockstitch.cli.transcripts.call_ids import CallIds, is_id
from lockstitch.cli.transcripts.json_values import as_list, as_object, as_text, is_json
from lockstitch.cli.transcripts.lines import Line
from lockstitch.cli.transcripts.transcript import Defaults, LineError, Opening, Transcript, WrongFormat, request_id
from lockstitch.v1.message_pb2 import Blob, Message, Original, Part, Role, ToolCallPart, ToolResultPart

FORMAT = "anthropic"
_ROLES = {"user": Role.ROLE_USER, "assistant": Role.ROLE_ASSISTANT, "system": Role.ROLE_SYSTEM}
_OPENAIS = frozenset({"tool", "function", "developer"})
_URI_CHARACTERS_MAX = 2048

Said = dict[str, object]


def transcript(line: Line, defaults: Defaults) -> Transcript:
    """A line: an object with `id`, `user`, `system` and `messages`, or the list of messages alone."""
    value = line.value
    messages = value.get("messages") if isinstance(value, dict) else value
    if isinstance(value, dict) and str(value.get("format", "")).startswith("lockstitch/"):
        raise WrongFormat(line.number, "this is lockstitch's own export: import it with --format lockstitch")
    if not isinstance(messages, list):
        raise WrongFormat(line.number, "this is no conversation of Anthropic's format: it has no list of messages")
    ids = CallIds()
    stored: list[tuple[Message, bool]] = []
    try:
        system = value.get("system") if isinstance(value, dict) else None
        if system is not None:
            stored += _messages({"role": "system", "content": system}, "the system prompt", ids)
        for place, said in enumerate(messages, start=1):
            stored += _messages(as_object(said, f"message {place}"), f"message {place}", ids)
        opening = _opening(line, defaults)
    except _OpenAIs as error:
        raise WrongFormat(line.number, f"{error} is OpenAI's: import it with --format openai-chat") from error
    except UnicodeEncodeError as error:
        raise LineError(line.number, "it holds a lone surrogate, which is no text") from error
    except ValueError as error:
        raise LineError(line.number, str(error)) from error
    return Transcript(line.number, opening, batches(stored))


class _OpenAIs(ValueError):
    """A message belongs to another format."""


def _opening(line: Line, defaults: Defaults) -> Opening:
    given, user, beside = None, None, None
    if isinstance(line.value, dict):
        given, user = line.value.get("id"), line.value.get("user")
        beside = {key: item for key, item in line.value.items() if key not in {"messages", "system", "id", "user"}}
    session_id = f"{defaults.id_prefix}{given}" if isinstance(given, str) else ""
    if not is_id(session_id) or session_id.startswith("sess_"):
        session_id = ""
    identity = compact(given) if given is not None else f"{line.number}\0{line.text.strip().decode()}"
    return Opening(
        request_id=request_id(FORMAT, defaults.id_prefix, identity),
        session_id=session_id,
        user_id=defaults.owner(user if isinstance(user, str) and is_id(user) else ""),
        agent=defaults.agent,
        metadata_json=compact({FORMAT: beside}) if beside else "",
    )


def _messages(said: Said, what: str, ids: CallIds) -> list[tuple[Message, bool]]:
    """A message of the file as ours: results stand apart. What they leave out, an original on the first keeps."""
    if said.get("role") in _OPENAIS or "tool_calls" in said:
        raise _OpenAIs(f"{what}, of role {compact(said.get('role'))},")
    role = _ROLES.get(str(said.get("role")))
    if role is None:
        raise ValueError(f"{what} has the role {compact(said.get('role'))}, which is none of Anthropic's")
    content = said.get("content")
    blocks: list[Said] = (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else [as_object(block, f"a block of {what}") for block in as_list(content, f"the content of {what}")]
    )
    ids.begin_message()
    made: list[tuple[Message, bool]] = []
    rest = Message(role=role)
    is_exact = said.keys() <= {"role", "content"}
    for block in blocks:
        if block.get("type") == "tool_result" and role == Role.ROLE_USER:
            message, is_orphan, exact = _result(block, what, ids)
            made.append((message, is_orphan))
        else:
            part, exact = _part(block, role, what, ids)
            rest.parts.append(part)
        is_exact &= exact
    if rest.parts or not made:
        made.append((rest, False))
    # A list of one text and the text alone are the same to the API, and told apart here.
    is_exact &= isinstance(content, str) or not _is_one_text(blocks)
    if len(made) > 1 or not is_exact or not blocks:
        made[0][0].original.CopyFrom(Original(format=FORMAT, data=compact(said).encode()))
    return [(checked(message, what), is_orphan) for message, is_orphan in made]


def _is_one_text(blocks: list[Said]) -> bool:
    return len(blocks) == 1 and blocks[0].get("type") == "text"


def _part(block: Said, role: Role.ValueType, what: str, ids: CallIds) -> tuple[Part, bool]:
    """A block as a part, and whether the part says all that the block does."""
    match block.get("type"):
        case "text":
            return Part(text=as_text(block.get("text"), f"the text of {what}")), block.keys() == {"type", "text"}
        case "thinking" if role == Role.ROLE_ASSISTANT:
            thought = as_text(block.get("thinking"), f"the thinking of {what}")
            return Part(reasoning=thought), block.keys() == {"type", "thinking"}
        case "tool_use" if role == Role.ROLE_ASSISTANT:
            return _call(block, ids)
        case "image" if (blob := _blob(block.get("source"))) is not None:
            return Part(blob=blob), False
        case _:
            text = compact(block)
            return (Part(json=text), True) if is_json(text) else (Part(text=text), False)


def _call(block: Said, ids: CallIds) -> tuple[Part, bool]:
    given, name = block.get("id"), block.get("name")
    call_id = ids.of_call(given if isinstance(given, str) else "")
    part = ToolCallPart(
        call_id=call_id,
        name=str(name) if is_id(name) else "unnamed",
        arguments_json=compact(block.get("input", {})),
    )
    exact = block.keys() == {"type", "id", "name", "input"} and (call_id, part.name) == (given, name)
    return Part(tool_call=part), exact


def _result(block: Said, what: str, ids: CallIds) -> tuple[Message, bool, bool]:
    given, content = block.get("tool_use_id"), block.get("content")
    call_id, is_orphan = ids.of_result(given if isinstance(given, str) else "")
    result = ToolResultPart(call_id=call_id, is_error=block.get("is_error") is True)
    if isinstance(content, str):
        result.text = content
    elif content is not None:
        pieces = [as_object(piece, f"a result of {what}") for piece in as_list(content, f"a result of {what}")]
        if all(piece.keys() == {"type", "text"} and isinstance(piece["text"], str) for piece in pieces):
            result.text = "".join(str(piece["text"]) for piece in pieces)
        else:
            result.json = compact(content)
    known = {"type", "tool_use_id", "content", "is_error"}
    exact = isinstance(content, str) and block.keys() <= known and call_id == given and "is_error" not in block
    message = Message(role=Role.ROLE_TOOL, call_id=call_id, parts=[Part(tool_result=result)])
    return message, is_orphan, exact


def _blob(source: object) -> Blob | None:
    """An image that lies elsewhere. One that came along stays in its block, which is kept whole as JSON."""
    if not isinstance(source, dict) or source.get("type") != "url":
        return None
    url = source.get("url")
    fits = isinstance(url, str) and 1 <= len(url) <= _URI_CHARACTERS_MAX and url.isprintable()
    return Blob(mime_type="image/*", uri=str(url)) if fits else None
