"""Renewals that come at once are made by one statement, each with its own answer."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from factories import fresh
from lockstitch_server import ids
from lockstitch_server.model import Fence, Method, NewRun, OnBusy
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.runs import RunStore
from support.databases import Database
from support.stored import Written, written

LEASE = timedelta(minutes=5)
RENEWED_IN = "select xmin::text from lockstitch.run_leases where session_key = $1"


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Written]:
    async with written(database) as made:
        yield made


async def test_what_comes_while_one_is_made_is_made_in_one_transaction_and_answered_one_by_one(
    store: Written, database: Database
) -> None:
    runs = RunStore(
        Statements(store.pool), Reading(store.pool), run_grace=timedelta(minutes=1), committed=lambda *_: None
    )
    session_ids = [await store.create() for _ in range(12)]
    fences = []
    for session_id in session_ids:
        new = NewRun(run_id=fresh("run"), worker="", lease=LEASE, on_busy=OnBusy.REJECT, labels={})
        report = await runs.start(store.change(session_id, Method.START_RUN), new)
        assert report.run is not None
        fences.append(Fence(new.run_id, report.run.fencing_token))
    fences[-1] = Fence(fences[-1].run_id, fences[-1].fencing_token + 1)

    async def renewed(place: int) -> str:
        outcome, _ = await runs.renew(store.change(session_ids[place]).session, fences[place], LEASE)
        return outcome

    first = asyncio.create_task(renewed(0))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    others = await asyncio.gather(*(renewed(place) for place in range(1, 12)))
    assert [await first, *others] == ["renewed"] * 11 + ["run_fenced"]
    made_in = [
        (await database.as_superuser(RENEWED_IN, ids.session_key(store.tenant, session_id)))[0]["xmin"]
        for session_id in session_ids[:-1]
    ]
    assert len(set(made_in[1:])) == 1
    assert made_in[0] not in made_in[1:]
