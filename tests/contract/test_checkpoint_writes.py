"""CONTRACT 10: pending writes are idempotent by (checkpoint, task, index), in order, and make no commit."""

import asyncio
import random
from typing import Any

import pytest

from factories import fresh
from lockstitch.v1.checkpoint_pb2 import CheckpointWrite
from support.checkpointed import ANY_BYTES, ANY_TEXT, got, listed, places, put, write
from support.pages import PAGES_MAX
from support.rpc import Create, Rpc, field_refused, refusal
from support.sizes import CONTENT_BYTES_MAX, KIB, fits


async def _put_writes(
    rpc: Rpc, session_id: str, *writes: CheckpointWrite, checkpoint_id: str = "1", **fields: Any
) -> None:
    await rpc.PutCheckpointWrites(session_id=session_id, checkpoint_id=checkpoint_id, writes=writes, **fields)


async def _all_writes(rpc: Rpc, session_id: str, checkpoint_id: str = "1") -> list[CheckpointWrite]:
    """Give all writes of a checkpoint, page by page."""
    pages = [fits(await rpc.GetCheckpoint(session_id=session_id, checkpoint_id=checkpoint_id))]
    while token := pages[-1].next_writes_page_token:
        assert pages[-1].checkpoint.writes_truncated
        assert len(pages) < PAGES_MAX
        pages.append(
            fits(await rpc.GetCheckpoint(session_id=session_id, checkpoint_id=checkpoint_id, writes_page_token=token))
        )
        assert pages[-1].checkpoint.checkpoint_id == checkpoint_id
        assert not pages[-1].checkpoint.data
        assert pages[-1].checkpoint.writes
    assert not pages[-1].checkpoint.writes_truncated
    return [one for page in pages for one in page.checkpoint.writes]


async def test_writes_come_with_their_checkpoint_by_path_task_and_index(engine: Rpc, create: Create) -> None:
    session_id = await create()
    ordered = [
        write("b", 2),
        write("b", 10),
        write("a", -1, task_path="p"),
        write("a", 0, task_path="p"),
        write("b", -4, task_path="p"),
        write("\u00e9", 0, task_path="p"),
        write("a", 5, ANY_BYTES, task_path=ANY_TEXT + " " * 500 + "x", format="f"),
    ]
    ordered.sort(key=lambda one: (one.task_path.encode(), one.task_id.encode(), one.index))
    await put(engine, session_id, "1")
    shuffled = random.Random(7).sample(ordered, len(ordered))
    await _put_writes(engine, session_id, *shuffled[:3])
    for one in shuffled[3:]:
        await _put_writes(engine, session_id, one)
    assert list((await got(engine, session_id)).writes) == ordered
    (in_list,) = (await engine.ListCheckpoints(session_id=session_id)).checkpoints
    assert list(in_list.writes) == ordered


async def test_writes_may_come_before_their_checkpoint_and_with_it(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await _put_writes(engine, session_id, write("t", 0, b"before"))
    assert (await refusal(got(engine, session_id, "1"))).reason == "CHECKPOINT_NOT_FOUND"
    await put(engine, session_id, "1", writes=[write("t", 0, b"with"), write("t", 1, b"with")])
    await _put_writes(engine, session_id, write("t", 1, b"after"), write("t", 2, b"after"))
    assert [one.data for one in (await got(engine, session_id)).writes] == [b"before", b"with", b"after"]


async def test_a_repeat_changes_nothing_and_a_special_one_replaces(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await put(engine, session_id, "1")
    first = [write("t", 0, b"a"), write("t", -1, b"a", channel="error", task_path="p", format="f")]
    await _put_writes(engine, session_id, *first)
    await _put_writes(engine, session_id, *first)
    assert list((await got(engine, session_id)).writes) == first
    again = [write("t", 0, b"b", channel="d", task_path="q"), write("t", -1, b"b", channel="resume", task_path="q")]
    await _put_writes(engine, session_id, *again)
    assert list((await got(engine, session_id)).writes) == [first[0], again[1]]
    await _put_writes(
        engine, session_id, write("u", 3, b"1"), write("u", 3, b"2"), write("u", -3, b"1"), write("u", -3, b"2")
    )
    assert [one.data for one in (await got(engine, session_id)).writes if one.task_id == "u"] == [b"2", b"1"]


async def test_writes_of_different_checkpoints_and_namespaces_are_apart(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for checkpoint_id, namespace in (("1", ""), ("2", ""), ("1", "n")):
        await put(engine, session_id, checkpoint_id, namespace=namespace)
        data = f"{checkpoint_id}{namespace}".encode()
        await _put_writes(engine, session_id, write(data=data), checkpoint_id=checkpoint_id, namespace=namespace)
    for checkpoint_id, namespace in (("1", ""), ("2", ""), ("1", "n")):
        (stored,) = (await got(engine, session_id, checkpoint_id, namespace=namespace)).writes
        assert stored.data == f"{checkpoint_id}{namespace}".encode()


async def test_writes_make_no_commit_and_move_nothing(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await put(engine, session_id, "1")
    before = (await engine.GetSession(session_id=session_id)).session
    await _put_writes(engine, session_id, write())
    assert (await engine.GetSession(session_id=session_id)).session == before
    assert len((await engine.ListCommits(session_id=session_id)).commits) == 2


async def test_writes_need_a_session(engine: Rpc) -> None:
    assert (await refusal(_put_writes(engine, fresh("session"), write()))).reason == "SESSION_NOT_FOUND"


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("writes[1].task_id", {"task_id": ""}),
        ("writes[1].task_id", {"task_id": "x" * 129}),
        ("writes[1].task_id", {"task_id": "a\nb"}),
        ("writes[1].channel", {"channel": ""}),
        ("writes[1].channel", {"channel": "\x00"}),
        ("writes[1].task_path", {"task_path": "x" * 1025}),
        ("writes[1].task_path", {"task_path": "\t"}),
        ("writes[1].format", {"format": "x" * 129}),
    ],
)
async def test_bad_writes_name_their_field_and_store_nothing(
    engine: Rpc, create: Create, field: str, bad: dict[str, Any]
) -> None:
    session_id = await create()
    writes = [write(), CheckpointWrite(**{"task_id": "t", "channel": "c"} | bad)]
    assert await field_refused(_put_writes(engine, session_id, *writes)) == field
    assert await field_refused(put(engine, session_id, "1", writes=writes)) == f"checkpoint.{field}"
    await put(engine, session_id, "1")
    assert not (await got(engine, session_id)).writes


async def test_a_call_takes_1_to_1000_writes_of_3_mib(engine: Rpc, create: Create) -> None:
    session_id = await create()
    assert await field_refused(_put_writes(engine, session_id)) == "writes"
    many = [write("t", number) for number in range(1001)]
    assert (await refusal(_put_writes(engine, session_id, *many))).reason == "BATCH_TOO_LARGE"
    assert (await refusal(put(engine, session_id, "1", writes=many))).reason == "BATCH_TOO_LARGE"
    large = write(data=b"x" * (CONTENT_BYTES_MAX + 1))
    assert (await refusal(_put_writes(engine, session_id, large))).reason == "BATCH_TOO_LARGE"
    await put(engine, session_id, "1")
    assert not (await got(engine, session_id)).writes
    await _put_writes(engine, session_id, *many[:1000])
    assert places(await got(engine, session_id)) == [("", "t", number) for number in range(1000)]
    await _put_writes(engine, session_id, write("u", 0, b"x" * CONTENT_BYTES_MAX))
    assert (await _all_writes(engine, session_id))[-1].data == b"x" * CONTENT_BYTES_MAX


@pytest.mark.parametrize("size", [3 * KIB, 300 * KIB, CONTENT_BYTES_MAX])
async def test_the_writes_of_the_largest_checkpoint_come_by_pages(engine: Rpc, create: Create, size: int) -> None:
    session_id = await create()
    await put(engine, session_id, "1", data=b"x" * CONTENT_BYTES_MAX)
    writes = [
        write(f"{number:04}", number, bytes([number % 256]) * size) for number in range(CONTENT_BYTES_MAX // size)
    ]
    half = len(writes) // 2
    await _put_writes(engine, session_id, *writes[half:])
    if half:
        await _put_writes(engine, session_id, *writes[:half])
    assert await _all_writes(engine, session_id) == writes
    first = await engine.GetCheckpoint(session_id=session_id)
    assert (len(first.checkpoint.data), len(first.checkpoint.writes)) == (CONTENT_BYTES_MAX, 0)
    second = await engine.GetCheckpoint(session_id=session_id, writes_page_token=first.next_writes_page_token)
    # A page is as full as it may be.
    assert sum(len(one.data) for one in second.checkpoint.writes) > CONTENT_BYTES_MAX - size - 128 * KIB
    (in_list,) = fits(await engine.ListCheckpoints(session_id=session_id)).checkpoints
    assert in_list.writes_truncated


async def test_a_page_token_of_writes_is_good_for_its_call_only(engine: Rpc, create: Create) -> None:
    session_id, other = await create(), await create()
    for one in (session_id, other):
        await put(engine, one, "1", data=b"x" * CONTENT_BYTES_MAX, writes=[write()])
    on = {"session_id": session_id, "checkpoint_id": "1"}
    token = (await engine.GetCheckpoint(**on)).next_writes_page_token
    assert token
    assert (await engine.GetCheckpoint(**on, writes_page_token=token)).checkpoint.writes == [write()]
    for asked in (
        on | {"session_id": other},
        on | {"checkpoint_id": ""},
        on | {"namespace": "n"},
        on | {"ancestors": True},
    ):
        refused = await refusal(engine.GetCheckpoint(**asked, writes_page_token=token))
        assert refused.reason == "PAGE_TOKEN_INVALID", asked
    for tampered in (token[:-1], token + "A", "A" + token[1:], "x", "\u00e9"):
        refused = await refusal(engine.GetCheckpoint(**on, writes_page_token=tampered))
        assert refused.reason == "PAGE_TOKEN_INVALID", tampered
    refused = await refusal(engine.GetCheckpoint(**on, ancestors_page_token=token))
    assert refused.reason == "PAGE_TOKEN_INVALID"
    both = engine.GetCheckpoint(**on, ancestors_page_token=token, writes_page_token=token)
    assert await field_refused(both) == "writes_page_token"


async def test_many_put_the_same_writes_at_once_in_any_order(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    order = random.Random(5)
    writes = [write(f"t{number % 7}", number - 20, b"x" * 100) for number in range(120)]
    calls = [_put_writes(engines[number % 2], session_id, *order.sample(writes, len(writes))) for number in range(24)]
    await asyncio.gather(*calls, put(engines[0], session_id, "1"))
    stored = await got(engines[1], session_id, "1")
    assert sorted(places(stored)) == sorted((one.task_path, one.task_id, one.index) for one in writes)
    assert await listed(engines[0], session_id=session_id) == ["1"]
