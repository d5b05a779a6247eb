"""CONTRACT 10: checkpoints are opaque blobs by the caller's ids, with a parent, in namespaces."""

from typing import Any

import grpc
import pytest

from factories import fresh
from lockstitch.v1.checkpoint_pb2 import Checkpoint
from support.checkpointed import ANY_BYTES, ANY_TEXT, ancestors, got, listed, put, put_chain, value, write
from support.rpc import Create, Rpc, field_refused, refusal
from support.sizes import CONTENT_BYTES_MAX

NONE = (grpc.StatusCode.NOT_FOUND, "CHECKPOINT_NOT_FOUND")
METADATA = '{ "step" : 1e3, "source":"loop","a":1,"a":2,"nul":"\\u0000" }'


async def test_what_is_put_comes_back_byte_for_byte(engine: Rpc, create: Create) -> None:
    session_id = await create()
    sent = Checkpoint(
        checkpoint_id=ANY_TEXT,
        namespace="child:1|x",
        run_id="run 1",
        format="msgpack",
        data=ANY_BYTES,
        metadata_json=METADATA,
        values=[value("messages", "00001.0.5", ANY_BYTES, format="json"), value("empty", ANY_TEXT, b"")],
        writes=[write(data=ANY_BYTES, format="f", task_path="~__pregel_pull, n", channel="__error__", index=-1)],
    )
    receipt = await put(engine, session_id, **{name.name: content for name, content in sent.ListFields()})
    assert receipt.version == 2
    assert not receipt.replayed
    stored = await got(engine, session_id, ANY_TEXT, namespace="child:1|x")
    assert stored.create_time == receipt.commit_time
    expected = Checkpoint(session_id=session_id, version=2, create_time=receipt.commit_time)
    expected.MergeFrom(sent)
    assert stored == expected
    (in_list,) = (await engine.ListCheckpoints(session_id=session_id)).checkpoints
    (of_all,) = (await engine.ListCheckpoints()).checkpoints
    assert stored == in_list == of_all


async def test_a_checkpoint_may_hold_nothing_but_its_id(engine: Rpc, create: Create) -> None:
    session_id = await create()
    receipt = await put(engine, session_id, "1")
    assert await got(engine, session_id) == Checkpoint(
        session_id=session_id, checkpoint_id="1", version=2, create_time=receipt.commit_time
    )


async def test_output_fields_that_are_sent_are_not_taken(engine: Rpc, create: Create) -> None:
    session_id = await create()
    sent = Checkpoint(checkpoint_id="1", session_id="other", version=77, writes_truncated=True)
    await engine.PutCheckpoint(session_id=session_id, checkpoint=sent)
    stored = await got(engine, session_id, "1")
    assert (stored.session_id, stored.version, stored.writes_truncated) == (session_id, 2, False)


async def test_the_latest_is_the_greatest_id_as_text_not_the_last_that_was_put(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for checkpoint_id in ("a", "B", "10", "\u00e9", "9", "Z"):
        await put(engine, session_id, checkpoint_id)
    assert (await got(engine, session_id)).checkpoint_id == "\u00e9"
    assert await listed(engine, session_id=session_id) == ["\u00e9", "a", "Z", "B", "9", "10"]


async def test_what_has_its_id_already_is_replaced_and_keeps_its_writes(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await put(engine, session_id, "1", data=b"one", values=[value("c", "1", b"x")], writes=[write()])
    await put(engine, session_id, "1", data=b"two", metadata_json='{"a":1}')
    stored = await got(engine, session_id, "1")
    assert (stored.data, stored.metadata_json, stored.version) == (b"two", '{"a":1}', 3)
    assert not stored.values
    assert stored.writes == [write()]
    assert await listed(engine, session_id=session_id) == ["1"]


async def test_namespaces_are_apart_and_the_empty_one_is_one_of_them(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for namespace in ("", "child", "child|1"):
        await put(
            engine,
            session_id,
            "1",
            namespace=namespace,
            data=namespace.encode(),
            values=[value("c", "1", namespace.encode())],
        )
        await engine.PutCheckpointWrites(
            session_id=session_id, namespace=namespace, checkpoint_id="1", writes=[write(data=namespace.encode())]
        )
    await put(engine, session_id, "2", namespace="child")
    for namespace in ("", "child", "child|1"):
        stored = await got(engine, session_id, "1", namespace=namespace)
        (held,), (pending,) = stored.values, stored.writes
        assert stored.namespace == namespace
        assert {stored.data, held.data, pending.data} == {namespace.encode()}
    assert (await got(engine, session_id)).checkpoint_id == "1"
    assert (await got(engine, session_id, namespace="child")).checkpoint_id == "2"
    assert (await refusal(got(engine, session_id, namespace="chil"))).what == NONE
    assert (await refusal(got(engine, session_id, "2"))).what == NONE


async def test_nothing_is_found_where_nothing_was_put(engine: Rpc, create: Create) -> None:
    session_id = await create()
    assert (await refusal(got(engine, session_id))).what == NONE
    assert (await refusal(got(engine, session_id, "1"))).what == NONE
    assert (await refusal(got(engine, session_id, "1", ancestors=True))).what == NONE
    assert await listed(engine, session_id=session_id) == []
    assert (await refusal(got(engine, fresh("session")))).reason == "SESSION_NOT_FOUND"


async def test_a_parent_must_be_there_in_the_same_namespace(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await put(engine, session_id, "1")
    for parent_id, namespace in (("0", ""), ("2", ""), ("1", "child")):
        fields = {
            "parent_id": parent_id,
            "namespace": namespace,
            "values": [value("c", "1", b"x")],
            "writes": [write()],
        }
        assert await field_refused(put(engine, session_id, "2", **fields)) == "checkpoint.parent_id"
    assert await listed(engine, session_id=session_id) == ["1"]
    assert (await engine.GetSession(session_id=session_id)).session.version == 2
    await put(engine, session_id, "2", parent_id="1")
    assert (await got(engine, session_id)).parent_id == "1"


@pytest.mark.parametrize("ids", [["1", "2", "3", "4"], ["4", "3", "2", "1"], ["2", "4", "1", "3"]])
async def test_no_checkpoint_comes_from_itself(engine: Rpc, create: Create, ids: list[str]) -> None:
    session_id = await create()
    await put_chain(engine, session_id, ids)
    for parent_id in ids[1:]:
        assert await field_refused(put(engine, session_id, ids[0], parent_id=parent_id)) == "checkpoint.parent_id"
    assert await field_refused(put(engine, session_id, ids[2], parent_id=ids[2])) == "checkpoint.parent_id"
    assert await field_refused(put(engine, session_id, ids[1], parent_id=ids[3])) == "checkpoint.parent_id"
    await put(engine, session_id, ids[3], parent_id=ids[0])
    assert await ancestors(engine, session_id, ids[3]) == [ids[0]]


@pytest.mark.parametrize(("first", "second"), [("1", "2"), ("2", "1")])
async def test_a_parent_that_was_deleted_closes_no_circle_when_it_is_put_again(
    engine: Rpc, create: Create, first: str, second: str
) -> None:
    session_id = await create()
    await put(engine, session_id, first, run_id="gone")
    await put(engine, session_id, second, parent_id=first)
    await engine.DeleteCheckpoints(session_id=session_id, run_id="gone")
    assert await ancestors(engine, session_id, second) == []
    assert await field_refused(put(engine, session_id, first, parent_id=second)) == "checkpoint.parent_id"
    await put(engine, session_id, first)
    assert await ancestors(engine, session_id, second) == [first]


async def test_a_session_is_created_where_there_is_none_in_the_same_commit(engine: Rpc) -> None:
    session_id = fresh("new")
    missing = {"user_id": "u7", "agent": "graph"}
    assert (await refusal(put(engine, session_id, "1"))).reason == "SESSION_NOT_FOUND"
    assert await field_refused(put(engine, session_id, "1", parent_id="0", create_if_missing=missing))
    assert (await refusal(engine.GetSession(session_id=session_id))).reason == "SESSION_NOT_FOUND"
    conflict = await refusal(put(engine, session_id, "1", create_if_missing=missing, expected_version=1))
    assert (conflict.reason, conflict.metadata["current_version"]) == ("VERSION_CONFLICT", "0")
    receipt = await put(engine, session_id, "1", data=b"x", create_if_missing=missing, expected_version=0)
    assert receipt.version == 1
    session = (await engine.GetSession(session_id=session_id)).session
    assert (session.user_id, session.agent, session.version, session.last_seq) == ("u7", "graph", 1, 0)
    assert (await got(engine, session_id)).version == 1
    assert (await put(engine, session_id, "2", create_if_missing=missing)).version == 2
    other = await refusal(put(engine, session_id, "3", create_if_missing={"user_id": "u8"}))
    assert other.reason == "SESSION_EXISTS"


async def test_a_checkpoint_is_no_activity_and_no_message(engine: Rpc, create: Create) -> None:
    session_id = await create()
    before = (await engine.GetSession(session_id=session_id)).session
    receipt = await put(engine, session_id, "1", data=b"x")
    after = (await engine.GetSession(session_id=session_id)).session
    assert after.last_activity_time == before.last_activity_time
    assert after.update_time == receipt.commit_time
    assert (after.version, after.last_seq, after.message_count) == (2, 0, 0)


async def test_the_largest_checkpoint_is_readable_by_every_read(engine: Rpc, create: Create) -> None:
    session_id = await create()
    half = CONTENT_BYTES_MAX // 2
    fields: dict[str, Any] = {"metadata_json": '{"a":"' + "x" * (64 * 1024 - 8) + '"}'}
    await put(engine, session_id, "1", data=b"\xff" * half, values=[value("c", "1", b"\x00" * half)], **fields)
    too_large = put(engine, session_id, "2", data=b"x", values=[value("c", "1"), value("d", "1", b"\xff" * half)])
    assert (await refusal(too_large)).reason == "MESSAGE_TOO_LARGE"
    sent_too_large = put(engine, session_id, "2", data=b"x" * (CONTENT_BYTES_MAX + 1))
    assert (await refusal(sent_too_large)).reason == "MESSAGE_TOO_LARGE"
    assert await listed(engine, session_id=session_id) == ["1"]
    await put(engine, session_id, "2", parent_id="1", data=b"y" * half, values=[value("c", "1")], **fields)
    for answer in (await got(engine, session_id), (await engine.ListCheckpoints(page_size=1)).checkpoints[0]):
        assert len(answer.data) == len(answer.values[0].data) == half
    assert await listed(engine) == ["2", "1"]
    assert await ancestors(engine, session_id) == ["1"]


async def test_names_that_no_answer_has_room_for_are_refused(engine: Rpc, create: Create) -> None:
    session_id = await create()
    most = CONTENT_BYTES_MAX - 1000
    await put(engine, session_id, "1", values=[value("c", "1", b"x" * most)])
    names = [f"{number:03}" + "\U0001f600" * 125 for number in range(600)]
    for number in range(0, 600, 200):
        values = [value(name, name, b"") for name in names[number : number + 200]]
        await put(engine, session_id, f"0{number}", values=values)
    shared = [value("c", "1"), *(value(name, name) for name in names)]
    assert (await refusal(put(engine, session_id, "2", values=shared))).reason == "MESSAGE_TOO_LARGE"
    await put(engine, session_id, "2", values=shared[:500], metadata_json='{"a":"' + "x" * (64 * 1024 - 8) + '"}')
    assert len((await got(engine, session_id, "2")).values) == 500
    assert await listed(engine, session_id=session_id) == ["2", "1", "0400", "0200", "00"]
