"""What an export wrote imports to the same, and what it did not write is refused."""

import hashlib
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from factories import fresh
from lockstitch import (
    Client,
    JsonText,
    assistant,
    blob,
    call,
    json_part,
    new_call,
    resource,
    tool,
    user,
    working_memory,
)
from lockstitch.types import Approval, Message, Role, SessionStatus, ToolCallStatus
from lockstitch_server.server_process import ServerProcess
from support.client_commands import Commands, lines_of

MIB = 1024 * 1024


@pytest.fixture
def commands(server: ServerProcess) -> Commands:
    return Commands(server, fresh("tenant"))


@pytest.fixture
def elsewhere(server: ServerProcess) -> Commands:
    """Another tenant's, to import to."""
    return Commands(server, fresh("tenant"))


@pytest.fixture
async def client(commands: Commands) -> AsyncIterator[Client]:
    async with Client(commands.server.target, token=commands.environment["LOCKSTITCH_TOKEN"]) as made:
        yield made


@pytest.fixture
async def other(elsewhere: Commands) -> AsyncIterator[Client]:
    async with Client(elsewhere.server.target, token=elsewhere.environment["LOCKSTITCH_TOKEN"]) as made:
        yield made


async def content_of(client: Client, session_id: str) -> tuple[Any, ...]:
    """What an import has to keep of a session."""
    session = await client.get(session_id)
    info = session.info
    assert info is not None
    memory = await session.memory()
    memory.ClearField("version")
    messages = [message async for message in session.messages(page_size=1000)]
    return (
        (info.user_id, info.agent, info.title, dict(info.labels), info.metadata_json, info.status, info.close_reason),
        (info.expire_time, info.idle_ttl),
        memory,
        [without_output(message) for message in messages],
        [
            (one.call_id, one.name, one.arguments_json, one.status, one.result_json, one.error, list(one.resources))
            async for one in session.tool_calls()
        ],
    )


def without_output(message: Message) -> Message:
    message.ClearField("seq")
    message.ClearField("version")
    message.ClearField("create_time")
    if message.message_id.startswith("msg_"):
        message.ClearField("message_id")
    return message


def content_digest(told: str) -> str:
    return told.rsplit("sha256 of the content ", 1)[1].strip()


async def test_a_session_comes_back_with_all_that_it_holds(
    client: Client, other: Client, commands: Commands, elsewhere: Commands
) -> None:
    when = datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC)
    session = await client.create(
        session_id="own",
        user_id="u1",
        agent="bot",
        title="Ünïcode 🏙",
        labels={"b": "", "a": "x=y"},
        metadata=JsonText('{ "z": 1e3, "a": -0.0, "z": 12345678901234567890 }'),
        memory=working_memory(goal="", plan=["a", ""], extra=JsonText('{"n" : 1.0, "b":{"x":1,"x":2}}')),
        expire_time=datetime(2999, 1, 1, tzinfo=UTC),
        idle_ttl=timedelta(days=400, microseconds=5),
        messages=[user("hello\u0000", message_id="mine", author="ada", event_time=when, metadata={"k": [1.0]})],
    )
    await session.append(
        messages=[
            user("see", json_part({"a": 1}), blob("image/png", data=bytes(range(256))), blob("a/b", uri="https://x.y")),
            assistant("", reasoning="hm", incomplete=True, tool_calls=[call("search:0", "search", '{ "q" : 1e3 }')]),
            tool("search:0", JsonText('{"b":1,"a":2}'), is_error=True),
            assistant(tool_calls=[call("search:0", "search", {})]),
            tool("search:0", ""),
            Message(role=Role.ROLE_TOOL, call_id="nobody's", parts=[json_part("orphan")]),
        ],
        allow_orphans=True,
    )
    told = commands.ok("sessions", "export")
    assert hashlib.sha256(told.out.encode()).hexdigest() in told.err
    imported = elsewhere.ok("sessions", "import", "-", stdin=told.out.encode())
    assert imported.value["sha256"] == content_digest(told.err)
    assert await content_of(other, "own") == await content_of(client, "own")
    again = elsewhere.ok("sessions", "import", "-", stdin=told.out.encode()).value
    assert (again["sessions"], again["already_there"]) == (1, 1)
    assert content_digest(elsewhere.ok("sessions", "export", "own").err) == content_digest(told.err)


async def test_a_session_of_a_server_made_id_gets_another(client: Client, commands: Commands) -> None:
    session = await client.create(user_id="u1", messages=[user("hello")])
    out = commands.ok("sessions", "export").out.encode()
    for known in (0, 1):
        assert commands.ok("sessions", "import", "-", stdin=out).value["already_there"] == known
    (copy,) = [
        one["session_id"] for one in commands.ok("sessions", "list").values if one["session_id"] != session.session_id
    ]
    assert await content_of(client, copy) == await content_of(client, session.session_id)


async def test_an_own_id_that_is_taken_is_not_written_over(client: Client, commands: Commands) -> None:
    session = await client.create(session_id="own", user_id="u1", messages=[user("hello")])
    await session.append(messages=[user("more")])
    out = commands.ok("sessions", "export").out.encode()
    assert "taken by a session" in commands.run("sessions", "import", "-", stdin=out).err
    commands.ok("sessions", "import", "-", "--id-prefix", "copy-of-", stdin=out)
    assert await content_of(client, "copy-of-own") == await content_of(client, "own")


async def test_a_ledger_that_no_message_tells_comes_back(
    client: Client, other: Client, commands: Commands, elsewhere: Commands
) -> None:
    running, awaiting, interrupted = (
        ToolCallStatus.TOOL_CALL_STATUS_RUNNING,
        ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL,
        ToolCallStatus.TOOL_CALL_STATUS_INTERRUPTED,
    )
    session = await client.create(session_id="calls", user_id="u1")
    await session.append(
        tool_calls=[new_call("alone", "probe", {"a": 1}, resources=[resource("file:///a", before="1")])]
    )
    await session.append(
        messages=[assistant(tool_calls=[call(name, "write", {}) for name in ("r", "a", "x", "p", "again")])]
    )
    await session.update_tool_call(call_id="r", status=running, resources=[resource("file:///b", after="2")])
    await session.update_tool_call(call_id="a", status=awaiting)
    await session.update_tool_call(call_id="x", status=awaiting)
    await session.update_tool_call(call_id="x", approval=Approval(granted=False, note="no"))
    await session.complete_tool_call(call_id="again", status=interrupted, error="lost")
    await session.append(messages=[assistant(tool_calls=[call("again", "write", {})]), tool("again", "done")])
    await session.append(tool_calls=[new_call("late", "probe", {})])
    await session.append(messages=[tool("late", {"found": True}), user("well?")])
    elsewhere.ok("sessions", "import", "-", stdin=commands.ok("sessions", "export").out.encode())
    assert await content_of(other, "calls") == await content_of(client, "calls")


@pytest.mark.parametrize("how", ["closed", "expired"])
async def test_a_session_that_is_over_stays_over(
    client: Client, other: Client, commands: Commands, elsewhere: Commands, how: str
) -> None:
    session = await client.create(
        session_id="over",
        user_id="u1",
        messages=[user("hello")],
        ttl=timedelta(seconds=1) if how == "expired" else None,
    )
    if how == "closed":
        await session.close(reason="resolved")
    while (await session.get()).session.status == SessionStatus.SESSION_STATUS_ACTIVE:
        pass
    out = commands.ok("sessions", "export").out.encode()
    for known in (0, 1):
        assert elsewhere.ok("sessions", "import", "-", stdin=out).value["already_there"] == known
    copy = (await other.session("over").get(recent_messages=1)).session
    assert (copy.status, copy.message_count) == (SessionStatus.SESSION_STATUS_CLOSED, 1)
    assert copy.close_reason == {"closed": "resolved", "expired": "expired"}[how]


async def test_a_long_session_takes_several_lines(
    client: Client, other: Client, commands: Commands, elsewhere: Commands
) -> None:
    session = await client.create(session_id="long", user_id="u1", memory=working_memory(goal="x" * (MIB - 100)))
    for first in range(0, 1100, 100):
        await session.append(messages=[user(f"message {first + n}") for n in range(100)])
    for size in (MIB, 3 * MIB, 2 * MIB):
        await session.append(messages=[user("x" * size)])
    told = commands.ok("sessions", "export")
    assert [one["part"] for one in told.values] == list(range(1, 15))
    assert [len(one["messages"]) for one in told.values] == [*[100] * 11, 1, 1, 1]
    elsewhere.ok("sessions", "import", "-", stdin=told.out.encode())
    assert await content_of(other, "long") == await content_of(client, "long")


class TestAFileThatWasSpoiled:
    @pytest.fixture
    async def lines(self, client: Client, commands: Commands) -> list[bytes]:
        """A short session, a long one in three lines, another short one."""
        await client.create(session_id="last", user_id="u1", messages=[user("hello")])
        session = await client.create(session_id="long", user_id="u1")
        for _ in range(3):
            await session.append(messages=[user(f"message {n}") for n in range(100)])
        await client.create(session_id="first", user_id="u1", messages=[user("hello")])
        return commands.ok("sessions", "export").out.encode().splitlines(keepends=True)

    @pytest.fixture
    def spoiled(self, elsewhere: Commands) -> Callable[[list[bytes]], tuple[str, set[str]]]:
        def run(lines: list[bytes]) -> tuple[str, set[str]]:
            ended = elsewhere.run("sessions", "import", "-", "--on-error", "skip", stdin=b"".join(lines))
            assert (ended.code, ended.value["failed"]) == (1, 1)
            (sentence,) = ended.err.splitlines()
            return sentence, {one["session_id"] for one in elsewhere.ok("sessions", "list").values}

        return run

    async def test_a_line_that_is_missing_is_told(self, lines: list[bytes], spoiled: Callable[..., Any]) -> None:
        sentence, sessions = spoiled([*lines[:2], *lines[3:]])
        assert "line 3: part 2 of session 'long' is missing" in sentence
        assert sessions == {"first", "long", "last"}

    async def test_a_beginning_that_is_missing_is_told_once(
        self, lines: list[bytes], spoiled: Callable[..., Any]
    ) -> None:
        sentence, sessions = spoiled([lines[0], *lines[2:]])
        assert "line 2: part 2 of session 'long' comes without those before it" in sentence
        assert sessions == {"first", "last"}

    async def test_a_broken_line_within_a_session_is_told(
        self, lines: list[bytes], spoiled: Callable[..., Any]
    ) -> None:
        sentence, sessions = spoiled([*lines[:2], lines[2][:-9] + b"\n", *lines[3:]])
        assert "line 3: this is no JSON line" in sentence
        assert "last" in sessions

    async def test_a_file_that_was_cut_off_is_told(self, lines: list[bytes], spoiled: Callable[..., Any]) -> None:
        sentence, _ = spoiled(lines[:3])
        assert "the file ends within session 'long', after part 2" in sentence

    async def test_a_changed_text_is_told_and_not_stored(self, lines: list[bytes], spoiled: Callable[..., Any]) -> None:
        sentence, sessions = spoiled([lines[0].replace(b"hello", b"hullo"), *lines[1:]])
        assert "line 1: session 'first' is not what was exported" in sentence
        assert sessions == {"long", "last"}

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"session": {"no": "field"}}, "the session can't be read"),
            ({"messages": [{"role": "ROLE_ROBOT"}]}, "message 1 can't be read"),
            ({"messages": {}}, "messages is no JSON array"),
            ({"part": "x"}, "invalid literal"),
            ({"memory": {"goal": 1}}, "the memory can't be read"),
        ],
    )
    async def test_a_field_that_is_wrong_is_named(
        self, lines: list[bytes], spoiled: Callable[..., Any], change: dict[str, Any], told: str
    ) -> None:
        sentence, sessions = spoiled([lines_of(json.loads(lines[0]) | change), *lines[1:]])
        assert "line 1: " in sentence
        assert told in sentence
        assert sessions == {"long", "last"}


async def test_sessions_can_be_chosen(client: Client, commands: Commands) -> None:
    for name in ("a", "b", "c"):
        await client.create(session_id=name, user_id="u1")
    told = commands.ok("sessions", "export", "c", "a")
    assert [one["session_id"] for one in told.values] == ["c", "a"]
    assert "exported 2 sessions, 0 messages" in told.err


async def test_any_session_can_be_written_as_a_chat(client: Client, commands: Commands) -> None:
    await client.create(
        session_id="s",
        user_id="u1",
        messages=[
            user("look", blob("image/png", data=b"\x00"), json_part({"a": 1})),
            assistant("Yes.", reasoning="hm", tool_calls=[call("c", "f", {"x": 1})]),
            tool("c", {"y": 2}, author="f"),
        ],
    )
    assert commands.ok("sessions", "export", "--format", "openai-chat").value == {
        "id": "s",
        "user": "u1",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                    {"type": "text", "text": '{"a":1}'},
                ],
            },
            {
                "role": "assistant",
                "content": "Yes.",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "name": "f", "content": '{"y":2}'},
        ],
    }


def test_a_store_without_sessions_is_an_empty_file(commands: Commands) -> None:
    told = commands.ok("sessions", "export")
    assert told.out == ""
    assert "exported 0 sessions, 0 messages, 0 bytes" in told.err
    assert commands.ok("sessions", "import", "-").value["sessions"] == 0


async def test_an_export_takes_the_memory_of_one_request(client: Client, commands: Commands) -> None:
    session = await client.create(user_id="u1")
    for _ in range(16):
        await session.append(messages=[user("x" * 2 * MIB)])
    for form in ("lockstitch", "openai-chat"):
        assert commands.peak_bytes("sessions", "export", "--format", form) < 100 * MIB
