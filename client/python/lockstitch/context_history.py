"""A session's messages as a model takes them: calls and results together, holes named, within a budget."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lockstitch.v1.message_pb2 import Message, Part, Role, ToolCallPart, ToolResultPart
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallStatus

ModelRole = Literal["system", "developer", "user", "assistant", "tool"]

NO_RESULT = "No result recorded for this call."
INTERRUPTED = "No result recorded for this call: it was interrupted, and its outcome is unknown."

_ROLES: dict[Role.ValueType, ModelRole] = {
    Role.ROLE_SYSTEM: "system",
    Role.ROLE_DEVELOPER: "developer",
    Role.ROLE_USER: "user",
    Role.ROLE_ASSISTANT: "assistant",
    Role.ROLE_TOOL: "tool",
}


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One message for a model, in no provider's format.

    Attributes:
        role: Who speaks.
        parts: The content in order, as the wire has it: texts, JSON, blobs, reasoning, an assistant's calls; for a tool
            exactly one ``tool_result``.
        seq: The message's place in its session; 0 for what was never stored.
    """

    role: ModelRole
    parts: tuple[Part, ...]
    seq: int = 0

    @property
    def calls(self) -> list[ToolCallPart]:
        """The tool calls that it asks for."""
        return [part.tool_call for part in self.parts if part.WhichOneof("content") == "tool_call"]

    @property
    def tokens(self) -> int:
        """What it costs by the server's estimate: 4 + bytes / 4, rounded up."""
        return 4 - (-sum(_bytes(part) for part in self.parts) // 4)


@dataclass(slots=True)
class Group:
    """A message, and the results of the calls that it made: taken or left out together."""

    head: ModelMessage
    message_id: str
    results: list[ModelMessage | None] = field(default_factory=list)
    """One for each call, in call order; None where there is none."""

    def flat(self) -> Iterator[ModelMessage]:
        yield self.head
        yield from (result for result in self.results if result is not None)

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.flat())

    def unanswered(self) -> list[ToolCallPart]:
        return [call for call, result in zip(self.head.calls, self.results, strict=True) if result is None]


def groups(messages: Iterable[Message]) -> list[Group]:
    """Puts each result behind the call that it answers; a result that answers none is left out.

    Providers use call ids again, so a result belongs to the newest call of its id that has none yet.
    """
    found: list[Group] = []
    open_calls: defaultdict[str, list[tuple[Group, int]]] = defaultdict(list)
    for message in messages:
        if message.role == Role.ROLE_TOOL:
            result = _result(message)
            call_id = result.parts[0].tool_result.call_id
            if open_calls[call_id]:
                group, place = open_calls[call_id].pop()
                group.results[place] = result
            continue
        group = Group(_stored(message), message.message_id)
        calls = group.head.calls
        group.results = [None] * len(calls)
        # Backwards, so that of two calls with one id in one message the first is answered first.
        for place in reversed(range(len(calls))):
            open_calls[calls[place].call_id].append((group, place))
        found.append(group)
    return found


def name_holes(history: Sequence[Group], ledger: Iterable[ToolCall]) -> None:
    """Gives each call that later messages have passed over a result that says so.

    A call that waits for approval keeps waiting, and the calls of the last message are the caller's to run: they get
    none.
    """
    status = {(call.message_id, call.call_id): call.status for call in ledger}
    for group in history[:-1]:
        for place, call in enumerate(group.head.calls):
            known = status.get((group.message_id, call.call_id))
            if group.results[place] is None and known != ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL:
                interrupted = known == ToolCallStatus.TOOL_CALL_STATUS_INTERRUPTED
                group.results[place] = _made_up(call.call_id, INTERRUPTED if interrupted else NO_RESULT)


def newest_within(history: Sequence[Group], tokens_max: int) -> list[Group]:
    """The newest groups that fit, oldest first. The newest is always there: too large alone, its bodies give way."""
    taken: list[Group] = []
    left = tokens_max
    for group in reversed(history):
        if group.tokens > left:
            if not taken:
                taken.append(_without_bodies(group, tokens_max))
            break
        left -= group.tokens
        taken.append(group)
    return taken[::-1]


def left_out_note(size_bytes: int) -> str:
    """What stands in place of a body that had no room."""
    return f"[{size_bytes} bytes left out]"


def _without_bodies(group: Group, tokens_max: int) -> Group:
    """The group with bodies replaced by notes, results first, until it fits or none is left. Calls stay."""
    slim = Group(group.head, group.message_id, list(group.results))
    for place, result in enumerate(slim.results):
        if slim.tokens > tokens_max and result is not None:
            slim.results[place] = _without_output(result)
    for place, part in enumerate(slim.head.parts):
        if slim.tokens > tokens_max and part.WhichOneof("content") != "tool_call":
            parts = list(slim.head.parts)
            parts[place] = _shorter(part, Part(text=left_out_note(_bytes(part))))
            slim.head = ModelMessage(slim.head.role, tuple(parts), slim.head.seq)
    return slim


def _without_output(result: ModelMessage) -> ModelMessage:
    part = result.parts[0]
    slim = ToolResultPart(call_id=part.tool_result.call_id, is_error=part.tool_result.is_error)
    slim.text = left_out_note(_bytes(part))
    return ModelMessage(result.role, (_shorter(part, Part(tool_result=slim)),), result.seq)


def _shorter(part: Part, note: Part) -> Part:
    return note if _bytes(note) < _bytes(part) else part


def _stored(message: Message) -> ModelMessage:
    parts = list(message.parts)
    if message.elided_bytes:
        parts.insert(0, Part(text=left_out_note(message.elided_bytes)))  # text stands before calls
    return ModelMessage(_ROLES[message.role], tuple(parts), message.seq)


def _result(message: Message) -> ModelMessage:
    """A tool's message, brought to one tool_result part that names its call, however it was sent."""
    result = ToolResultPart(call_id=message.call_id)
    texts: list[str] = []
    for part in message.parts:
        match part.WhichOneof("content"):
            case "tool_result":
                result.MergeFrom(part.tool_result)
            case "text":
                texts.append(part.text)
            case "json":
                texts.append(part.json)
            case _:
                texts.append(left_out_note(_bytes(part)))
    if result.WhichOneof("output") is None:
        if message.elided_bytes:
            texts.append(left_out_note(message.elided_bytes))
        result.text = "\n".join(texts)
    return ModelMessage("tool", (Part(tool_result=result),), message.seq)


def _made_up(call_id: str, text: str) -> ModelMessage:
    return ModelMessage("tool", (Part(tool_result=ToolResultPart(call_id=call_id, text=text, is_error=True)),))


def _bytes(part: Part) -> int:
    """The bytes of a part's content, whatever kind it is."""
    blob, call, result = part.blob, part.tool_call, part.tool_result
    texts = (part.text, part.json, part.reasoning, blob.uri, call.name, call.arguments_json, result.json, result.text)
    return len(blob.data) + sum(len(text.encode()) for text in texts)
