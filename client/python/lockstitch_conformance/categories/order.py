"""Messages have one order, and what was taken stays taken."""

import asyncio
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1.session_service_pb2 import GetSessionRequest, RemoveMessagesRequest, UpdateMessageRequest
from lockstitch_conformance.contents import answered, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("order", "messages have one order, and what was taken stays taken")


@CATEGORY.promise("The messages of one request are stored together, in its order, and the receipt says where.")
async def a_batch_is_adjacent(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("0")
    receipt = await engine.append(session_id, *map(str, range(1, 6)))
    same((receipt.first_seq, receipt.last_seq), (2, 6), "first_seq and last_seq")
    messages = await engine.messages(session_id)
    same([message.parts[0].text for message in messages], list(map(str, range(6))), "the texts")
    same([message.seq for message in messages], list(range(1, 7)), "the seqs")
    same([message.message_id for message in messages[1:]], list(receipt.message_ids), "the ids")
    same({message.version for message in messages[1:]}, {receipt.version}, "their version")


@CATEGORY.promise("Under many writers seqs have no hole, and each batch stays together.")
async def many_writers(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    batches = [[f"{writer}.{place}" for place in range(3)] for writer in range(8)]
    receipts = await asyncio.gather(*(engine.append(session_id, *batch) for batch in batches))
    messages = await engine.messages(session_id)
    same([message.seq for message in messages], list(range(1, 25)), "the seqs")
    texts = [message.parts[0].text for message in messages]
    for batch, receipt in zip(batches, receipts, strict=True):
        same(texts[receipt.first_seq - 1 : receipt.last_seq], batch, "what lies where a receipt said")


@CATEGORY.promise("seq and version rise together: a later commit has later messages.")
async def seqs_follow_versions(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    await asyncio.gather(*(engine.append(session_id, "a", "b") for _ in range(8)))
    versions = [message.version for message in await engine.messages(session_id)]
    same(versions, sorted(versions), "the versions in order of seq")


@CATEGORY.promise("Lists go by seq, forwards and backwards.")
async def lists_go_by_seq(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(*map(str, range(7)))
    down = await engine.messages(session_id, descending=True, page_size=3)
    same([message.seq for message in down], list(range(7, 0, -1)), "descending")
    between = await engine.messages(session_id, after_seq=2, before_seq=6)
    same([message.seq for message in between], [3, 4, 5], "between 2 and 6")
    recent = await engine(GetSessionRequest(session_id=session_id, recent_messages=3))
    same([message.seq for message in recent.messages], [5, 6, 7], "recent messages")


@CATEGORY.promise("A caller's own time is kept and orders nothing.")
async def event_time_orders_nothing(world: World) -> None:
    engine = world.engine
    times = [Timestamp(seconds=seconds, nanos=123456000) for seconds in (3000, 1000, 2000)]
    session_id = await engine.create(*(said(str(time.seconds), event_time=time) for time in times))
    messages = await engine.messages(session_id)
    same([message.event_time for message in messages], times, "event_time in order of seq")
    later = await engine.messages(session_id, event_after=Timestamp(seconds=1500))
    same([message.parts[0].text for message in later], ["3000", "2000"], "those after 1500")


@CATEGORY.promise("A seq that was removed stays used.")
async def removed_seqs_stay_used(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", "b", "c")
    await engine(RemoveMessagesRequest(session_id=session_id, last=2))
    receipt = await engine.append(session_id, "d")
    same(receipt.first_seq, 4, "the next seq")
    same([message.seq for message in await engine.messages(session_id)], [1, 4], "the seqs")


@CATEGORY.promise("What is removed comes back byte for byte, and is shown to whoever asks for it.")
async def removal_gives_back(world: World) -> None:
    engine = world.engine
    original = answered("a", metadata_json='{"b": 1.0}', author="planner")
    session_id = await engine.create("kept", original, "c")
    before = await engine.messages(session_id)
    answer = await engine(RemoveMessagesRequest(session_id=session_id, from_seq=2))
    same(answer.removed_count, 2, "removed_count")
    same([_plain(message) for message in answer.removed], [_plain(message) for message in before[1:]], "what came back")
    removed = await engine.messages(session_id, show_removed=True)
    same([message.removed_version for message in removed], [0, 2, 2], "removed_version")


@CATEGORY.promise("Messages are replaced in one commit: readers see the old ones or the new ones.")
async def replacement_is_one_commit(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", "b")
    request = RemoveMessagesRequest(session_id=session_id, last=1, replacement=[said("c"), said("d")])
    answer = await engine(request)
    same((answer.receipt.version, answer.receipt.first_seq, answer.receipt.last_seq), (2, 3, 4), "the receipt")
    same(await engine.texts(session_id), ["a", "c", "d"], "the messages")


@CATEGORY.promise("Two that take the last message at once take different ones.")
async def takers_take_different_ones(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(*map(str, range(6)))
    answers = await asyncio.gather(*(engine(RemoveMessagesRequest(session_id=session_id, last=1)) for _ in range(4)))
    taken = sorted(message.parts[0].text for answer in answers for message in answer.removed)
    same(taken, ["2", "3", "4", "5"], "what was taken")
    same(await engine.texts(session_id), ["0", "1"], "what is left")


@CATEGORY.promise("A message_id is unique in its session for good, also when its message was removed.")
async def message_ids_are_used_once(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", said("b", message_id="m1"))
    await refused(engine.append(session_id, said("c", message_id="m1")), "MESSAGE_ID_EXISTS")
    await engine(RemoveMessagesRequest(session_id=session_id, last=1))
    await refused(engine.append(session_id, said("c", message_id="m1")), "MESSAGE_ID_EXISTS")
    other = await engine.create(said("b", message_id="m1"))
    same(len(await engine.messages(other)), 1, "another session's messages")


@CATEGORY.promise("A changed message keeps its seq, its role and its place.")
async def changed_in_its_place(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", said("b", message_id="m1"), "c")
    await engine(UpdateMessageRequest(session_id=session_id, message_id="m1", message=said("B")))
    messages = await engine.messages(session_id)
    same([message.parts[0].text for message in messages], ["a", "B", "c"], "the texts")
    same([message.seq for message in messages], [1, 2, 3], "the seqs")


@CATEGORY.promise("The server's ids are unique, and callers may not use their prefix.")
async def ids_of_the_server(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(*["x"] * 20)
    ids = {message.message_id for message in await engine.messages(session_id)}
    same(len(ids), 20, "the number of ids")
    holds(all(one.startswith("msg_") for one in ids), "an id does not begin with msg_")
    foreign = engine.append(session_id, said("y", message_id="msg_1"))
    await refused(foreign, "INVALID_FIELD", field="messages[0].message_id")


def _plain(message: Any) -> Any:
    """A message without what its removal says of it."""
    plain = type(message)()
    plain.CopyFrom(message)
    plain.ClearField("removed_version")
    return plain
