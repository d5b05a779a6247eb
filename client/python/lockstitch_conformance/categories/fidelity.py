"""What was accepted comes back exactly."""

import json
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1.checkpoint_pb2 import Checkpoint
from lockstitch.v1.checkpoint_service_pb2 import GetCheckpointRequest, PutCheckpointRequest
from lockstitch.v1.message_pb2 import Blob, Message, Original, Part, Usage
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    CreateSessionRequest,
    GetContextRequest,
    GetSessionRequest,
    UpdateMemoryRequest,
    UpdateSessionRequest,
)
from lockstitch_conformance.contents import answered, calling, gave, keys, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("fidelity", "what was accepted comes back exactly")

TEXTS = (
    " leading, trailing \n\r\n\t ",
    "a\x00b\x01\x1f\x7f\x85\u2028\ufeff",
    "\u00e9 e\u0301 \ufb01 \u212b",
    "👩🏽‍🚀👨‍👩‍👧‍👦🏳️‍🌈 \U0001d518\U0001d52b\U0001d526",
    "שלום \u202eabc\u202c مرحبا",
    "\uffff\U0010ffff",
    "<script>&amp;'\";--\\u0000 %s {} $1",
)
JSON = (
    '{"z":1,"a":2,"z":3}',
    ' { "b" : [ 1 , 2 ] , "a" : { } } ',
    "[1e3,1E+2,1.0,-0.0,-0,0.1000000000000000055511151231257827]",
    "[9007199254740993123,-9223372036854775808,18446744073709551616]",
    '"a\\u0000b\\u00e9\\/\\ud83d\\ude00\\n"',
    "null",
    '""',
)
"""JSON that comes back otherwise wherever it is parsed and written anew."""


async def _everywhere(world: World, session_id: str, wanted: Message) -> None:
    """Break where any read gives the first message behind version 1 otherwise than it was written."""
    engine = world.engine
    found = {
        "ListMessages": (await engine.messages(session_id))[0],
        "ListCommits": (await engine.commits(session_id, after_version=1))[0].messages[0],
        "GetContext": (await engine(GetContextRequest(session_id=session_id))).messages[0],
        "GetSession": (await engine(GetSessionRequest(session_id=session_id, recent_messages=1))).messages[0],
        "at_version": (
            await engine(GetSessionRequest(session_id=session_id, recent_messages=1, at_version=2))
        ).messages[0],
    }
    async with engine.subscribe(session_id, 1) as stream:
        found["Subscribe"] = (await stream.commit()).messages[0]
    for read, message in found.items():
        same(_as_written(message), wanted, read)


def _as_written(message: Any) -> Message:
    """A message without what the server says of it."""
    plain = Message()
    plain.CopyFrom(message)
    for field in ("message_id", "seq", "version", "create_time"):
        plain.ClearField(field)
    return plain


async def _kept(world: World, message: Message) -> None:
    session_id = await world.engine.create()
    await world.engine.append(session_id, message)
    await _everywhere(world, session_id, message)


@CATEGORY.promise(
    "Text comes back as it was sent, from every read: blanks, control characters, marks and emoji, nothing normalised."
)
async def texts(world: World) -> None:
    await _kept(world, answered(*TEXTS))


@CATEGORY.promise("An empty text is a value, and stays in its place.")
async def empty_texts(world: World) -> None:
    await _kept(world, answered("", "between", ""))


@CATEGORY.promise("JSON comes back byte for byte: order and doubled keys, blanks, escapes, 1.0, -0.0, 1e3, 19 digits.")
async def json_parts(world: World) -> None:
    await _kept(world, answered(*(Part(json=text) for text in JSON)))


@CATEGORY.promise("So do the arguments of tool calls, from messages and from the ledger.")
async def arguments(world: World) -> None:
    engine = world.engine
    for number, text in enumerate(JSON):
        session_id = await engine.create()
        message = calling(f"c{number}", arguments_json=text)
        await engine.append(session_id, message)
        await _everywhere(world, session_id, message)
        (call,) = await engine.tool_calls(session_id)
        same(call.arguments_json, text, "arguments_json in the ledger")


@CATEGORY.promise("So do the results of tool calls.")
async def results(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling(*(f"c{number}" for number in range(len(JSON)))))
    await engine.append(session_id, *(gave(f"c{number}", text) for number, text in enumerate(JSON)))
    messages = (await engine.messages(session_id))[1:]
    same([message.parts[0].tool_result.json for message in messages], list(JSON), "the messages' results")
    same([call.result_json for call in await engine.tool_calls(session_id)], list(JSON), "the ledger's results")


@CATEGORY.promise("Bytes of every value come back, and an empty blob is one.")
async def blobs(world: World) -> None:
    every = bytes(range(256))
    blob = Blob(mime_type="application/octet-stream", data=every)
    empty = Blob(mime_type="text/plain", data=b"")
    elsewhere = Blob(mime_type="image/png", uri="https://example.org/a b?c=%20#d")
    await _kept(world, answered(Part(blob=blob), Part(blob=empty), Part(blob=elsewhere)))


@CATEGORY.promise("So do a framework's own item, metadata, usage, author and the caller's time.")
async def beside_the_parts(world: World) -> None:
    message = answered(
        Part(reasoning="so that"),
        "x",
        author="planner é",
        original=Original(format="vendor.items", data=bytes(range(255, -1, -1))),
        metadata_json='{ "b": 1.0, "a": [ ] }',
        usage=Usage(model="m", input_tokens=2**53 + 1, output_tokens=1),
        event_time=Timestamp(seconds=1_700_000_000, nanos=123_456_000),
        incomplete=True,
    )
    await _kept(world, message)


@CATEGORY.promise("A caller's message_id is kept as it is.")
async def message_ids(world: World) -> None:
    ids = ["m é", "m e\u0301", "M", "m", "m/../x?y=z"]
    session_id = await world.engine.create(*(said("x", message_id=one) for one in ids))
    same([message.message_id for message in await world.engine.messages(session_id)], ids, "the ids")


@CATEGORY.promise("A session's title, labels and metadata come back as they were sent.")
async def of_a_session(world: World) -> None:
    engine = world.engine
    labels = {"é": "", "A": "a", "a": "A", "x y": "👍"}
    request = CreateSessionRequest(title=" t é ", labels=labels, metadata_json='{"x": 1e3, "x": 2}', agent="á")
    made = (await engine(request)).session
    for session in (made, await engine.get(made.session_id), await engine.get(made.session_id, at_version=1)):
        same((session.title, dict(session.labels)), (" t é ", labels), "title and labels")
        same((session.metadata_json, session.agent), ('{"x": 1e3, "x": 2}', "á"), "metadata and agent")
    changed = Session(session_id=made.session_id, metadata_json="[ 1.0 ]")
    mask = FieldMask(paths=["metadata_json"])
    await engine(UpdateSessionRequest(session=changed, update_mask=mask, expected_version=1))
    same((await engine.get(made.session_id)).metadata_json, "[ 1.0 ]", "the changed metadata")


@CATEGORY.promise("Ids are compared exactly: no trimming, no folding, no normalising.")
async def ids_are_exact(world: World) -> None:
    engine, base = world.engine, world.fresh("é")
    await engine(CreateSessionRequest(session_id=base))
    for other in (base.upper(), base.replace("é", "e\u0301"), f"{base}.", f"{base}-"):
        await refused(engine.get(other), "SESSION_NOT_FOUND")
        await engine(CreateSessionRequest(session_id=other))
    same((await engine.get(base)).session_id, base, "the id")


@CATEGORY.promise("Values of working memory come back byte for byte; absent and empty are two things.")
async def of_memory(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    for number, text in enumerate(JSON):
        change = keys({f"k{number}": text, "next_action": '""'})
        await engine(UpdateMemoryRequest(session_id=session_id, change=change))
    memory = await engine.memory(session_id)
    for text in JSON:
        holds(text.strip() in memory.extra_json, f"{text} is not in {memory.extra_json}")
    holds(memory.HasField("next_action") and not memory.HasField("goal"), "absent and empty are mixed up")
    same(len(json.loads(memory.extra_json)), len(JSON), "the number of keys")


@CATEGORY.promise("Checkpoints come back byte for byte.")
async def of_checkpoints(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    checkpoint = Checkpoint(
        checkpoint_id="1é", namespace="a|b", format="f", data=bytes(range(256)), metadata_json='{"b": 1.0, "a": -0}'
    )
    await engine(PutCheckpointRequest(session_id=session_id, checkpoint=checkpoint))
    found = (await engine(GetCheckpointRequest(session_id=session_id, namespace="a|b"))).checkpoint
    for field in ("checkpoint_id", "namespace", "format", "data", "metadata_json"):
        same(getattr(found, field), getattr(checkpoint, field), field)


@CATEGORY.promise("What is no JSON is refused, and names its field.")
async def no_json(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    for text in ("", "{", "[1,]", "{'a':1}", "NaN", "[Infinity]", "01", '"\\ud800"', '"\t"', "1 2", "\ufeff1"):
        bad = answered("fine", Part(json=text))
        await refused(engine.append(session_id, "fine", bad), "INVALID_FIELD", field="messages[1].parts[1].json")
    arguments_ = engine.append(session_id, calling("c1", arguments_json="{"))
    await refused(arguments_, "INVALID_FIELD", field="messages[0].parts[0].tool_call.arguments_json")
    same(await engine.texts(session_id), [], "the messages")


@CATEGORY.promise("JSON may be nested 512 deep, and no deeper.")
async def nesting(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    await engine.append(session_id, answered(Part(json="[" * 512 + "]" * 512)))
    deeper = answered(Part(json="[" * 513 + "]" * 513))
    await refused(engine.append(session_id, deeper), "INVALID_FIELD", field="messages[0].parts[0].json")


@CATEGORY.promise("The largest message that is accepted is given whole by every read, to a client of default settings.")
async def the_largest(world: World) -> None:
    text = "x" * (world.limits.content_bytes_max - 2) + "é"
    await _kept(world, answered(text))
