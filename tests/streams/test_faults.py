"""The guarantees while servers are killed and join, and while they lose the bus by which they hear each other."""

from typing import Any

from factories import ASSISTANT
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.journal import Journal
from support.stage import MakeStage, Stage
from support.traffic import traffic

LISTENERS = "from pg_stat_activity where application_name = 'lockstitch-listener' and datname = current_database()"


async def test_readers_of_a_killed_server_go_on_at_the_other_one(
    bus: dict[str, str], servers: list[ServerProcess], stage: Stage, make_stage: MakeStage
) -> None:
    (doomed,) = (await make_stage(1, **bus)).servers
    session_id, journal = await stage.session(), Journal()
    readers = [
        await stage.follow(session_id, targets=[doomed.target, servers[0].target]),
        await stage.follow(session_id, targets=[doomed.target, servers[1].target], roles=[ASSISTANT]),
        await stage.follow(session_id, targets=[servers[1].target]),
    ]
    writers = [
        stage.writer(session_id, journal, [doomed.target, servers[0].target]),
        stage.writer(session_id, journal, [servers[1].target]),
    ]
    async with traffic(journal, writers, readers):
        doomed.kill()
    assert len(readers[0].streams) > 1
    assert len(readers[2].streams) == 1, "a stream of another server was disturbed"


async def test_a_server_that_joins_is_heard_and_hears(bus: dict[str, str], stage: Stage, make_stage: MakeStage) -> None:
    session_id, journal = await stage.session(), Journal()
    readers = [await stage.follow(session_id, targets=[server.target]) for server in stage.servers]
    async with traffic(journal, [stage.writer(session_id, journal)], readers):
        (third,) = (await make_stage(1, **bus)).servers
        readers.append(await stage.follow(session_id, targets=[third.target]))
        await readers[-1].caught_up()
    await stage.writer(session_id, journal, [third.target]).write(1)
    for reader in readers:
        await reader.reached(journal.last_version)
        assert len(reader.streams) == 1


async def test_a_listener_whose_backend_is_terminated_listens_again(database: Database, make_stage: MakeStage) -> None:
    stage = await make_stage(2)
    session_id, journal = await stage.session(), Journal()
    readers = [await stage.follow(session_id, targets=[server.target]) for server in stage.servers]
    writers = [stage.writer(session_id, journal, [server.target]) for server in stage.servers]
    async with traffic(journal, writers, readers):
        before = await _listeners(database)
        await database.as_superuser(f"select pg_terminate_backend(pid) {LISTENERS}")
        while not (again := await _listeners(database) - before):
            pass
        while len(again) < len(before):
            again = await _listeners(database) - before
    assert [len(reader.streams) for reader in readers] == [1, 1], "a stream broke with the listener"


async def test_notifications_of_others_on_our_channel_disturb_nobody(database: Database, make_stage: MakeStage) -> None:
    stage = await make_stage(1)
    session_id, journal = await stage.session(), Journal()
    reader = await stage.follow(session_id)
    async with traffic(journal, [stage.writer(session_id, journal)], [reader]):
        for payload in ("", "no base64!", "AAAA", "A" * 7000, "ä"):
            await database.as_superuser("select pg_notify('lockstitch', $1)", payload)
    assert len(reader.streams) == 1


async def _listeners(database: Database) -> set[Any]:
    return {row["pid"] for row in await database.as_superuser(f"select pid {LISTENERS}")}
