"""The client's checkpoints: put, found with all their writes, listed, copied, deleted, under the fence."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from factories import fresh
from lockstitch import CheckpointNotFound, Client, InvalidField, RunFenced, SessionHandle, SessionNotFound
from lockstitch.types import CheckpointValue, CheckpointWrite, CreateIfMissing
from lockstitch_server.server_process import ServerProcess
from support.sizes import MIB


@pytest.fixture
async def client(server: ServerProcess) -> AsyncIterator[Client]:
    """An engine's client, in a tenant of the test's own: lists are over all sessions."""
    async with Client(server.target, token=server.token(tenant=fresh("tenant"))) as made:
        yield made


async def _put_all(session: SessionHandle, *ids: str, data: bytes = b"x") -> None:
    parent_id = ""
    for checkpoint_id in ids:
        await session.put_checkpoint(checkpoint_id, parent_id=parent_id, data=data)
        parent_id = checkpoint_id


async def test_an_execution_goes_on_from_its_latest_checkpoint(client: Client) -> None:
    session = await client.create()
    assert await session.latest_checkpoint() is None
    receipt = await session.put_checkpoint(
        "1",
        data=b"\x00one",
        format="raw",
        metadata={"step": 1},
        values=[CheckpointValue(channel="a", version="1", data=b"a1")],
        writes=[CheckpointWrite(task_id="t", channel="out", data=b"w")],
    )
    assert (receipt.version, session.version, session.receipt) == (2, 2, receipt)
    await session.put_checkpoint("2", parent_id="1", values=[CheckpointValue(channel="a", version="1")])
    await session.put_checkpoint_writes("2", writes=[CheckpointWrite(task_id="t", channel="out", index=-1)])
    latest = await session.latest_checkpoint()
    assert latest is not None
    assert (latest.checkpoint_id, latest.parent_id, latest.values[0].data) == ("2", "1", b"a1")
    assert [one.index for one in latest.writes] == [-1]
    first = await session.checkpoint("1")
    assert (first.data, first.format, first.metadata_json) == (b"\x00one", "raw", '{"step":1}')
    assert await session.latest_checkpoint(namespace="child") is None


async def test_what_is_not_there_is_told_apart(client: Client) -> None:
    session = await client.create()
    with pytest.raises(CheckpointNotFound):
        await session.checkpoint("1")
    with pytest.raises(CheckpointNotFound):
        await anext(session.checkpoint_ancestors("1"))
    with pytest.raises(SessionNotFound):
        await client.session(fresh("session")).latest_checkpoint()


async def test_every_read_gives_all_writes_however_many_pages_they_take(client: Client) -> None:
    session = await client.create()
    await _put_all(session, "1", "2", data=b"x" * (2 * MIB))
    for checkpoint_id in ("1", "2"):
        for index in range(4):
            write = CheckpointWrite(task_id="t", channel="c", index=index, data=bytes([index]) * MIB)
            await session.put_checkpoint_writes(checkpoint_id, writes=[write])
    reads = [
        await session.checkpoint("1"),
        await session.latest_checkpoint(),
        *[one async for one in session.checkpoints(page_size=5)],
        *[one async for one in session.checkpoint_ancestors("2")],
        *[one async for one in client.checkpoints()],
    ]
    assert len(reads) == 7
    for read in reads:
        assert read is not None
        assert [one.index for one in read.writes] == [0, 1, 2, 3]
        assert not read.writes_truncated
        assert len(read.data) == 2 * MIB


async def test_lists_are_narrowed_and_followed_to_their_end(client: Client) -> None:
    first, second = await client.create(), await client.create()
    for number in range(6):
        session = (first, second)[number % 2]
        await session.put_checkpoint(
            str(number),
            namespace="n" if number > 3 else "",
            run_id=f"r{number % 3}",
            metadata={"big": number > 2, "x": None},
        )
    assert [one.checkpoint_id async for one in client.checkpoints(page_size=2)] == list("543210")
    assert [one.checkpoint_id async for one in first.checkpoints(page_size=1)] == list("420")
    assert [one.checkpoint_id async for one in client.checkpoints(namespace="")] == list("3210")
    assert [one.checkpoint_id async for one in client.checkpoints(run_id="r1", before="4")] == ["1"]
    assert [one.checkpoint_id async for one in client.checkpoints(metadata={"big": True, "x": None})] == list("543")
    assert {one.session_id async for one in client.checkpoints(run_id="r2")} == {first.session_id, second.session_id}


async def test_ancestors_are_followed_to_the_first(client: Client) -> None:
    session = await client.create()
    await _put_all(session, *"abcdefgh", data=b"x" * MIB)
    assert [one.checkpoint_id async for one in session.checkpoint_ancestors("h")] == list("gfedcba")


async def test_checkpoints_are_copied_and_deleted(client: Client) -> None:
    session, target_id = await client.create(), fresh("target")
    await _put_all(session, "1", "2", "3")
    copied = await session.copy_checkpoints(to=target_id, create_if_missing=CreateIfMissing(user_id="u1"))
    assert (copied.copied, copied.receipt.version, session.version) == (3, 1, 4)
    target = client.session(target_id)
    assert (await target.delete_checkpoints(keep_newest=1)).deleted == 2
    assert [one.checkpoint_id async for one in target.checkpoints()] == ["3"]
    assert (await session.delete_checkpoints(run_id="nobody's")).deleted == 0
    assert (await session.delete_checkpoints(all=True)).deleted == 3
    assert session.version == 5


async def test_which_to_delete_is_said_once(client: Client) -> None:
    session = await client.create()
    with pytest.raises(InvalidField):
        await session.delete_checkpoints()
    with pytest.raises(InvalidField):
        await session.delete_checkpoints(all=True, keep_newest=1)
    with pytest.raises(InvalidField):
        await session.delete_checkpoints(keep_newest=-1)


async def test_a_retry_is_the_same_put(client: Client) -> None:
    session = await client.create()
    request_id = fresh("request")
    first = await session.put_checkpoint("1", data=b"x", request_id=request_id, timeout=timedelta(seconds=5))
    again = await session.put_checkpoint("1", data=b"x", request_id=request_id, expected_version=1)
    assert (again.version, again.replayed) == (first.version, True)


async def test_what_is_put_under_a_run_is_fenced(client: Client) -> None:
    session = await client.create()
    async with session.run(worker="one") as run:
        await run.checkpoint("1", data=b"x")
        await run.put_checkpoint_writes("1", writes=[CheckpointWrite(task_id="t", channel="c")])
        assert session.version == run.version == 3
        found = [one async for one in session.checkpoints(run_id=run.run_id)]
        assert [(one.run_id, len(one.writes)) for one in found] == [(run.run_id, 1)]

    async def interrupted() -> None:
        async with session.run(worker="two") as lost:
            async with session.run(worker="three", on_busy="interrupt") as holder:
                await holder.checkpoint("2", parent_id="1")
            await lost.checkpoint("3", parent_id="2")

    with pytest.raises(RunFenced):
        await interrupted()
    latest = await session.latest_checkpoint()
    assert latest is not None
    assert (latest.checkpoint_id, latest.parent_id) == ("2", "1")
