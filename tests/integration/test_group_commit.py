"""Appends that come at once are made by one statement, and each gets what it would have got alone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from factories import fresh
from lockstitch_server import failpoints
from lockstitch_server.errors import CommitOutcomeUnknown, Overloaded
from lockstitch_server.model import Content, Fence, Method, NewRun, NewSession, OnBusy
from lockstitch_server.store import gathering
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.group_commit import ITEMS_MAX
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.runs import RunStore
from support.databases import Database
from support.stored import MESSAGES_MAX, Written, answered, asked, held, said, transactions, written
from support.waiting import until, until_true

USER = NewSession(user_id="u", agent="")
WAITS_FOR_A_LOCK = """
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%commit%'
"""


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Written]:
    async with written(database) as made:
        yield made


async def at_once(*appends: Awaitable[ChangeReport]) -> list[ChangeReport]:
    """Let appends come at once: the first is sent alone, the others are the next batch."""
    return await asyncio.gather(*appends)


async def started(store: Written, session_id: str) -> Fence:
    runs = RunStore(
        Statements(store.pool), Reading(store.pool), run_grace=timedelta(minutes=1), committed=lambda *_: None
    )
    new = NewRun(run_id=fresh("run"), worker="", lease=timedelta(minutes=1), on_busy=OnBusy.INTERRUPT, labels={})
    report = await runs.start(store.change(session_id, Method.START_RUN), new)
    assert report.run is not None
    return Fence(run_id=new.run_id, fencing_token=report.run.fencing_token)


async def _of_all_kinds(store: Written, *, grouped: bool) -> list[tuple[object, ...]]:
    """Appends with all kinds of verdicts: what each gets, without times and ids that differ from run to run."""
    plain, other, full, run, calls, mine = [await store.create(said("1")) for _ in range(6)]
    for place in range(MESSAGES_MAX // 100):
        big = tuple(said("x") for _ in range(100 if place else 99))
        await store.append(full, *big)
    made = uuid4()
    await store.append(plain, request=made)
    lost = await started(store, run)
    fence = await started(store, run)
    message, call = asked("c")
    await store.append(calls, message, ledger=(call,))
    message, answer = answered("c", b"one")
    await store.append(calls, message, ledger=(answer,))
    again, other_answer = answered("c", b"two")
    nobody, to_nobody = answered("none", b"x")
    await store.append(mine, said("x", message_id="taken"))
    foreign = store.of(fresh("tenant"))
    theirs = await foreign.create(said("1"))
    asking, new_call = asked("d")
    answering, its_answer = answered("d", b"three")
    missing = fresh("missing")
    appends: list[Callable[[], Awaitable[ChangeReport]]] = [
        lambda: store.append(other),
        lambda: store.append(plain),
        lambda: store.append(plain, said("a"), said("b"), said("c", message_id="own")),
        lambda: store.append(plain, expected_version=2),
        lambda: store.append(plain, expected_version=4),
        lambda: store.append(plain, request=made),
        lambda: store.append(plain, request=made, digest=b"\x02"),
        lambda: store.append(fresh("nowhere")),
        lambda: store.append(theirs),
        lambda: foreign.append(theirs),
        lambda: foreign.append(plain),
        lambda: store.append(full),
        lambda: store.append(run, fence=fence),
        lambda: store.append(run, fence=lost),
        lambda: store.append(run, fence=replace(fence, run_id="none")),
        lambda: store.append(calls, again, ledger=(other_answer,)),
        lambda: store.append(calls, message, ledger=(answer,)),
        lambda: store.append(calls, nobody, ledger=(to_nobody,)),
        lambda: store.append(calls, asking, ledger=(new_call,)),
        lambda: store.append(calls, answering, ledger=(its_answer,)),
        lambda: store.append(mine, said("x", message_id="taken")),
        lambda: store.append(mine, said("x", message_id="free")),
        lambda: store.append(plain, create=USER),
        lambda: store.append(plain, create=NewSession(user_id="somebody else", agent="")),
        lambda: store.append(fresh("missing"), create=replace(USER, is_over_quota=True)),
        lambda: store.append(missing, create=USER),
    ]
    if grouped:
        reports = await at_once(*(append() for append in appends))
    else:
        reports = [await append() for append in appends]
    return [
        (
            report.outcome,
            report.index,
            report.version,
            report.last_seq,
            report.memory_version,
            report.new_messages,
            report.new_tool_calls,
            report.tool_call_status,
            report.message_ids,
            report.commit_time is not None,
        )
        for report in reports
    ]


async def test_each_gets_the_verdict_that_it_would_have_got_alone(store: Written) -> None:
    alone = await _of_all_kinds(store.ungrouped(), grouped=False)
    assert [verdict[0] for verdict in alone] == [
        "committed",
        "committed",
        "committed",
        "version_conflict",
        "committed",
        "replayed",
        "request_id_reused",
        "session_not_found",
        "session_not_found",
        "committed",
        "session_not_found",
        "session_full",
        "committed",
        "run_fenced",
        "run_not_found",
        "tool_call_ended",
        "unchanged",
        "tool_call_not_found",
        "committed",
        "committed",
        "message_id_exists",
        "committed",
        "committed",
        "session_exists",
        "quota_exceeded",
        "committed",
    ]
    assert await _of_all_kinds(store, grouped=True) == alone


async def test_what_comes_while_one_is_made_is_made_in_one_transaction(store: Written, database: Database) -> None:
    session_ids = [await store.create() for _ in range(10)]
    await at_once(*(store.append(session_id) for session_id in session_ids))
    first, *others = await transactions(database, store.tenant, *session_ids)
    assert len(set(others)) == 1
    assert first not in others


async def _brought(store: Written, first: str, later: list[str], *, turns: int, turn_seconds: float = 0.0) -> None:
    """Append to one, and when that is made to the others, one after so many turns of the loop each time."""
    await store.append(first)
    async with asyncio.TaskGroup() as group:
        for session_id in later:
            for _ in range(turns):
                ends = monotonic() + turn_seconds
                while monotonic() < ends:
                    pass  # the loop is at other work
                await asyncio.sleep(0)
            group.create_task(store.append(session_id))


async def test_what_a_busy_loop_brings_turn_by_turn_is_made_in_one_transaction(
    store: Written, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is: what is asked is whether turns are waited for.
    monkeypatch.setattr(gathering, "SECONDS_MAX", 60)
    first, second, *later = [await store.create() for _ in range(12)]
    await asyncio.gather(_brought(store, first, later, turns=3), store.append(second))
    assert len(set(await transactions(database, store.tenant, second, *later))) == 1


async def test_what_a_loop_at_other_work_would_bring_late_is_not_waited_for(store: Written, database: Database) -> None:
    first, second, late = [await store.create() for _ in range(3)]
    await asyncio.gather(_brought(store, first, [late], turns=10, turn_seconds=0.002), store.append(second))
    assert len(set(await transactions(database, store.tenant, second, late))) == 2


async def test_a_transaction_makes_so_many_at_most(store: Written, database: Database) -> None:
    session_id = await store.create()
    await at_once(*(store.append(session_id) for _ in range(1 + ITEMS_MAX + 1)))
    made_in = await transactions(database, store.tenant, session_id)
    assert [made_in.count(each) for each in dict.fromkeys(made_in)] == [1, ITEMS_MAX, 1]


@pytest.mark.parametrize(
    "messages",
    [[said("x")] * 9, [said("x" * 40_000)]],
    ids=["of many messages", "of many bytes"],
)
async def test_a_large_one_is_a_transaction_of_its_own(store: Written, database: Database, messages: list[Any]) -> None:
    session_ids = [await store.create() for _ in range(4)]
    small = [store.append(session_id) for session_id in session_ids[:3]]
    await at_once(*small, store.append(session_ids[3], *messages))
    _, second, third, large = await transactions(database, store.tenant, *session_ids)
    assert second == third != large


async def test_those_of_one_session_are_made_in_the_order_they_came_in(store: Written) -> None:
    session_id, other = await store.create(), await store.create()
    reports = await at_once(store.append(other), *(store.append(session_id, said(str(n))) for n in range(40)))
    assert [report.version for report in reports[1:]] == list(range(2, 42))


async def test_a_request_that_comes_twice_at_once_is_made_once(store: Written) -> None:
    session_id, other, request = await store.create(), await store.create(), uuid4()
    _, *both = await at_once(store.append(other), *(store.append(session_id, request=request) for _ in range(2)))
    assert [(report.outcome, report.version) for report in both] == [("committed", 2), ("replayed", 2)]


async def test_a_session_that_is_held_holds_up_no_other(store: Written, database: Database) -> None:
    busy, *others = [await store.create() for _ in range(5)]
    async with held(database, store.tenant, busy):
        # More than there are connections.
        stuck = [asyncio.create_task(store.append(busy, said(str(n)))) for n in range(20)]
        for _ in range(3):
            reports = await at_once(*(store.append(session_id) for session_id in others))
            assert {report.outcome for report in reports} == {"committed"}
        stuck += [asyncio.create_task(store.append(busy, said(str(n)))) for n in range(20, 25)]
        assert {report.outcome for report in await at_once(*(store.append(other) for other in others))} == {"committed"}
        assert not any(task.done() for task in stuck)
        assert store.pool.busy == 1
    reports = await asyncio.gather(*stuck)
    assert [report.version for report in reports] == list(range(2, 27))
    assert (await store.append(busy)).version == 27


async def test_one_alone_that_finds_its_session_held_holds_up_nobody(store: Written, database: Database) -> None:
    busy, other = await store.create(), await store.create()
    async with held(database, store.tenant, busy):
        stuck = asyncio.create_task(store.append(busy))
        await until_true(lambda: database.as_superuser(WAITS_FOR_A_LOCK), "an append that waits for its session")
        assert (await store.append(other)).outcome == "committed"
        assert not stuck.done()
    assert (await stuck).outcome == "committed"


async def test_one_alone_that_makes_its_session_is_made_in_one_round_trip(store: Written) -> None:
    await store.append(fresh("new"), create=USER)  # prepares the statement
    sent: list[str] = []
    for connection in store.pool._free:
        connection.add_query_logger(lambda record: sent.append(record.query))
    assert (await store.append(fresh("new"), create=USER)).outcome == "committed"
    assert len(sent) == 1


async def test_sessions_that_are_missing_are_made_by_whoever_comes_first(database: Database) -> None:
    async with written(database) as one, written(database) as another:
        two = another.of(one.tenant)
        session_ids = [fresh("new") for _ in range(12)]
        forth = [one.append(session_id, create=USER) for session_id in session_ids]
        back = [two.append(session_id, create=USER) for session_id in reversed(session_ids)]
        reports = await asyncio.gather(*forth, *back)
    assert {report.outcome for report in reports} == {"committed"}
    assert sorted(report.version for report in reports) == [1] * 12 + [2] * 12


async def test_who_goes_while_waiting_for_its_turn_leaves_nothing(store: Written) -> None:
    first, second, third = [await store.create() for _ in range(3)]
    tasks = [asyncio.create_task(store.append(session_id)) for session_id in (first, second, second, third)]
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.wait(tasks)
    assert tasks[2].cancelled()
    assert [tasks[place].result().version for place in (0, 1, 3)] == [2, 2, 2]
    assert (await store.append(second)).version == 3


async def test_who_goes_while_its_batch_is_made_undoes_nothing(store: Written, database: Database) -> None:
    busy = await store.create()
    async with held(database, store.tenant, busy):
        tasks = [asyncio.create_task(store.append(busy))]
        await until_true(lambda: database.as_superuser(WAITS_FOR_A_LOCK), "an append that waits for its session")
        tasks += [asyncio.create_task(store.append(busy)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert all(task.cancelled() for task in tasks)
    await until(lambda: store.pool.busy == 0, "the end of what was begun")
    # The one that was sent was made, those behind it were not.
    assert (await store.append(busy)).version == 3


async def test_whose_turn_does_not_come_is_told_overloaded(database: Database) -> None:
    async with written(database, connections_max=1, wait=timedelta(milliseconds=50)) as store:
        session_ids = [await store.create() for _ in range(4)]
        slow = asyncio.create_task(store.pool.fetch("select pg_sleep(0.5)"))
        await until(lambda: store.pool.busy == 1, "a running statement")
        first, *others = await asyncio.gather(
            *(store.append(session_id) for session_id in session_ids), return_exceptions=True
        )
        await slow
        assert isinstance(first, ChangeReport)
        assert [type(other) for other in others] == [Overloaded] * 3
        assert {other.retry_after for other in others if isinstance(other, Overloaded)} == {timedelta(milliseconds=50)}
        assert [(await store.append(session_id)).version for session_id in session_ids] == [3, 2, 2, 2]


@pytest.mark.parametrize("session_id", ["nul\0", 17], ids=["in the database", "before it"])
async def test_one_that_fails_fails_no_other(store: Written, session_id: Any) -> None:
    session_ids = [await store.create() for _ in range(4)]
    broken = replace(store.change(session_ids[0]), session=replace(store.change("x").session, session_id=session_id))

    async def fail() -> object:
        return await store.writer.append(broken, Content(messages=(said("x"),)))

    reports = await asyncio.gather(
        store.append(session_ids[0]), fail(), *(store.append(each) for each in session_ids[1:]), return_exceptions=True
    )
    assert isinstance(reports.pop(1), asyncpg.DataError)
    assert [report.version for report in reports if isinstance(report, ChangeReport)] == [2, 2, 2, 2]


async def test_a_batch_whose_connection_breaks_is_asked_for_one_by_one(store: Written, database: Database) -> None:
    busy = await store.create()
    async with held(database, store.tenant, busy):
        tasks = [asyncio.create_task(store.append(busy, said(str(n)))) for n in range(6)]
        for _ in range(2):
            # First the one that came first, then those behind it.
            await until_true(lambda: database.as_superuser(WAITS_FOR_A_LOCK), "an append that waits for its session")
            ((pid,),) = await database.as_superuser(WAITS_FOR_A_LOCK)
            await database.as_superuser(f"select pg_terminate_backend({pid})")
            await until_true(partial(_gone, database, pid), "its end")
    reports = await asyncio.gather(*tasks)
    assert sorted(report.version for report in reports) == list(range(2, 8))
    assert (await store.append(busy)).version == 8


async def _gone(database: Database, pid: int) -> bool:
    return not await database.as_superuser("select from pg_stat_activity where pid = $1", pid)


@pytest.fixture
def order(tmp_path: Path) -> Iterator[Callable[[str, str], object]]:
    """Write a failpoint's order."""
    failpoints.obey(tmp_path)
    yield lambda name, text: (tmp_path / name).write_text(text)
    failpoints.obey(None)


async def test_what_may_have_been_made_is_made_once_and_told_so_or_unknown(
    store: Written, database: Database, order: Callable[[str, str], object]
) -> None:
    session_ids = [await store.create() for _ in range(30)]
    order("after_commit", "lose 0.5")
    requests = [uuid4() for _ in session_ids]
    unknown = 0
    for _ in range(20):
        told = await asyncio.gather(
            *(store.append(each, request=request) for each, request in zip(session_ids, requests, strict=True)),
            return_exceptions=True,
        )
        unknown += sum(isinstance(answer, CommitOutcomeUnknown) for answer in told)
        reports = [answer for answer in told if not isinstance(answer, CommitOutcomeUnknown)]
        assert all(isinstance(report, ChangeReport) for report in reports), reports
        assert {report.version for report in reports if isinstance(report, ChangeReport)} <= {2}
    assert unknown
    for session_id in session_ids:
        assert len(await transactions(database, store.tenant, session_id)) == 1
