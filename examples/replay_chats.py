"""Replays chat transcripts turn by turn, 8 sessions at once, and compares what comes back with what was sent.

    python examples/replay_chats.py [FILE] [--target HOST:PORT --token TOKEN]

FILE is JSON lines, one conversation a line: `id`, `user` and `messages` in OpenAI's chat format, plain or gzipped.
Without a target it starts a server of its own. Exits with 1 at the first difference.
"""

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstitch import Client, ContextBuilder, SessionHandle, assistant, call, developer, system, tool, user
from lockstitch.types import Message, Role, ToolCallStatus
from lockstitch_server.server_process import ServerProcess

CHATS = Path(__file__).resolve().parents[2] / "shared/data/airline-chats.jsonl.gz"
AT_ONCE = 8
CONTEXT_MESSAGES = 1000
PAGE = 7  # small, so that paging is tried


class Different(Exception):
    """What came back is not what was sent."""


@dataclass
class Counts:
    """What was replayed and compared."""

    sessions: int = 0
    appends: int = 0
    messages: int = 0
    tool_calls: int = 0
    context_messages: int = 0
    latencies: list[float] = field(default_factory=list)


def chats(path: Path) -> Iterator[dict[str, Any]]:
    """The conversations of a file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            yield json.loads(line)


def message_of(said: dict[str, Any]) -> Message:
    """A message of OpenAI's chat format as one of ours."""
    content = said.get("content")
    texts = [piece["text"] for piece in content] if isinstance(content, list) else [content] if content else []
    match said["role"]:
        case "user":
            return user(*(texts or [""]))
        case "assistant":
            asked = said.get("tool_calls") or ()
            calls = [call(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in asked]
            return assistant(*(texts or ([] if calls else [""])), tool_calls=calls)
        case "tool":
            return tool(said["tool_call_id"], "".join(texts))
        case "system":
            return system(*texts)
        case "developer":
            return developer(*texts)
        case role:
            raise ValueError(f"a message of role {role!r} is none of OpenAI's chat")


def steps(messages: list[Message]) -> Iterator[list[Message]]:
    """The messages as an engine would append them: what was said up to a tool call, then results and what followed."""
    step: list[Message] = []
    for message in messages:
        step.append(message)
        last = message.parts[-1] if message.parts else None
        if last is None or last.HasField("tool_call") or message.role == Role.ROLE_USER:
            yield step
            step = []
    if step:
        yield step


async def replay(client: Client, chat: dict[str, Any], counts: Counts) -> None:
    """Append one conversation and compare all that can be read of it."""
    sent = [message_of(said) for said in chat["messages"]]
    session = await client.create(user_id=chat.get("user", ""), agent="replay", labels={"chat": chat["id"]})
    for step in steps(sent):
        begun = time.perf_counter()
        await session.append(messages=step, expected_version=session.version)
        counts.latencies.append(time.perf_counter() - begun)
    counts.appends += session.version - 1
    await compare_messages(session, sent, counts)
    await compare_tool_calls(session, sent, counts)
    await compare_context(session, chat["messages"], counts)
    counts.sessions += 1


async def compare_messages(session: SessionHandle, sent: list[Message], counts: Counts) -> None:
    """Page through ListMessages: the same messages, byte for byte, in the same order."""
    place = 0
    async for message in session.messages(page_size=PAGE):
        same(message.seq, place + 1, f"{session.session_id}: seq")
        for made in ("message_id", "seq", "version", "create_time"):
            message.ClearField(made)  # what the server adds
        same(message, sent[place], f"{session.session_id}: message {place + 1}")
        place += 1
    same(place, len(sent), f"{session.session_id}: number of messages")
    counts.messages += place


async def compare_tool_calls(session: SessionHandle, sent: list[Message], counts: Counts) -> None:
    """Read the ledger: every call with its arguments, and with its result where one was sent."""
    calls = [part.tool_call for message in sent for part in message.parts if part.HasField("tool_call")]
    ledger = [entry async for entry in session.tool_calls(page_size=PAGE)]
    asked = [(one.call_id, one.name, one.arguments_json) for one in calls]
    same([(one.call_id, one.name, one.arguments_json) for one in ledger], asked, f"{session.session_id}: tool calls")
    results = sum(message.role == Role.ROLE_TOOL for message in sent)
    ended = [one for one in ledger if one.status == ToolCallStatus.TOOL_CALL_STATUS_SUCCEEDED and one.result_json]
    same(len(ended), results, f"{session.session_id}: tool calls with a result")
    counts.tool_calls += len(ledger)


async def compare_context(session: SessionHandle, said: list[dict[str, Any]], counts: Counts) -> None:
    """Build a model's messages from GetContext: the conversation again, as far as a context reaches."""
    builder = ContextBuilder(await session.context(max_messages=CONTEXT_MESSAGES))
    pairs = zip(builder.messages, builder.openai_chat(), strict=True)
    again = [plain(message) for stored, message in pairs if stored.seq]
    expected = [plain(message) for message in in_call_order(said)]
    if not builder.truncated:
        same(len(again), len(expected), f"{session.session_id}: messages in the context")
    same(again, expected[len(expected) - len(again) :], f"{session.session_id}: context")
    counts.context_messages += len(again)


def plain(message: dict[str, Any]) -> dict[str, Any]:
    """A chat message without what has no meaning: a tool's name, nothing said in one of two ways."""
    kept = {key: message[key] for key in ("role", "tool_calls", "tool_call_id") if message.get(key)}
    return kept | {"content": message.get("content") or ""}


def in_call_order(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The chat with results in the order of their calls, as every context has them."""
    order: dict[str, int] = {}
    ordered: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for message in [*said, {}]:
        if message.get("role") == "tool":
            results.append(message)
            continue
        ordered += sorted(results, key=lambda result: order[result["tool_call_id"]])
        results = []
        order = {one["id"]: place for place, one in enumerate(message.get("tool_calls") or ())}
        ordered.append(message)
    return ordered[:-1]


def same(given: object, expected: object, what: str) -> None:
    """Raise unless they are equal."""
    if given != expected:
        raise Different(f"{what}: {given!r} came back for {expected!r}")


async def replay_all(path: Path, target: str, token: str) -> Counts:
    """Replay a file's conversations, 8 at once."""
    counts = Counts()
    todo = chats(path)

    async def worker(client: Client) -> None:
        for chat in todo:
            await replay(client, chat, counts)

    async with Client(target, token=token) as client, asyncio.TaskGroup() as workers:
        for _ in range(AT_ONCE):
            workers.create_task(worker(client))
    return counts


@contextmanager
def own_server() -> Iterator[ServerProcess]:
    """A server in a folder of its own, while it is needed."""
    with tempfile.TemporaryDirectory(prefix="lockstitch-replay-") as name:
        Path(name).chmod(0o711)  # where this runs as root, Postgres runs as somebody else
        server = ServerProcess.start(Path(name) / "data")
        try:
            yield server
        finally:
            server.stop()


def main() -> None:
    """Replay, compare, and print the counts."""
    parser = argparse.ArgumentParser(description="Replay chat transcripts and compare what comes back.")
    parser.add_argument("file", nargs="?", type=Path, default=CHATS)
    parser.add_argument("--target", help="a server; without it one is started")
    parser.add_argument("--token", default="", help="an engine's token for --target")
    chosen = parser.parse_args()
    if not chosen.file.is_file():
        parser.error(f"there is no file {chosen.file}")
    begun = time.perf_counter()
    try:
        if chosen.target:
            counts = asyncio.run(replay_all(chosen.file, chosen.target, chosen.token))
        else:
            with own_server() as server:
                begun = time.perf_counter()
                token = server.token(tenant="replay", user="replayer")
                counts = asyncio.run(replay_all(chosen.file, server.target, token))
    except* Different as different:
        sys.exit("\n".join(str(one) for one in different.exceptions))
    seconds = time.perf_counter() - begun
    stored = f"{counts.appends} appends, {counts.messages} messages, {counts.tool_calls} tool calls"
    print(f"{counts.sessions} sessions, {stored}")
    print(f"all came back as they were sent, {counts.context_messages} messages of them in contexts")
    middle = sorted(counts.latencies)[len(counts.latencies) // 2] if counts.latencies else 0.0
    print(f"{seconds:.1f} s in all, {AT_ONCE} sessions at once, an append {middle * 1000:.1f} ms in the middle")


if __name__ == "__main__":
    main()
