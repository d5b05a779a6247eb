"""Every limit is told, holds where it is told, and refuses with a reason."""

from typing import Any

from google.protobuf.duration_pb2 import Duration

from lockstitch.v1.session_service_pb2 import (
    CreateSessionRequest,
    GetContextRequest,
    GetSessionRequest,
    ListMessagesRequest,
    UpdateMemoryRequest,
)
from lockstitch_conformance.contents import answered, keys, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("limits", "every limit is told, holds where it is told, and refuses with a reason")
FRAMES_BYTES_MAX = 4 * 2**20


@CATEGORY.promise("GetServerInfo tells the limits, and that what is acknowledged is on disk.")
async def told(world: World) -> None:
    set_fields = {field.name for field, _ in world.limits.ListFields()}
    same(set_fields, {field.name for field in world.limits.DESCRIPTOR.fields}, "the limits that are told")
    durability = world.info.durability
    on = (durability.synchronous_commit, durability.fsync, durability.full_page_writes)
    same(on, (True, True, True), "synchronous_commit, fsync, full_page_writes")
    holds(world.info.store_epoch and world.info.version, "no store_epoch or no version")


@CATEGORY.promise(
    "A message of the most content is taken; a byte more is MESSAGE_TOO_LARGE, with the limit, and nothing is stored."
)
async def content_of_a_message(world: World) -> None:
    engine, most = world.engine, world.limits.content_bytes_max
    session_id = await engine.create()
    await refused(engine.append(session_id, "x" * (most + 1)), "MESSAGE_TOO_LARGE", limit_bytes=most)
    same((await engine.append(session_id, "x" * most)).version, 2, "the version")


@CATEGORY.promise("A request whose messages hold more together is BATCH_TOO_LARGE.")
async def content_of_a_request(world: World) -> None:
    engine, most = world.engine, world.limits.content_bytes_max
    session_id = await engine.create()
    halves = ("x" * (most // 2), "y" * (most // 2 + 2))
    await refused(engine.append(session_id, *halves), "BATCH_TOO_LARGE", limit_bytes=most)
    same(await engine.messages(session_id), [], "the messages")


@CATEGORY.promise("What is far too large gets the store's answer, and not that of a transport.")
async def far_too_large(world: World) -> None:
    session_id = await world.engine.create()
    await refused(world.engine.append(session_id, "x" * (2 * world.limits.content_bytes_max)), "MESSAGE_TOO_LARGE")


@CATEGORY.promise("A request has so many messages, and no more.")
async def messages_of_a_request(world: World) -> None:
    engine, most = world.engine, world.limits.append_messages_max
    session_id = await engine.create()
    await refused(engine.append(session_id, *["x"] * (most + 1)), "BATCH_TOO_LARGE", limit=most)
    same((await engine.append(session_id, *["x"] * most)).last_seq, most, "last_seq")


@CATEGORY.promise("An id has so many characters, not bytes, and no more; control characters are in none.")
async def ids(world: World) -> None:
    engine, most = world.engine, world.limits.id_characters_max
    longest = world.fresh("é").ljust(most, "é")
    await engine(CreateSessionRequest(session_id=longest))
    same((await engine.get(longest)).session_id, longest, "the id")
    for wrong in (longest + "é", "a\nb", "a\x00b"):
        await refused(engine(CreateSessionRequest(session_id=wrong)), "INVALID_FIELD", field="session_id")
    await refused(
        engine.create(said("x", message_id="x" * (most + 1))), "INVALID_FIELD", field="messages[0].message_id"
    )


@CATEGORY.promise("A session has so many labels, and no more.")
async def labels(world: World) -> None:
    most = world.limits.labels_max
    numbered = {f"k{number}": "v" for number in range(most)}
    session_id = await world.engine.create(labels=numbered)
    same(dict((await world.engine.get(session_id)).labels), numbered, "the labels")
    await refused(world.engine.create(labels=numbered | {"more": "v"}), "INVALID_FIELD", field="labels")


@CATEGORY.promise("Metadata have so many bytes, and no more.")
async def metadata(world: World) -> None:
    most = world.limits.metadata_bytes_max
    await world.engine.create(metadata_json='"' + "x" * (most - 2) + '"')
    more = world.engine.create(metadata_json='"' + "x" * (most - 1) + '"')
    await refused(more, "INVALID_FIELD", field="metadata_json")


@CATEGORY.promise("Working memory has so many bytes, and no more, however small each change is.")
async def memory(world: World) -> None:
    engine, most = world.engine, world.limits.memory_bytes_max
    session_id = await engine.create()
    half = '"' + "x" * (most // 2) + '"'
    await engine(UpdateMemoryRequest(session_id=session_id, change=keys({"a": half})))
    change = UpdateMemoryRequest(session_id=session_id, change=keys({"b": half}))
    await refused(engine(change), "INVALID_FIELD")
    same((await engine.get(session_id)).memory_version, 2, "memory_version")


@CATEGORY.promise(
    "No answer and no frame is larger than a default client takes; a cut answer says so, and the rest follows."
)
async def answers_are_cut(world: World) -> None:
    engine, most = world.engine, world.limits.content_bytes_max
    session_id = await engine.create()
    for letter in "abc":
        await engine.append(session_id, letter * most)
    messages = await engine.messages(session_id)
    same([message.parts[0].text[:1] for message in messages], list("abc"), "the messages of all pages")
    page = await engine(ListMessagesRequest(session_id=session_id))
    holds(page.next_page_token and page.ByteSize() < FRAMES_BYTES_MAX, f"a page of {page.ByteSize()} bytes")
    for request in (
        GetSessionRequest(session_id=session_id, recent_messages=3),
        GetContextRequest(session_id=session_id),
    ):
        answer = await engine(request)
        holds(answer.truncated, f"{type(request).__name__} does not say that it was cut")
        same(answer.messages[-1].parts[0].text, "c" * most, "the newest message")
    async with engine.subscribe(session_id, 1) as stream:
        same([len(commit.messages) for commit in await stream.up_to(4)], [1, 1, 1], "messages of each commit")


@CATEGORY.promise("A context keeps to the messages, bytes and tokens that it was given, and says what it left out.")
async def contexts(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(*(f"{number}" + "x" * 99 for number in range(10)))
    for narrow, most in ({"max_messages": 3}, 3), ({"max_bytes": 450}, 4), ({"max_tokens": 120}, 4):
        context = await engine(GetContextRequest(session_id=session_id, **narrow))
        count = len(context.messages)
        holds(0 < count <= most and context.truncated, f"{count} messages for {narrow}")
        newest = [message.seq for message in context.messages]
        same(newest, list(range(11 - count, 11)), "the seqs")
    whole = await engine(GetContextRequest(session_id=session_id))
    same((len(whole.messages), whole.truncated), (10, False), "without limits")


@CATEGORY.promise("What a context can't hold keeps its place with its bodies left out, and says how many bytes.")
async def too_large_for_a_context(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(answered("x" * 5000))
    context = await engine(GetContextRequest(session_id=session_id, max_bytes=1000))
    same(len(context.messages), 1, "the number of messages")
    holds(context.messages[0].elided_bytes >= 5000, f"elided_bytes is {context.messages[0].elided_bytes}")


@CATEGORY.promise("Times that make no sense are refused.")
async def times(world: World) -> None:
    wrong: list[dict[str, Any]] = [{"ttl": Duration(seconds=-1)}, {"idle_ttl": Duration(seconds=-5)}]
    for fields in wrong:
        await refused(world.engine.create(**fields), "INVALID_FIELD", field=next(iter(fields)))
