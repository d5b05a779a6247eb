"""ListSessions among a hundred thousand: exact, and never by reading what it does not give."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED
from lockstitch_server.service.paging import PageRequest, Paging
from lockstitch_server.service.sessions import Sessions
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.commit_arguments import Limits
from lockstitch_server.store.reader import Reader, SessionFilter
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.writer import Writer
from support.callers import Caller
from support.databases import Database
from support.many_sessions import BIG_USER, BIG_USER_SESSIONS, OTHER_TENANT, TENANT, Seeded, seed, seeded
from support.measured import Measured, executed, measured
from support.waiting import POLL_SECONDS

Connect = Callable[..., Caller]
SCAN_MAX = 5000
BEFORE_ALL = (2**31 - 1, datetime.max.replace(tzinfo=UTC), "")
BY_USER, BY_ACTIVITY, BY_LABEL = "sessions_by_user_activity", "sessions_by_activity", "session_labels_by_value"


@pytest.fixture(scope="module")
async def full(database: Database) -> Database:
    """The module's database with all the sessions."""
    await seed(database)
    return database


@pytest.fixture(scope="module")
async def known(full: Database) -> list[Seeded]:
    """The big tenant's sessions in list order."""
    return await seeded(full)


@pytest.fixture
async def counting(full: Database) -> AsyncIterator[Measured]:
    async with measured(full) as made:
        yield made


@pytest.fixture(scope="module")
async def settled(full: Database) -> None:
    """End the server's connections: what they read is counted when they leave, or when they have been idle for long."""
    server = "from pg_stat_activity where datname = current_database() and application_name like 'lockstitch%'"
    pids = [row["pid"] for row in await full.as_superuser(f"select pid, pg_terminate_backend(pid) {server}")]
    left = f"select {server} and pid = any($1)"
    async with asyncio.timeout(20):
        while await full.as_superuser(left, pids):
            await asyncio.sleep(POLL_SECONDS)


def ago(known: list[Seeded], **by: float) -> datetime:
    newest = known[0].order[1]
    assert isinstance(newest, datetime)
    return newest - timedelta(**by)


def used(session: Seeded) -> datetime:
    assert isinstance(session.order[1], datetime)
    return session.order[1]


def at(time: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(time)
    return made


Filter = Callable[[list[Seeded]], tuple[dict[str, Any], Callable[[Seeded], bool]]]
"""Of the sessions that there are: what a request asks for, and which of them it must give."""

FILTERS: dict[str, Filter] = {
    "the tenant's": lambda _: ({}, lambda _: True),
    "a user's ten thousand": lambda _: ({"user_id": BIG_USER}, lambda one: one.user_id == BIG_USER),
    "a user's hundred": lambda _: ({"user_id": "u-9"}, lambda one: one.user_id == "u-9"),
    "nobody's": lambda _: ({"user_id": "u-never"}, lambda _: False),
    "a common agent's": lambda _: ({"agent": "coder"}, lambda one: one.agent == "coder"),
    "a rare agent's": lambda _: ({"agent": "rare"}, lambda one: one.agent == "rare"),
    "closed": lambda _: ({"statuses": [SESSION_STATUS_CLOSED]}, lambda one: one.closed),
    "expired": lambda _: ({"statuses": [SESSION_STATUS_EXPIRED]}, lambda one: one.expired),
    "active, of a user": lambda _: (
        {"statuses": [SESSION_STATUS_ACTIVE], "user_id": BIG_USER},
        lambda one: one.user_id == BIG_USER and not one.closed and not one.expired,
    ),
    "with a rare label": lambda _: ({"labels": {"ticket": "T-1"}}, lambda one: "ticket" in one.labels),
    "with a common label": lambda _: ({"labels": {"env": "dev"}}, lambda one: one.labels["env"] == "dev"),
    "with both": lambda _: (
        {"labels": {"env": "dev", "team": "team-11"}},
        lambda one: one.labels["team"] == "team-11" and one.labels["env"] == "dev",
    ),
    "with labels that never meet": lambda _: ({"labels": {"env": "prod", "team": "team-11"}}, lambda _: False),
    "with a label that nobody has": lambda _: ({"labels": {"env": "prod", "team": "team-x"}}, lambda _: False),
    "with a label, of a user": lambda _: (
        {"labels": {"team": "team-11"}, "user_id": "u-12"},
        lambda one: one.labels["team"] == "team-11" and one.user_id == "u-12",
    ),
    "unused for 30 days": lambda known: (
        {"active_before": at(ago(known, days=30))},
        lambda one: used(one) < ago(known, days=30),
    ),
    "used in an hour": lambda known: (
        {"active_after": at(ago(known, hours=1))},
        lambda one: used(one) >= ago(known, hours=1),
    ),
    "created between": lambda known: (
        {"created_after": at(ago(known, hours=9)), "created_before": at(ago(known, hours=7))},
        lambda one: ago(known, hours=9) <= used(one) - timedelta(hours=1) < ago(known, hours=7),
    ),
}
FIRST = 3000


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("page_size", [1000, 70])
async def test_pages_are_exact_and_in_order(connect: Connect, known: list[Seeded], name: str, page_size: int) -> None:
    asked, shown = FILTERS[name](known)
    expected = [session.session_id for session in known if shown(session)]
    caller = connect(tenant=TENANT)
    found: list[str] = []
    request = pb.ListSessionsRequest(page_size=page_size, **asked)
    while len(found) < FIRST:
        page = await caller.sessions.ListSessions(request)
        assert len(page.sessions) <= page_size
        found += [session.session_id for session in page.sessions]
        request.page_token = page.next_page_token
        if not page.next_page_token:
            assert len(found) == len(expected)
            break
    assert found == expected[: len(found)]


async def test_a_user_and_another_tenant_see_their_own_only(connect: Connect, known: list[Seeded]) -> None:
    own = [session.session_id for session in known if session.user_id == "u-9"]
    caller = connect(tenant=TENANT, user="u-9", role="user")
    page = await caller.sessions.ListSessions(pb.ListSessionsRequest(page_size=1000))
    assert [session.session_id for session in page.sessions] == own
    other = connect(tenant=OTHER_TENANT)
    page = await other.sessions.ListSessions(pb.ListSessionsRequest(page_size=1000, labels={"ticket": "T-1"}))
    assert [session.session_id for session in page.sessions] == ["s-11"]
    assert page.sessions[0].tenant_id == OTHER_TENANT


def arguments(
    asked: dict[str, Any], limit: int = 51, cursor: tuple[int, object, str] = BEFORE_ALL
) -> tuple[object, ...]:
    """What the query takes for a request."""
    times = [
        asked[name].ToDatetime(UTC) if name in asked else None
        for name in ("created_after", "created_before", "active_after", "active_before")
    ]
    labels = asked.get("labels", {})
    shown = (asked.get("user_id"), asked.get("agent"), asked.get("statuses"), list(labels), list(labels.values()))
    return (TENANT, *shown, *times, *cursor, limit, SCAN_MAX, 3 * 2**20, asked.get("show_deleted", False), None)


PLANS = {
    "the tenant's": (BY_ACTIVITY, 500),
    "a user's ten thousand": (BY_USER, 500),
    "a user's hundred": (BY_USER, 500),
    "nobody's": (BY_USER, 20),
    "a common agent's": (BY_ACTIVITY, 1500),
    "a rare agent's": (BY_ACTIVITY, 6000),
    "closed": (BY_ACTIVITY, 6000),
    "expired": (BY_ACTIVITY, 6000),
    "with a rare label": (BY_LABEL, 100),
    "with a common label": (BY_LABEL, 1500),
    "with both": (BY_LABEL, 12000),
    "with labels that never meet": (BY_LABEL, 12000),
    "with a label that nobody has": (BY_LABEL, 100),
    "with a label, of a user": (BY_USER, 1500),
    "unused for 30 days": (BY_ACTIVITY, 500),
    "used in an hour": (BY_ACTIVITY, 500),
    "created between": (BY_ACTIVITY, 1500),
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("name", PLANS)
async def test_a_page_reads_the_index_for_it_and_few_pages(counting: Measured, known: list[Seeded], name: str) -> None:
    index, most = PLANS[name]
    asked = arguments(FILTERS[name](known)[0])
    scans = await counting.scans("list_sessions", *asked)
    assert scans[index] > 0, scans
    assert not [what for what in scans if what.endswith("read whole")], scans
    # The server looks for what is due meanwhile, on a connection of its own.
    read = {what for what in scans if not what.startswith("sweeps_")}
    assert read <= {index, BY_LABEL, "session_labels_pk", "sessions_pk", "session_details_pk"} | (
        {BY_ACTIVITY} if name == "with a common label" else set()
    )
    assert await counting.buffers("list_sessions", *asked) <= most


async def test_the_last_page_reads_no_more_than_the_first(counting: Measured, known: list[Seeded]) -> None:
    own = [session for session in known if session.user_id == BIG_USER]
    asked = {"user_id": BIG_USER}
    first = await counting.buffers("list_sessions", *arguments(asked, 101))
    behind = own[BIG_USER_SESSIONS - 101].order
    last = await counting.buffers("list_sessions", *arguments(asked, 101, behind))
    assert len(await counting.fetch("list_sessions", *arguments(asked, 101, behind))) == 101
    assert last <= 1.5 * first


async def test_the_planner_needs_no_statistics(counting: Measured, full: Database, known: list[Seeded]) -> None:
    tables = "(select oid from pg_class where relnamespace = 'lockstitch'::regnamespace)"
    await executed(full, f"delete from pg_statistic where starelid in {tables}")
    await executed(full, f"update pg_class set reltuples = -1, relpages = 0, relallvisible = 0 where oid in {tables}")
    try:
        for name, (_, most) in PLANS.items():
            assert await counting.buffers("list_sessions", *arguments(FILTERS[name](known)[0])) <= most, name
    finally:
        await executed(full, "vacuum analyze")


@pytest.mark.parametrize("name", ["the tenant's", "a rare agent's", "with a rare label", "with a common label"])
async def test_a_page_is_one_statement_whatever_its_size(counting: Measured, known: list[Seeded], name: str) -> None:
    sessions = Sessions(
        Writer(Statements(counting.pool), Limits(1, 1), group=None, committed=lambda *_: None),
        Reader(Reading(counting.pool)),
        Paging(b"secret", default_size=50, max_size=1000, answer_bytes_max=3 * 2**20),
        cast("Any", None),
        purge_after=timedelta(days=30),
    )
    asked = FILTERS[name](known)[0]
    shown = SessionFilter(
        tenant_id=TENANT,
        user_id=None,
        agent=asked.get("agent"),
        statuses=None,
        labels=asked.get("labels", {}),
        forked_from=None,
        created_after=None,
        created_before=None,
        active_after=None,
        active_before=None,
        show_deleted=False,
    )
    said = await counting.statements()
    # The first call on a connection asks for its types, too.
    await sessions.list(shown, PageRequest(page_size=1, page_token="", bound_to=b""))
    for size in (1, 20, 100, 1000):
        said.clear()
        await sessions.list(shown, PageRequest(page_size=size, page_token="", bound_to=b""))
        assert len(said) == 1, said
