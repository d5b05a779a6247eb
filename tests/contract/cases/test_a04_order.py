"""Case A04: messages of one instant keep their order, whatever becomes of their rows."""

from google.protobuf.timestamp_pb2 import Timestamp

from factories import ASSISTANT, TOOL, USER, said, texts_of
from lockstitch.v1.message_pb2 import Message, Part, ToolCallPart
from support.databases import Database
from support.rpc import Create, Rpc

INSTANT = Timestamp(seconds=1_700_000_000)
IDS = ["z6", "y5", "x4", "w3", "v2", "u1"]


def _six() -> list[Message]:
    call = Part(tool_call=ToolCallPart(call_id="k1", name="look", arguments_json="{}"))
    messages = [
        Message(role=USER, parts=[Part(text="m1")]),
        Message(role=ASSISTANT, parts=[Part(reasoning="hm"), Part(text="m2")]),
        Message(role=ASSISTANT, parts=[Part(text="m3"), call]),
        Message(role=TOOL, call_id="k1", parts=[Part(text="m4")]),
        Message(role=USER, parts=[Part(text="m5")]),
        Message(role=ASSISTANT, parts=[Part(text="m6")]),
    ]
    for message, message_id in zip(messages, IDS, strict=True):
        message.message_id = message_id
        message.event_time.CopyFrom(INSTANT)
    return messages


async def test_order_is_by_seq_whatever_ids_times_and_the_heap_say(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    receipt = (await engine.Append(session_id=session_id, messages=_six())).receipt
    assert (receipt.first_seq, receipt.last_seq, list(receipt.message_ids)) == (1, 6, IDS)
    texts = [f"m{number}" for number in range(1, 7)]

    for _ in range(100):
        listed = (await engine.ListMessages(session_id=session_id)).messages
        assert texts_of(listed) == texts
        assert [message.seq for message in listed] == [1, 2, 3, 4, 5, 6]
        assert len({message.create_time.ToNanoseconds() for message in listed}) == 1
    backwards = (await engine.ListMessages(session_id=session_id, descending=True)).messages
    assert texts_of(backwards) == texts[::-1]

    # The row of m2 moves to the end of the heap, and its place is cleared.
    await shared_database.as_superuser(
        "update lockstitch.messages set event_time = now() where tenant_id = $1 and seq = 2", tenant
    )
    await shared_database.as_superuser("vacuum lockstitch.messages")
    assert texts_of((await engine.ListMessages(session_id=session_id)).messages) == texts
    changed = said("m2", role=ASSISTANT, metadata_json='{"seen":true}')
    await engine.UpdateMessage(session_id=session_id, message_id=IDS[1], message=changed)
    await shared_database.as_superuser("vacuum")
    listed = (await engine.ListMessages(session_id=session_id)).messages
    assert [(message.seq, message.message_id) for message in listed] == list(enumerate(IDS, start=1))
    assert listed[1].metadata_json == '{"seen":true}'
    assert texts_of(listed) == texts
    backwards = (await engine.ListMessages(session_id=session_id, descending=True)).messages
    assert texts_of(backwards) == texts[::-1]
    session = await engine.GetSession(session_id=session_id, recent_messages=10)
    assert texts_of(session.messages) == texts
    assert texts_of((await engine.GetContext(session_id=session_id)).messages) == texts
