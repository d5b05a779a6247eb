"""CONTRACT 10: parts of a state that lie apart are sent and stored once a version, whoever shares them."""

from typing import Any

import pytest

from support.checkpointed import ANY_BYTES, got, listed, put, value
from support.databases import Database
from support.rpc import Create, Rpc, field_refused, refusal
from support.sizes import CONTENT_BYTES_MAX, MIB


async def _stored(database: Database, tenant: str) -> set[tuple[str, str]]:
    """Give which values lie in the database."""
    sql = "select channel, value_version from lockstitch.checkpoint_values where tenant_id = $1"
    return {(row[0], row[1]) for row in await database.as_superuser(sql, tenant)}


async def test_a_value_is_sent_once_and_shared_by_all_that_name_its_version(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    await put(engine, session_id, "1", values=[value("a", "1", ANY_BYTES, format="f"), value("b", "1", b"b1")])
    await put(engine, session_id, "2", values=[value("b", "2", b"b2"), value("a", "1")])
    await put(engine, session_id, "3", values=[value("a", "1", ANY_BYTES, format="f")])
    first, second, third = [await got(engine, session_id, checkpoint_id) for checkpoint_id in ("1", "2", "3")]
    assert list(first.values) == [value("a", "1", ANY_BYTES, format="f"), value("b", "1", b"b1")]
    assert list(second.values) == [value("b", "2", b"b2"), value("a", "1", ANY_BYTES, format="f")]
    assert list(third.values) == [value("a", "1", ANY_BYTES, format="f")]
    assert await _stored(shared_database, tenant) == {("a", "1"), ("b", "1"), ("b", "2")}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (value("a", "1", b"other"), "checkpoint.values[1].data"),
        (value("a", "1", b"", format="f"), "checkpoint.values[1].data"),
        (value("a", "1", b"a1", format="g"), "checkpoint.values[1].data"),
        (value("a", "2"), "checkpoint.values[1].data"),
        (value("b", "1"), "checkpoint.values[1].data"),
    ],
)
async def test_what_a_version_holds_never_changes_and_must_be_there(
    engine: Rpc, create: Create, changed: Any, field: str
) -> None:
    session_id = await create()
    await put(engine, session_id, "1", values=[value("a", "1", b"a1", format="f")])
    for checkpoint_id in ("1", "2"):
        refused = put(engine, session_id, checkpoint_id, data=b"x", values=[value("z", "1", b"z"), changed])
        assert await field_refused(refused) == field
    assert await listed(engine, session_id=session_id) == ["1"]
    assert list((await got(engine, session_id)).values) == [value("a", "1", b"a1", format="f")]


async def test_values_are_shared_within_their_session_and_namespace_only(engine: Rpc, create: Create) -> None:
    first, second = await create(), await create()
    await put(engine, first, "1", values=[value("a", "1", b"x")])
    shared = [value("a", "1")]
    assert await field_refused(put(engine, second, "1", values=shared)) == "checkpoint.values[0].data"
    assert await field_refused(put(engine, first, "1", namespace="n", values=shared)) == "checkpoint.values[0].data"


async def test_no_two_values_of_a_checkpoint_are_of_one_channel(engine: Rpc, create: Create) -> None:
    session_id = await create()
    twice = [value("a", "1", b"x"), value("a", "2", b"y")]
    assert await field_refused(put(engine, session_id, "1", values=twice)) == "checkpoint.values"


async def test_shared_values_count_for_the_most_that_a_checkpoint_holds(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(3):
        await put(engine, session_id, f"1 {number}", values=[value(str(number), "1", b"x" * MIB)])
    shared = [value(str(number), "1") for number in range(3)]
    await put(engine, session_id, "2", values=shared)
    refused = await refusal(put(engine, session_id, "3", data=b"x", values=shared))
    assert (refused.reason, refused.metadata["limit_bytes"]) == ("MESSAGE_TOO_LARGE", str(CONTENT_BYTES_MAX))
    assert "3" not in await listed(engine, session_id=session_id)


async def test_values_that_nobody_shares_go_with_the_checkpoint_that_is_replaced(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    await put(engine, session_id, "1", values=[value("a", "1", b"x"), value("b", "1", b"y")])
    await put(engine, session_id, "2", values=[value("a", "1")])
    await put(engine, session_id, "1", values=[value("b", "2", b"z")])
    assert await _stored(shared_database, tenant) == {("a", "1"), ("b", "2")}
    # A version that is gone may be put anew.
    await put(engine, session_id, "3", values=[value("b", "1", b"other")])
    assert list((await got(engine, session_id)).values) == [value("b", "1", b"other")]


async def test_a_checkpoint_that_changes_nothing_costs_no_more_than_references(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    values = [value(f"channel {number}", "1", bytes([number]) * 10_000) for number in range(100)]
    await put(engine, session_id, "000", values=values)
    for number in range(1, 101):
        changed = value(f"channel {number % 100}", f"new {number}", b"new")
        kept = {one.channel: one for one in values} | {changed.channel: changed}
        await put(engine, session_id, f"{number:03}", values=list(kept.values()))
        values = [value(one.channel, one.version) for one in kept.values()]
    assert len(await _stored(shared_database, tenant)) == 200
    commits = (await engine.ListCommits(session_id=session_id, after_version=2)).commits
    assert {commit.checkpoints[0].bytes for commit in commits} == {len(b"new")}
