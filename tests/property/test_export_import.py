"""Random sessions, exported and imported: the other store holds the same. Random chats come out as they went in."""

import asyncio
import json
import os
from collections.abc import Coroutine, Iterator
from datetime import timedelta
from io import BufferedReader, BytesIO
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factories import fresh
from lockstitch import Client, JsonText
from lockstitch.cli.exporting import Exporter
from lockstitch.cli.importing import Importer, Report
from lockstitch.cli.transcripts.lines import Lines
from lockstitch.cli.transcripts.reader import Format, reader
from lockstitch.cli.transcripts.transcript import Defaults
from lockstitch.types import Blob, Message, Original, Part, Role, ToolCallPart, ToolResultPart, Usage, WorkingMemory
from lockstitch_server.server_process import ServerProcess

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PROFILE = settings(
    max_examples=500 if LONG else 40,
    derandomize=not LONG,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
NOBODY = Defaults(user=None, subject="", agent="", id_prefix="")
_numbers = count(1)

# What the wire carries and JSON has to bring along: any text but half characters, any bytes, any JSON.
text = st.text(st.characters(codec="utf-8"), max_size=20)
name = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=20)
json_text = st.recursive(
    st.sampled_from(("null", "1e3", "-0.0", "12345678901234567890", '"\\u0000"', '""', " true "))
    | text.map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[ " + " ,".join(items) + "]")
        | st.lists(st.tuples(text, inner), max_size=3).map(
            lambda members: "{" + ",".join(f"{json.dumps(key)} :{value}" for key, value in members) + "}"
        )
    ),
    max_leaves=5,
)


def part(**content: st.SearchStrategy[Any]) -> st.SearchStrategy[Part]:
    return st.fixed_dictionaries(content).map(lambda fields: Part(**fields))


plain_parts = st.one_of(
    part(text=text),
    part(json=json_text),
    part(blob=st.builds(Blob, mime_type=name, data=st.binary(max_size=20))),
    part(blob=st.builds(Blob, mime_type=name, uri=name)),
)
beside = {
    "author": st.just("") | name,
    "metadata_json": st.just("") | json_text,
    "usage": st.none() | st.builds(Usage, model=name, input_tokens=st.integers(0, 2**63 - 1)),
    "incomplete": st.booleans(),
    "original": st.none() | st.builds(Original, format=name, data=st.binary(min_size=1, max_size=20)),
}


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Messages in an order that the ledger takes: a call id is used again once it was answered."""
    messages: list[Message] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(0, 12))):
        fields: dict[str, Any] = {key: draw(value) for key, value in beside.items()} | {
            "message_id": draw(st.sampled_from(("", f"m{number}")))
        }
        role = draw(st.sampled_from(Role.values()[1:]))
        parts = draw(st.lists(plain_parts, min_size=1, max_size=3))
        if role == Role.ROLE_ASSISTANT:
            parts += draw(st.lists(part(reasoning=text), max_size=1))
            for call_id in draw(st.lists(st.sampled_from(("search:0", "c1", "c2")), max_size=2, unique=True)):
                if call_id not in waiting:
                    waiting.append(call_id)
                    call = ToolCallPart(call_id=call_id, name=draw(name), arguments_json=draw(json_text))
                    parts.append(Part(tool_call=call))
        elif role == Role.ROLE_TOOL:
            call_id = draw(st.sampled_from((*waiting, "nobody's")))
            waiting = [other for other in waiting if other != call_id]
            output = draw(st.sampled_from(("json", "text", "none")))
            result = ToolResultPart(call_id=call_id, is_error=draw(st.booleans()))
            if output != "none":
                setattr(result, output, draw(json_text if output == "json" else text))
            parts = [Part(tool_result=result), *parts[1:]]
            fields["call_id"] = call_id
        messages.append(Message(role=role, parts=parts, **fields))
    return messages


extras = st.dictionaries(
    name.filter(lambda key: key not in WorkingMemory.DESCRIPTOR.fields_by_name), json_text, max_size=3
)
memories = st.none() | st.builds(
    WorkingMemory,
    goal=st.none() | text,
    next_action=st.none() | text,
    plan=st.lists(text, max_size=2),
    errors=st.lists(text, max_size=1),
    extra_json=extras.map(
        lambda members: "{" + ",".join(f"{json.dumps(key)}:{value.strip()}" for key, value in members.items()) + "}"
    ),
)
heads = st.fixed_dictionaries(
    {
        "user_id": st.sampled_from(("", "u1")),
        "agent": st.just("") | name,
        "title": st.just("") | name,
        "labels": st.dictionaries(name, st.just("") | name, max_size=3),
        "metadata": st.none() | json_text.map(JsonText),
        "idle_ttl": st.none()
        | st.integers(60, 10**9).map(lambda seconds: timedelta(seconds=seconds, microseconds=seconds % 7)),
    }
)


class World:
    """Two tenants of one server, and a loop to call them on."""

    def __init__(self, server: ServerProcess) -> None:
        self.loop = asyncio.new_event_loop()
        self.here, self.there = (Client(server.target, token=server.token(tenant=fresh("tenant"))) for _ in range(2))

    def run(self, steps: Coroutine[Any, Any, None]) -> None:
        self.loop.run_until_complete(steps)

    def close(self) -> None:
        self.run(self.here.close())
        self.run(self.there.close())
        self.loop.close()


@pytest.fixture(scope="module")
def world(server: ServerProcess) -> Iterator[World]:
    made = World(server)
    yield made
    made.close()


async def imported(client: Client, data: bytes, form: Format) -> Report:
    lines = Lines(BufferedReader(BytesIO(data)), "memory")
    failures: list[str] = []
    importer = Importer(
        client,
        reader(form, lines, NOBODY),
        name="memory",
        target="the server",
        is_pipe=False,
        goes_on=False,
        on_failure=failures.append,
        on_progress=lambda _report: None,
    )
    report = await importer.run()
    assert failures == []
    return report


async def exported(client: Client, session_id: str, form: Format) -> tuple[bytes, str]:
    written: list[bytes] = []
    exporter = Exporter(written.append)
    session = client.session(session_id)
    await (exporter.lines(session) if form is Format.LOCKSTITCH else exporter.chat(session))
    return b"".join(written), exporter.digest.text


async def content_of(client: Client, session_id: str) -> tuple[Any, ...]:
    found = await client.session(session_id).get(recent_messages=1000, include_memory=True)
    for message in found.messages:
        message.ClearField("version")
        message.ClearField("create_time")
        if message.message_id.startswith("msg_"):
            message.ClearField("message_id")
    found.memory.ClearField("version")
    head = found.session
    said = (head.user_id, head.agent, head.title, dict(head.labels), head.metadata_json, head.idle_ttl)
    calls = [
        (call.call_id, call.name, call.arguments_json, call.status, call.result_json, call.error)
        async for call in client.session(session_id).tool_calls()
    ]
    return said, found.memory, list(found.messages), calls


@PROFILE
@given(head=heads, memory=memories, messages=conversations(), cut=st.integers(0, 12))
def test_a_session_is_the_same_after_export_and_import(
    world: World, head: dict[str, Any], memory: WorkingMemory | None, messages: list[Message], cut: int
) -> None:
    async def there_and_back() -> None:
        session_id = f"s{next(_numbers)}"
        session = await world.here.create(session_id=session_id, memory=memory, **head)
        for batch in (messages[:cut], messages[cut:]):
            if batch:
                await session.append(messages=batch, allow_orphans=True)
        data, digest = await exported(world.here, session_id, Format.LOCKSTITCH)
        assert (await imported(world.there, data, Format.LOCKSTITCH)).digest.text == digest
        assert await content_of(world.there, session_id) == await content_of(world.here, session_id)
        assert (await imported(world.there, data, Format.LOCKSTITCH)).known == 1
        assert (await exported(world.there, session_id, Format.LOCKSTITCH))[1] == digest

    world.run(there_and_back())


# Chats of any shape that JSON allows, as long as roles are right and content is text, pieces or nothing.
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
pieces = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": text}),
    st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": name}) | values}),
    st.dictionaries(text.filter(lambda key: key != "type"), values, max_size=2),
)
content = st.none() | text | st.lists(pieces, max_size=3)
call_ids = st.sampled_from(("c1", "search:0", "", "x" * 200, "a\nb"))
tool_calls = st.fixed_dictionaries(
    {"id": call_ids, "function": st.fixed_dictionaries({"name": text, "arguments": json_text | text})},
    optional={"type": st.just("function"), "index": st.integers()},
)
chat_messages = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(("user", "system", "developer")), "content": content}, optional={"name": text}
    ),
    st.fixed_dictionaries(
        {"role": st.just("assistant")}, optional={"content": content, "tool_calls": st.lists(tool_calls, max_size=3)}
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": call_ids, "content": content}, optional={"name": text, "x": values}
    ),
)


@PROFILE
@given(said=st.lists(chat_messages, max_size=8), frame=st.dictionaries(name, values, max_size=3))
def test_a_chat_comes_out_as_it_went_in(world: World, said: list[Any], frame: dict[str, Any]) -> None:
    async def there_and_back() -> None:
        number = next(_numbers)
        chat = {"id": f"chat-{number}"} | frame | {"messages": said}
        data = json.dumps(chat).encode()
        assert (await imported(world.here, data, Format.OPENAI_CHAT)).known == 0
        assert (await imported(world.here, data, Format.OPENAI_CHAT)).known == 1
        newest = await anext(world.here.list(page_size=1))
        out, _ = await exported(world.here, newest.session_id, Format.OPENAI_CHAT)
        assert json.loads(out) == chat

    world.run(there_and_back())
