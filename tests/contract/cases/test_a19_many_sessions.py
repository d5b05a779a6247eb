"""Case A19: a list costs the same however many sessions there are.

Statements and plans are looked at; times belong to bench/.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, cast

import asyncpg
import pytest

from factories import called, fresh, said
from lockstitch_server.ids import session_key
from lockstitch_server.model import SessionRef
from lockstitch_server.server_process import ServerProcess
from lockstitch_server.service.commits import Commits
from lockstitch_server.service.paging import PageRequest, Paging
from lockstitch_server.service.runs import Runs
from lockstitch_server.service.sessions import Sessions
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.log import Log
from lockstitch_server.store.pool import Pool
from lockstitch_server.store.reader import Reader, SessionFilter
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.runs import RunStore
from support.callers import Caller
from support.databases import Database
from support.pages import pages_of
from support.rpc import As, Rpc, field_refused
from support.running import INTERRUPT
from support.sizes import MIB

OWN, OTHERS = 400, 400


@pytest.fixture(scope="module")
async def tenant(shared_database: Database, shared_servers: tuple[ServerProcess, ServerProcess]) -> str:
    """A tenant with many sessions of u1 and of u2 to u50, each 90 seconds older than the one before."""
    tenant, room = fresh("tenant"), asyncio.Semaphore(8)
    server = shared_servers[0]
    async with Caller(server.target, server.token(tenant=tenant, user="e", role="engine")) as caller:

        async def create(number: int) -> None:
            owner = "u1" if number <= OWN else f"u{number % 49 + 2}"
            async with room:
                await Rpc(caller).CreateSession(session_id=f"s{number}", user_id=owner, messages=[said("x" * 1000)] * 5)

        await asyncio.gather(*(create(number) for number in range(1, OWN + OTHERS + 1)))
    at = "now() - substr(session_id, 2)::integer * interval '90 s'"
    await shared_database.as_superuser(
        f"""
        update lockstitch.sessions set
            last_activity_time = {at}, activity_minute = floor(extract(epoch from {at}) / 60)
        where tenant_id = '{tenant}'
        """
    )
    await shared_database.as_superuser("analyze lockstitch.sessions, lockstitch.session_details, lockstitch.messages")
    return tenant


async def test_a_page_is_what_was_asked_for_newest_first(user: Rpc) -> None:
    page = await user.ListSessions(page_size=20)
    assert [session.session_id for session in page.sessions] == [f"s{number}" for number in range(1, 21)]
    assert page.next_page_token
    assert max(session.ByteSize() for session in page.sessions) < 300


async def test_page_sizes_have_a_default_and_a_most_and_are_never_negative(user: Rpc) -> None:
    assert len((await user.ListSessions()).sessions) == 50
    assert len((await user.ListSessions(page_size=1_000_000)).sessions) == OWN
    assert await field_refused(user.ListSessions(page_size=-1)) == "page_size"


async def test_tokens_lead_through_all_of_them_once(call_as: As, user: Rpc) -> None:
    pages = await pages_of(user.ListSessions, page_size=40)
    assert [session.session_id for page in pages for session in page.sessions] == [f"s{n}" for n in range(1, OWN + 1)]
    of_engine = await pages_of(call_as("e", "engine").ListSessions, page_size=1000)
    assert sum(len(page.sessions) for page in of_engine) == OWN + OTHERS


@pytest.fixture
async def as_app(shared_database: Database) -> "AsyncIterator[asyncpg.Connection[Any]]":
    """A connection that is set as the server's are, and explains what functions do."""
    connection = await asyncpg.connect(
        shared_database.superuser_url,
        server_settings={"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off", "jit": "off"},
    )
    yield connection
    await connection.close()


LIST = """
    select * from lockstitch.list_sessions_v1(
        $1, {user}, null, null, '{{}}', '{{}}', null, null, null, null, {minute}, {time}, '', {limit}, 5000, 3000000,
        false, null
    )
"""


async def _plans(as_app: "asyncpg.Connection[Any]", statement: str, *arguments: object) -> list[Any]:
    """Give the plans of the statements within functions, by auto_explain."""
    plans: list[str] = []
    as_app.add_log_listener(lambda _, message: plans.append(message.message))
    await as_app.execute("load 'auto_explain'")
    for name, value in (
        ("log_min_duration", "0"),
        ("log_nested_statements", "on"),
        ("log_format", "json"),
        ("log_analyze", "on"),
    ):
        await as_app.execute(f"set auto_explain.{name} = {value}")
    await as_app.execute("set client_min_messages = log")
    await as_app.fetch(statement, *arguments)
    await as_app.execute("set client_min_messages = warning")
    return [json.loads(plan[plan.index("{") :])["Plan"] for plan in plans if "Plan" in plan]


def _nodes(plan: Any) -> list[Any]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in _nodes(child))]


@pytest.mark.parametrize("user", ["'u1'", "null"])
@pytest.mark.parametrize("page", [1, 10])
async def test_every_page_is_read_off_an_index_and_reads_little_more_than_it_shows(
    as_app: "asyncpg.Connection[Any]", tenant: str, user: str, page: int
) -> None:
    minute, time = "2147483647", "'infinity'"
    if page > 1:
        time = f"(now() - {page * 20} * interval '90 s')"
        minute = f"floor(extract(epoch from {time}) / 60)::integer"
    plans = await _plans(as_app, LIST.format(user=user, minute=minute, time=time, limit=21), tenant)
    nodes = [node for plan in plans for node in _nodes(plan)]
    scans = [node for node in nodes if node.get("Relation Name") in {"sessions", "session_details", "messages"}]
    assert {node["Relation Name"] for node in scans} == {"sessions", "session_details"}
    assert not [node for node in scans if node["Node Type"] == "Seq Scan"]
    wanted = "sessions_by_user_activity" if user != "null" else "sessions_by_activity"
    assert wanted in {node.get("Index Name") for node in nodes}
    read = max(node["Actual Rows"] * node["Actual Loops"] for node in scans)
    assert read <= 60


class CountingPool(Pool):
    """The server's own pool, which counts."""

    statements = 0

    async def fetch(self, query: str, *args: object) -> Any:
        self.statements += 1
        return await super().fetch(query, *args)


@pytest.fixture
async def pool(shared_database: Database) -> AsyncIterator[CountingPool]:
    made = CountingPool(
        shared_database.app_url,
        connections_max=1,
        wait=timedelta(seconds=10),
        statement_timeout=timedelta(seconds=10),
    )
    yield made
    await made.close()


@pytest.mark.parametrize("size", [1, 20, OWN])
async def test_a_list_is_one_statement_whatever_its_size(pool: CountingPool, tenant: str, size: int) -> None:
    shown = SessionFilter(
        tenant_id=tenant,
        user_id="u1",
        agent=None,
        statuses=None,
        labels={},
        forked_from=None,
        created_after=None,
        created_before=None,
        active_after=None,
        active_before=None,
        show_deleted=False,
    )
    paging = Paging(b"secret", default_size=50, max_size=1000, answer_bytes_max=3 * MIB)
    # A list has no use for the writer and for quotas.
    sessions = Sessions(
        cast("Any", None), Reader(Reading(pool)), paging, cast("Any", None), purge_after=timedelta(days=30)
    )
    page = await sessions.list(shown, PageRequest(page_size=size, page_token="", bound_to=b""))
    assert (len(page.items), pool.statements) == (size, 1)


@pytest.mark.parametrize("size", [1, 20])
async def test_a_page_of_runs_is_one_statement(pool: CountingPool, engine: Rpc, tenant: str, size: int) -> None:
    for _ in range(20):
        await engine.StartRun(session_id="s2", on_busy=INTERRUPT)
    ref = SessionRef(tenant_id=tenant, session_id="s2", key=session_key(tenant, "s2"), owner=None)
    paging = Paging(b"secret", default_size=50, max_size=1000, answer_bytes_max=3 * MIB)
    store = RunStore(Statements(pool), Reading(pool), run_grace=timedelta(minutes=10), committed=lambda _, __: None)
    page = await Runs(store, paging).list(ref, PageRequest(page_size=size, page_token="", bound_to=b""), None)
    assert (len(page.items), pool.statements) == (size, 1)


@pytest.mark.parametrize("size", [1, 20])
async def test_a_page_of_the_log_is_a_fixed_number_of_statements(
    pool: CountingPool, engine: Rpc, tenant: str, size: int
) -> None:
    for number in range(20):
        await engine.Append(session_id="s1", messages=[called(f"c{number}")])
    ref = SessionRef(tenant_id=tenant, session_id="s1", key=session_key(tenant, "s1"), owner=None)
    paging = Paging(b"secret", default_size=50, max_size=1000, answer_bytes_max=3 * MIB)
    page = await Commits(Log(Reading(pool)), paging).list(
        ref, PageRequest(page_size=size, page_token="", bound_to=b""), after_version=1, descending=False
    )
    assert (len(page.items), pool.statements) == (size, 3)
