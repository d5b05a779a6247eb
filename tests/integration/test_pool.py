"""Connections are held, lent for one statement, and never lost, whatever becomes of who asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from lockstitch_migrations import grant_app, migrate
from lockstitch_server.app import WARM_CONNECTIONS
from lockstitch_server.errors import DatabaseUnavailable, Overloaded
from lockstitch_server.server_process import ServerProcess
from lockstitch_server.store.failures import ConnectionLost
from lockstitch_server.store.pool import Pool
from support.databases import Database
from support.proxy import proxy_to, to_socket
from support.waiting import until

MakePool = Callable[..., Pool]
WAIT = timedelta(milliseconds=250)


@pytest.fixture
async def make_pool(database: Database) -> AsyncIterator[MakePool]:
    made: list[Pool] = []

    def make(*, connections_max: int, wait: timedelta = WAIT, url: str = database.app_url) -> Pool:
        made.append(Pool(url, connections_max=connections_max, wait=wait, statement_timeout=timedelta(seconds=10)))
        return made[-1]

    yield make
    for pool in made:
        await pool.close()


async def held(database: Database) -> int:
    rows = await database.as_superuser(
        "select count(*) as held from pg_stat_activity"
        " where application_name = 'lockstitch-server' and datname = current_database()"
    )
    return int(rows[0]["held"])


async def test_a_server_has_connections_open_before_anybody_calls(
    empty_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    await migrate(empty_database.owner_url)
    await grant_app(empty_database.owner_url, empty_database.app_url)
    start_server(empty_database)
    assert await held(empty_database) >= WARM_CONNECTIONS


async def test_warming_up_opens_no_more_than_asked_for_and_than_may_be(make_pool: MakePool, database: Database) -> None:
    small, large = make_pool(connections_max=2), make_pool(connections_max=10)
    await small.warm_up(4)
    assert await held(database) == 2
    await large.fetch("select 1")
    await large.warm_up(3)
    assert await held(database) == 2 + 3
    await asyncio.gather(*(large.fetch("select pg_sleep(0.1)") for _ in range(3)))
    assert await held(database) == 2 + 3


async def test_warming_up_where_the_database_is_not_there_is_left_to_the_first_call(make_pool: MakePool) -> None:
    pool = make_pool(connections_max=4, url="postgresql://lockstitch_app@127.0.0.1:1/lockstitch")
    await pool.warm_up(4)
    with pytest.raises(DatabaseUnavailable):
        await pool.fetch("select 1")


async def test_who_waits_too_long_is_told_overloaded(make_pool: MakePool) -> None:
    pool = make_pool(connections_max=1, wait=timedelta(milliseconds=20))
    slow = asyncio.create_task(pool.fetch("select pg_sleep(0.5)"))
    await until(lambda: pool.busy == 1, "a running statement")
    with pytest.raises(Overloaded) as refused:
        await pool.fetch("select 1")
    assert refused.value.retry_after == timedelta(milliseconds=20)
    await slow


async def test_who_goes_while_waiting_takes_no_connection_along(make_pool: MakePool) -> None:
    pool = make_pool(connections_max=1, wait=timedelta(seconds=5))
    slow = asyncio.create_task(pool.fetch("select pg_sleep(0.2)"))
    await until(lambda: pool.busy == 1, "a running statement")
    waiting = [asyncio.create_task(pool.fetch("select 1 as one")) for _ in range(20)]
    await until(lambda: pool.waiting == 20, "twenty who wait")
    for task in waiting[::2]:
        task.cancel()
    await asyncio.wait(waiting)
    assert all(task.cancelled() for task in waiting[::2])
    assert all(task.result()[0]["one"] == 1 for task in waiting[1::2])
    await slow


async def test_a_statement_that_was_begun_is_finished_though_its_caller_went(
    make_pool: MakePool, database: Database
) -> None:
    pool = make_pool(connections_max=1)
    await database.as_superuser("create table if not exists public.finished (place integer)")
    await database.as_superuser("grant all on public.finished to lockstitch_app")
    insert = "with pause as (select pg_sleep(0.2)) insert into public.finished select 1 from pause"
    gone = asyncio.create_task(pool.fetch(insert))
    await until(lambda: pool.busy == 1, "a running statement")
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    await until(lambda: pool.busy == 0, "its end")
    rows = await pool.fetch("select count(*) as rows from public.finished")
    assert rows[0]["rows"] == 1
    assert await held(database) == 1


async def test_a_connection_that_broke_is_replaced(make_pool: MakePool, database: Database) -> None:
    pool = make_pool(connections_max=2)
    (row,) = await pool.fetch("select pg_backend_pid() as pid")
    await database.as_superuser(f"select pg_terminate_backend({row['pid']})")
    # It may be taken before its end was noticed; the next one is fresh.
    with suppress(ConnectionLost):
        await pool.fetch("select 1")
    (row,) = await pool.fetch("select 1 as one")
    assert row["one"] == 1


async def test_a_connection_that_breaks_under_a_statement_is_lost_not_a_bug(
    make_pool: MakePool, database: Database
) -> None:
    pool = make_pool(connections_max=1)
    (row,) = await pool.fetch("select pg_backend_pid() as pid")
    running = asyncio.create_task(pool.fetch("select pg_sleep(5)"))
    await until(lambda: pool.busy == 1, "a running statement")
    await database.as_superuser(f"select pg_terminate_backend({row['pid']})")
    with pytest.raises(ConnectionLost):
        await running
    assert (await pool.fetch("select 2 as two"))[0]["two"] == 2


async def test_a_database_that_is_not_there_takes_no_place(make_pool: MakePool, database: Database) -> None:
    pool = make_pool(connections_max=1, url=database.app_url.replace("/" + database.name, "/no_such_database"))
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable):
            await pool.fetch("select 1")


async def test_no_more_connections_than_may_be(make_pool: MakePool, database: Database) -> None:
    pool = make_pool(connections_max=3, wait=timedelta(seconds=5))
    await asyncio.gather(*(pool.fetch("select pg_sleep(0.01)") for _ in range(60)))
    assert await held(database) == 3


async def test_a_statement_that_does_not_end_is_given_up_when_the_pool_closes(make_pool: MakePool) -> None:
    pool = make_pool(connections_max=2)
    await pool.warm_up(2)
    endless = asyncio.create_task(pool.fetch("select pg_sleep(60)"))
    await until(lambda: pool.busy == 1, "a running statement")
    await pool.close()
    # By the statement's own timeout it would be another failure, and later.
    with pytest.raises(ConnectionLost):
        await endless
    with pytest.raises(DatabaseUnavailable):
        await pool.fetch("select 1")


async def test_a_pool_closes_though_the_database_says_nothing_any_more(make_pool: MakePool, database: Database) -> None:
    async with proxy_to(to_socket(database.socket_path)) as network:
        pool = make_pool(connections_max=4, url=database.url_at(network.target))
        await pool.warm_up(3)
        network.stall()
        opening = [asyncio.create_task(pool.fetch("select 1")) for _ in range(4)]
        await until(lambda: pool.busy == 3, "statements that go nowhere")
        await pool.close()
        for task in opening:
            with pytest.raises((ConnectionLost, DatabaseUnavailable, asyncio.CancelledError)):
                await task
