"""The guarantees while the network between readers, servers and the database is cut, stalls and is slow."""

from support.databases import Database
from support.journal import Journal
from support.proxy import proxy_to, to_socket, to_tcp
from support.stage import MakeStage, Stage
from support.traffic import traffic

CUTS = 5
DELAY_SECONDS = 0.05
KEEPALIVE = (
    ("grpc.keepalive_time_ms", 1000),
    ("grpc.keepalive_timeout_ms", 1000),
    ("grpc.http2.ping_timeout_ms", 1000),
)


async def test_readers_whose_connection_is_cut_again_and_again_resume(one_server: Stage) -> None:
    session_id, journal = await one_server.session(), Journal()
    async with proxy_to(to_tcp(one_server.servers[0].target)) as proxy:
        reader = await one_server.follow(session_id, targets=[proxy.target])
        bystander = await one_server.follow(session_id)
        async with traffic(journal, [one_server.writer(session_id, journal)], [reader, bystander]):
            for _ in range(CUTS):
                await reader.caught_up()
                streams = len(reader.streams)
                proxy.cut()
                await reader.resumed(streams)
    assert len(reader.streams) > CUTS
    assert len(bystander.streams) == 1


async def test_a_stream_that_a_network_holds_up_goes_on_where_it_was(one_server: Stage) -> None:
    session_id, journal = await one_server.session(), Journal()
    async with proxy_to(to_tcp(one_server.servers[0].target)) as proxy:
        reader = await one_server.follow(session_id, targets=[proxy.target])
        await reader.caught_up()
        async with traffic(journal, [one_server.writer(session_id, journal)], [reader]):
            proxy.stall()
            version = journal.last_version
            await one_server.writer(session_id, journal).write(50)
            # A commit may have come through before its writer was told of it.
            assert reader.cursor <= version + 1
            proxy.restore()
            await reader.reached(version + 50)
            proxy.delay_seconds = DELAY_SECONDS
            await one_server.writer(session_id, journal).write(20)
        assert len(reader.streams) == 1


async def test_a_reader_whose_network_fell_silent_leaves_by_keepalive_and_resumes(make_stage: MakeStage) -> None:
    stage = await make_stage()
    session_id, journal = await stage.session(), Journal()
    async with proxy_to(to_tcp(stage.servers[0].target)) as proxy:
        reader = await stage.follow(session_id, targets=[proxy.target, stage.servers[0].target], options=KEEPALIVE)
        await reader.caught_up()
        async with traffic(journal, [stage.writer(session_id, journal)], [reader]):
            proxy.stall()
            await reader.resumed(1)


async def test_servers_cut_off_from_the_database_give_everything_when_it_is_there_again(
    database: Database, make_stage: MakeStage
) -> None:
    async with proxy_to(to_socket(database.socket_path)) as proxy:
        stage = await make_stage(1, LOCKSTITCH_DATABASE_URL=database.url_at(proxy.target))
        near = await make_stage(1)
        stage.servers += near.servers
        far, well = (server.target for server in stage.servers)
        session_id, journal = await stage.session(well), Journal()
        readers = [await stage.follow(session_id, targets=[far]), await stage.follow(session_id, targets=[far, well])]
        for reader in readers:
            await reader.caught_up()
        async with traffic(journal, [stage.writer(session_id, journal, [well, far])], readers):
            proxy.cut(refuse=True)
            await stage.writer(session_id, journal, [well]).write(30)
            # It says that it lives, though it can't read.
            beats = readers[0].stream.kinds.count("heartbeat")
            await readers[0].until(lambda: readers[0].stream.kinds.count("heartbeat") > beats + 1, "heartbeats")
            proxy.restore()
            await readers[0].reached(journal.last_version)
            for _ in range(CUTS):
                proxy.cut()
                await stage.writer(session_id, journal, [well]).write(5)
            proxy.delay_seconds = DELAY_SECONDS / 10
            await stage.writer(session_id, journal, [far]).write(5)
            proxy.restore()
        assert [len(reader.streams) for reader in readers] == [1, 1], "a stream broke with the database"
