"""`sessions show`."""

import json

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lockstitch.cli.failures import about
from lockstitch.cli.listing import status_of
from lockstitch.cli.output import console, is_terminal, moment, on_one_line, plain, shown, write_json
from lockstitch.cli.settings import Connection
from lockstitch.v1.message_pb2 import Message, Part, Role
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import GetSessionResponse
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallStatus
from lockstitch.v1.working_memory_pb2 import WorkingMemory

_STYLES = {
    Role.ROLE_USER: "bold green",
    Role.ROLE_ASSISTANT: "bold cyan",
    Role.ROLE_TOOL: "bold yellow",
    Role.ROLE_SYSTEM: "bold magenta",
    Role.ROLE_DEVELOPER: "bold magenta",
}
_TEXT_CHARACTERS = 2000
_BODY_CHARACTERS = 300


async def show_session(connection: Connection, session_id: str, *, messages: int, at_version: int | None) -> None:
    """Print a session with its memory, its open tool calls and its newest messages."""
    async with connection.client() as client:
        with about(session_id, connection.target):
            found = await client.session(session_id).get(
                recent_messages=messages, include_memory=True, include_open_tool_calls=True, at_version=at_version
            )
    if is_terminal():
        _print(found, console())
    else:
        write_json(plain(found))


def _print(found: GetSessionResponse, out: Console) -> None:
    out.print(_session(found.session))
    if found.memory.version:
        out.print(Panel(_memory(found.memory), title=f"Working memory, version {found.memory.version}"))
    if found.open_tool_calls:
        out.print(Panel(_calls(list(found.open_tool_calls)), title="Open tool calls"))
    if found.messages:
        older = found.messages[0].seq > 1
        first, last = found.messages[0].seq, found.messages[-1].seq
        title = f"Messages {first} to {last}" if older else "Messages"
        out.print(Panel(Group(*map(message_text, found.messages)), title=title))
    if found.truncated:
        out.print("Not all of it had room in one answer: `lockstitch sessions export` gives everything.")


def _session(session: Session) -> Table:
    rows = {
        "session": session.session_id,
        "title": session.title,
        "status": status_of(session),
        "user": session.user_id,
        "agent": session.agent,
        "labels": " ".join(f"{key}={value}" for key, value in sorted(session.labels.items())),
        "version": str(session.version),
        "messages": str(session.message_count),
        "created": moment(session.create_time),
        "used": moment(session.last_activity_time),
        "expires": moment(session.expire_time) if session.HasField("expire_time") else "",
        "unused for": str(session.idle_ttl.ToTimedelta()) if session.HasField("idle_ttl") else "",
        "closed": moment(session.close_time) if session.HasField("close_time") else "",
        "because": session.close_reason,
        "metadata": on_one_line(session.metadata_json, _BODY_CHARACTERS),
    }
    return _grid([(name, Text(on_one_line(value))) for name, value in rows.items() if value])


def _memory(memory: WorkingMemory) -> Table:
    rows: list[tuple[str, RenderableType]] = []
    if memory.HasField("goal"):
        rows.append(("goal", Text(shown(memory.goal))))
    for name, items in (
        ("plan", memory.plan),
        ("completed", memory.completed),
        ("errors", memory.errors),
        ("important files", memory.important_files),
    ):
        if items:
            rows.append((name, Text("\n".join(f"• {on_one_line(item)}" for item in items))))
    if memory.HasField("next_action"):
        rows.append(("next action", Text(shown(memory.next_action))))
    if memory.extra_json:
        for key, value in json.loads(memory.extra_json).items():
            rows.append((on_one_line(key), Text(on_one_line(json.dumps(value, ensure_ascii=False), _TEXT_CHARACTERS))))
    return _grid(rows)


def _calls(calls: list[ToolCall]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("CALL", "TOOL", "STATUS", "SINCE", "ARGUMENTS"):
        table.add_column(name, overflow="fold")
    for call in calls:
        since = call.start_time if call.HasField("start_time") else call.create_time
        table.add_row(
            on_one_line(call.call_id),
            on_one_line(call.name),
            call_status(call),
            moment(since),
            on_one_line(call.arguments_json, _BODY_CHARACTERS),
        )
    return table


def call_status(call: ToolCall) -> str:
    """A tool call's status as people write it."""
    return ToolCallStatus.Name(call.status).removeprefix("TOOL_CALL_STATUS_").replace("_", " ").lower()


def message_text(message: Message) -> Text:
    """A message for people: who said it, when, and its parts."""
    name = Role.Name(message.role).removeprefix("ROLE_").lower()
    by = f" ({on_one_line(message.author)})" if message.author else ""
    answered = f" for {on_one_line(message.call_id)}" if message.call_id else ""
    text = Text.assemble(
        (f"{message.seq} ", "dim"),
        (f"{name}{by}{answered}", _STYLES[message.role]),
        (f"  {moment(message.create_time)}", "dim"),
    )
    for part in message.parts:
        text.append("\n")
        text.append(_part(part))
    if message.elided_bytes:
        text.append(f"\n[{message.elided_bytes} bytes left out]", style="dim")
    return text


def _part(part: Part) -> Text:
    match part.WhichOneof("content"):
        case "text":
            return Text(_cut(shown(part.text)))
        case "reasoning":
            return Text(_cut(shown(part.reasoning)), style="italic dim")
        case "tool_call":
            call = part.tool_call
            arguments = on_one_line(call.arguments_json, _BODY_CHARACTERS)
            return Text.assemble(
                "→ ", (on_one_line(call.name), "bold"), f" {arguments} ", (on_one_line(call.call_id), "dim")
            )
        case "tool_result":
            result = part.tool_result
            said = on_one_line(result.text or result.json, _TEXT_CHARACTERS)
            return Text(said, style="red" if result.is_error else "")
        case "blob":
            where = part.blob.uri or f"{len(part.blob.data)} bytes"
            return Text(f"[{on_one_line(part.blob.mime_type)}: {on_one_line(where)}]")
        case _:
            return Text(on_one_line(part.json, _TEXT_CHARACTERS))


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARACTERS else f"{text[:_TEXT_CHARACTERS]}… ({len(text)} characters)"


def _grid(rows: list[tuple[str, RenderableType]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    return table
