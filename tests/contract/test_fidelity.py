"""CONTRACT 15: what was accepted comes back exactly; what is no JSON is refused by name. JSON as sent is A13 to A16."""

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from factories import ASSISTANT, USER, called, held, keyed, said
from lockstitch.v1.message_pb2 import Blob, Message, Original, Part, ToolCallPart, Usage
from support.rpc import Create, Rpc, field_refused

NO_JSON = [
    "",
    " ",
    "{",
    '{"a":1,}',
    "[1,]",
    "{'a':1}",
    '{"a":NaN}',
    "Infinity",
    "-Infinity",
    "[1e999, NaN]",
    "01",
    "+1",
    ".5",
    "1.",
    "1e",
    "0x1",
    "tru",
    "True",
    "nul",
    '"a',
    '"\t"',
    '"\\x41"',
    '"\\u12"',
    "1 2",
    "{} {}",
    "// c\n1",
    "\ufeff1",
    "\u00a01",
    "1\x00",
    "[1e999",
    '{"a":1e999',
    '{"a" 1}',
    "[" * 100_000,
    '{"a":' * 1000,
]
DEEP = {
    "arrays": ("[" * 511 + "]" * 511, "[" * 512 + "]" * 512, "[" * 513 + "]" * 513),
    "objects": tuple('{"a":' * (depth - 1) + "{}" + "}" * (depth - 1) for depth in (511, 512, 513)),
    "both": tuple(
        '[{"a":' * (depth // 2) + "[]" * (depth % 2) + "1" * (1 - depth % 2) + "}]" * (depth // 2)
        for depth in (511, 512, 513)
    ),
    "with numbers of any size": tuple("[" * depth + "1e999" + "]" * depth for depth in (511, 512, 513)),
}


@pytest.mark.parametrize("text", NO_JSON)
async def test_what_is_no_json_is_refused_by_name_everywhere(engine: Rpc, create: Create, text: str) -> None:
    session_id = await create(messages=[called("c")])
    calls = {
        "messages[0].parts[0].json": engine.Append(session_id=session_id, messages=[held(json=text)]),
        "messages[1].parts[0].tool_call.arguments_json": engine.Append(
            session_id=session_id, messages=[said("x"), called("d", arguments=text)]
        ),
        "change.keys.set": engine.UpdateMemory(session_id=session_id, change=keyed(k=text)),
    }
    if text:
        calls |= {
            "metadata_json": engine.CreateSession(metadata_json=text),
            "messages[0].metadata_json": engine.Append(session_id=session_id, messages=[said("x", metadata_json=text)]),
            "result_json": engine.CompleteToolCall(session_id=session_id, call_id="c", result_json=text),
            "tool_calls[0].arguments_json": engine.Append(
                session_id=session_id, tool_calls=[{"call_id": "d", "name": "n", "arguments_json": text}]
            ),
        }
    for field, call in calls.items():
        assert await field_refused(call) == field
    assert (await engine.GetSession(session_id=session_id)).session.version == 1


@pytest.mark.parametrize("texts", DEEP.values(), ids=DEEP)
async def test_nesting_goes_512_deep(engine: Rpc, create: Create, texts: tuple[str, str, str]) -> None:
    session_id = await create()
    for text in texts[:2]:
        await engine.Append(session_id=session_id, messages=[held(json=text), called("c", arguments=text)])
        (stored, asked) = (await engine.ListMessages(session_id=session_id, descending=True)).messages[:2][::-1]
        assert (stored.parts[0].json, asked.parts[0].tool_call.arguments_json) == (text, text)
    deep = engine.Append(session_id=session_id, messages=[held(json=texts[2])])
    assert await field_refused(deep) == "messages[0].parts[0].json"
    await engine.UpdateMemory(session_id=session_id, change=keyed(k=texts[0]))
    merged = {"merge_patch_json": '{"k":' + texts[0] + "}"}
    await engine.UpdateMemory(session_id=session_id, change=merged)


def _whole() -> Message:
    """A message with every field that a caller may fill."""
    return Message(
        message_id="mine",
        role=ASSISTANT,
        author="planner \U0001f600",
        parts=[
            Part(text=""),
            Part(text="a\u0000b\r\n\u2028\ud7ff\ue000\U0010ffff e\u0301 é"),
            Part(json=' {"b":1.0,"a":1e3} '),
            Part(blob=Blob(mime_type="image/png", data=bytes(range(256)))),
            Part(blob=Blob(mime_type="x", data=b"")),
            Part(blob=Blob(mime_type="x", uri="s3://bucket/ä")),
            Part(reasoning="because\u0000"),
            Part(tool_call=ToolCallPart(call_id="c", name="n", arguments_json='{"z":1,"a":[-0.0]}')),
        ],
        event_time=Timestamp(seconds=-62_135_596_800, nanos=999_999_999),
        metadata_json='{"m":[1.0,"\\u0000"]}',
        usage=Usage(model="m", input_tokens=2**63 - 1, output_tokens=0),
        incomplete=True,
        original=Original(format="openai.responses", data=b"\x00\xff\xfe"),
    )


async def test_every_field_of_a_message_comes_back_from_every_read(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[_whole()])
    listed = (await engine.ListMessages(session_id=session_id)).messages[0]
    for read in (
        (await engine.GetSession(session_id=session_id, recent_messages=1)).messages[0],
        (await engine.GetContext(session_id=session_id)).messages[0],
        (await engine.ListCommits(session_id=session_id)).commits[0].messages[0],
    ):
        assert read == listed
    sent = _whole()
    sent.seq, sent.version = 1, 1
    sent.create_time.CopyFrom(listed.create_time)
    assert listed == sent


async def test_what_only_the_server_says_is_not_taken_from_callers(engine: Rpc, create: Create) -> None:
    forged = said("x")
    forged.MergeFrom(
        Message(seq=77, version=77, elided_bytes=7, erased=True, removed_version=7, create_time=Timestamp(seconds=1))
    )
    session_id = await create()
    first = (await engine.Append(session_id=session_id, request_id="r", messages=[forged])).receipt
    again = (await engine.Append(session_id=session_id, request_id="r", messages=[said("x")])).receipt
    assert (again.replayed, again.version) == (True, first.version)
    (stored,) = (await engine.ListMessages(session_id=session_id)).messages
    assert (stored.seq, stored.version, stored.elided_bytes, stored.erased, stored.removed_version) == (
        1,
        2,
        0,
        False,
        0,
    )
    assert stored.create_time.seconds > 1


async def test_fields_of_newer_clients_are_neither_kept_nor_compared(engine: Rpc, create: Create) -> None:
    session_id = await create()
    unknown = b"\x3a\x06run-99" + b"\x92\x03\x03abc"  # Message 7 and 50, as strings
    message = said("x").SerializeToString() + unknown
    request = b"\x0a\x01r" + b"\x12" + bytes((len(session_id),)) + session_id.encode()
    request += b"\x3a" + bytes((len(message),)) + message
    await engine.send_bytes("Append", request)
    assert (await engine.Append(session_id=session_id, request_id="r", messages=[said("x")])).receipt.replayed
    (stored,) = (await engine.ListMessages(session_id=session_id)).messages
    assert b"run-99" not in stored.SerializeToString()


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("messages[0].parts", Message(role=USER)),
        ("messages[0].parts[0]", Message(role=USER, parts=[Part()])),
        ("messages[0].parts", Message(role=USER, parts=[Part(text="x")] * 1001)),
        ("messages[0].parts[0].blob", held(blob=Blob(mime_type="x"))),
        ("messages[0].parts[0].blob.mime_type", held(blob=Blob(data=b"x"))),
        ("messages[0].parts[0].blob.uri", held(blob=Blob(mime_type="x", uri=""))),
        ("messages[0].parts[0].blob.uri", held(blob=Blob(mime_type="x", uri="u" * 2049))),
        ("messages[0].original.format", Message(role=ASSISTANT, original=Original(data=b"x"))),
        ("messages[0].original.data", Message(role=ASSISTANT, original=Original(format="f"))),
        ("messages[0].usage.input_tokens", said("x", usage=Usage(input_tokens=-1))),
        ("messages[0].usage.output_tokens", said("x", usage=Usage(output_tokens=-(2**63)))),
        ("messages[0].usage.model", said("x", usage=Usage(model="m" * 129))),
        ("messages[0].event_time", said("x", event_time=Timestamp(seconds=253_402_300_800))),
        ("messages[0].event_time", said("x", event_time=Timestamp(nanos=10**9))),
        ("messages[0].metadata_json", said("x", metadata_json='"' + "m" * 65_535 + '"')),
        ("messages[0].parts[0].tool_call.arguments_json", called("c", arguments="")),
    ],
)
async def test_a_message_that_is_none_is_refused_by_name(
    engine: Rpc, create: Create, field: str, message: Message
) -> None:
    session_id = await create()
    assert await field_refused(engine.Append(session_id=session_id, messages=[message])) == field
    assert await field_refused(engine.CreateSession(messages=[message])) == field
    replaced: Any = engine.RemoveMessages(session_id=session_id, last=1, replacement=[message])
    assert await field_refused(replaced) == field.replace("messages", "replacement", 1)
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
