"""A lost wake-up costs a delay of two seconds at most, and no data."""

import time
from collections.abc import AsyncIterator, Callable

import pytest

from support.databases import Database
from support.drafts import Drafting, drafts_of
from support.guarantees import check_guarantees
from support.journal import Journal
from support.proxy import Proxy, proxy_to, to_socket, to_tcp
from support.stage import MakeStage
from support.streams import Reader
from support.waiting import until

DELAY_SECONDS_MAX = 2.0
STORED_SECONDS_MAX = 0.5
"""How long text is gathered before it is stored, and the storing."""

ROUNDS = 4


@pytest.fixture(params=["notify", "nats"])
async def bus_proxy(request: pytest.FixtureRequest, database: Database) -> AsyncIterator[tuple[Proxy, dict[str, str]]]:
    """A proxy that carries nothing but wake-ups, and the settings of servers that hear each other through it."""
    if request.param == "nats":
        async with proxy_to(to_tcp(request.getfixturevalue("nats"))) as proxy:
            yield proxy, {"LOCKSTITCH_NATS_URL": f"nats://{proxy.target}"}
        return
    # The listener's connection says what it is; those of the pool go past this proxy's faults.
    async with proxy_to(to_socket(database.socket_path), only=b"lockstitch-listener") as proxy:
        yield proxy, {"LOCKSTITCH_DATABASE_URL": database.url_at(proxy.target)}


FAULTS: dict[str, Callable[[Proxy], None]] = {
    "refused": lambda proxy: proxy.cut(refuse=True),
    "stalled": Proxy.stall,
    "half open": Proxy.half_open,
}


async def test_without_any_wake_up_a_commit_comes_within_two_seconds(
    bus_proxy: tuple[Proxy, dict[str, str]], make_stage: MakeStage
) -> None:
    proxy, settings = bus_proxy
    stage = await make_stage(2, **settings)
    here, there = (server.target for server in stage.servers)
    session_id, journal = await stage.session(here), Journal()
    reader = await stage.follow(session_id, targets=[there])
    await reader.caught_up()
    delays: dict[str, list[float]] = {}
    for name, fault in FAULTS.items():
        await until(lambda: proxy.connections == 2, "two servers on the bus")
        fault(proxy)
        for _ in range(ROUNDS):
            await stage.writer(session_id, journal, [here]).write(1)
            acknowledged = time.monotonic()
            await reader.reached(journal.last_version)
            delays.setdefault(name, []).append(time.monotonic() - acknowledged)
        proxy.restore()
    assert max(max(seconds) for seconds in delays.values()) <= DELAY_SECONDS_MAX, delays
    check_guarantees(journal, [reader])
    assert len(reader.streams) == 1


async def test_without_any_wake_up_what_is_drafted_is_seen_within_two_seconds_piece_by_piece(
    bus_proxy: tuple[Proxy, dict[str, str]], make_stage: MakeStage
) -> None:
    proxy, settings = bus_proxy
    stage = await make_stage(2, **settings)
    here, there = (server.target for server in stage.servers)
    session_id = await stage.session(here)
    reader = await stage.follow(session_id, targets=[there])
    await reader.caught_up()
    delays: dict[str, list[float]] = {}
    for name, fault in FAULTS.items():
        await until(lambda: proxy.connections == 2, "two servers on the bus")
        # The draft's first text is lost, too, and its commit.
        fault(proxy)
        draft, text = Drafting(stage.caller(here), session_id), ""
        for number in range(ROUNDS):
            text += f"{number} \U0001f600 "
            await draft.say(f"{number} \U0001f600 ")
            said = time.monotonic()
            await reader.until(_shows(reader, draft.draft_id, text), f"{text!r} while the bus is {name}")
            delays.setdefault(name, []).append(time.monotonic() - said)
        receipt = await draft.end("not seen before its commit")
        await reader.reached(receipt.version)
        proxy.restore()
    assert max(max(seconds) for seconds in delays.values()) <= DELAY_SECONDS_MAX + STORED_SECONDS_MAX, delays
    assert len(drafts_of(reader.stream)) == len(FAULTS)
    assert len(reader.streams) == 1


def _shows(reader: Reader, draft_id: str, text: str) -> Callable[[], bool]:
    return lambda: drafts_of(reader.stream).get(draft_id) == text
