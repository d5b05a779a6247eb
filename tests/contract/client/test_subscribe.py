"""A client follows a session through what happens to servers and networks, held against what the writer recorded."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from lockstitch import Client, SessionHandle, assistant, user
from lockstitch.errors import CursorAhead, SessionNotFound, StoreRestored
from lockstitch.types import Commit, Role
from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import LEEWAY, TokenSigner
from lockstitch_server.model import CallerRole
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.proxy import Proxy, proxy_to, to_tcp
from support.waiting import until

SECOND = timedelta(seconds=1)
LONG = timedelta(seconds=60)
Told = dict[int, str]
"""What each version said, as its writer was told."""


async def write(session: SessionHandle, count: int, told: Told) -> None:
    """Appends one after the other, and notes what was acknowledged."""
    for _ in range(count):
        text = f"said {len(told)}"
        receipt = await session.append(messages=[user(text)], timeout=LONG)
        told[receipt.version] = text


class Follower:
    """Follows a session in a task, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Commit] = []

    @property
    def last(self) -> int:
        return self.given[-1].version if self.given else 0

    async def follow(self, session: SessionHandle) -> None:
        async for commit in session.subscribe(after_version=0, heartbeat_interval=SECOND):
            self.given.append(commit)

    async def reached(self, version: int) -> None:
        await until(lambda: self.last >= version, f"version {version}", seconds=60)

    def was_told(self, told: Told) -> None:
        """Each commit once, in order, none left out, each whole: as its writer was told."""
        assert [commit.version for commit in self.given] == list(range(1, self.last + 1))
        assert {commit.version: commit.messages[0].parts[0].text for commit in self.given[1:]} == told


@asynccontextmanager
async def following(session: SessionHandle) -> AsyncIterator[Follower]:
    follower = Follower()
    task = asyncio.create_task(follower.follow(session))
    try:
        yield follower
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def pair(database: Database, start_server: Callable[..., ServerProcess]) -> AsyncIterator[list[ServerProcess]]:
    """Two servers of the test's own; one that it restarts is put in the place of the one before."""
    servers = [start_server(database) for _ in range(2)]
    before = list(servers)
    yield servers
    for server in servers:
        if server not in before:
            assert await asyncio.to_thread(server.stop) == 0


def restarted(server: ServerProcess, database: Database) -> ServerProcess:
    """Another process at the same address."""
    return ServerProcess.start(
        server.data_dir,
        arguments=["--listen", server.target],
        environment={"LOCKSTITCH_DATABASE_URL": database.app_url},
    )


# Case A05, through the client
@pytest.mark.parametrize("end", [ServerProcess.kill, ServerProcess.stop], ids=["killed", "drained"])
async def test_nothing_is_lost_or_repeated_when_its_server_goes_and_comes_back(
    pair: list[ServerProcess], database: Database, end: Callable[[ServerProcess], int]
) -> None:
    followed, other = pair
    token, told = followed.token(), Told()
    async with Client(followed.target, token=token) as reader, Client(other.target, token=token) as writer:
        session = await writer.create()
        async with following(reader.session(session.session_id)) as follower:
            await write(session, 5, told)
            await follower.reached(6)
            writing = asyncio.create_task(write(session, 40, told))
            await asyncio.to_thread(end, followed)
            await writing
            pair[0] = await asyncio.to_thread(restarted, followed, database)
            await write(session, 5, told)
            await follower.reached(51)
        follower.was_told(told)


async def test_a_client_that_knows_two_servers_goes_on_at_the_other(
    pair: list[ServerProcess], database: Database
) -> None:
    target, told = f"ipv4:{pair[0].target},{pair[1].target}", Told()
    async with Client(target, token=pair[0].token()) as client:
        session = await client.create()
        async with following(client.session(session.session_id)) as follower:
            for place in (0, 1, 0):
                writing = asyncio.create_task(write(session, 15, told))
                await asyncio.to_thread(pair[place].kill)
                await writing
                pair[place] = await asyncio.to_thread(restarted, pair[place], database)
            await follower.reached(46)
        follower.was_told(told)


@asynccontextmanager
async def proxied(server: ServerProcess) -> AsyncIterator[tuple[Proxy, Client, Client]]:
    """A proxy, a client behind it and one that goes straight."""
    token = server.token(tenant="client-tests")
    async with (
        proxy_to(to_tcp(server.target)) as proxy,
        Client(proxy.target, token=token) as behind,
        Client(server.target, token=token) as straight,
    ):
        yield proxy, behind, straight


async def test_nothing_is_lost_or_repeated_when_its_connection_is_cut_again_and_again(server: ServerProcess) -> None:
    told = Told()
    async with proxied(server) as (proxy, behind, straight):
        session = await straight.create()
        async with following(behind.session(session.session_id)) as follower:
            for number in range(8):
                await write(session, 10, told)
                await follower.reached(2 + 10 * number)
                proxy.cut(refuse=number == 4)
                await write(session, 3 if number == 4 else 0, told)
                proxy.restore()
            await follower.reached(84)
        follower.was_told(told)


async def test_a_network_that_says_nothing_is_noticed(server: ServerProcess) -> None:
    told = Told()
    async with proxied(server) as (proxy, behind, straight):
        session = await straight.create()
        async with following(behind.session(session.session_id)) as follower:
            await write(session, 3, told)
            await follower.reached(4)
            dead = proxy.connections
            proxy.stall()
            await write(session, 3, told)
            # The dead connection is not closed by anybody: only its silence tells.
            await until(lambda: proxy.connections > dead, "another connection")
            proxy.restore()
            await follower.reached(7)
        follower.was_told(told)


async def test_readers_that_leave_and_come_back_at_random_have_it_all(server: ServerProcess) -> None:
    token, told = server.token(tenant="client-tests"), Told()
    chance = random.Random(7)
    async with Client(server.target, token=token) as client:
        session = await client.create()

        async def hop() -> list[Commit]:
            given: list[Commit] = []
            mine = client.session(session.session_id)
            while mine.version < 201:
                leave_after = mine.version + chance.randint(1, 40)
                async for commit in mine.subscribe():
                    given.append(commit)
                    if commit.version >= min(leave_after, 201):
                        break
            return given

        readers = [asyncio.create_task(hop()) for _ in range(6)]
        await write(session, 200, told)
        for reader in readers:
            given = await reader
            assert [commit.version for commit in given] == list(range(1, 202))
            assert [commit.messages[0].parts[0].text for commit in given[1:]] == list(told.values())


def test_threads_other_loops_and_plain_code_follow_as_well(server: ServerProcess) -> None:
    with Client(server.target, token=server.token(tenant="client-tests")) as client:
        session = client.run(client.create())

        async def on_a_loop_of_its_own() -> list[int]:
            return [commit.version async for commit in _until(client.session(session.session_id), 31)]

        def plain() -> list[int]:
            return [commit.version for commit in client.iterate(_until(client.session(session.session_id), 31))]

        with ThreadPoolExecutor(6) as threads:
            readers = [threads.submit(asyncio.run, on_a_loop_of_its_own()) for _ in range(3)]
            readers += [threads.submit(plain) for _ in range(3)]
            for number in range(30):
                client.run(session.append(messages=[user(str(number))]))
            assert [reader.result(60) for reader in readers] == [list(range(1, 32))] * 6


async def _until(session: SessionHandle, version: int) -> AsyncIterator[Commit]:
    async for commit in session.subscribe():
        yield commit
        if commit.version == version:
            return


async def test_a_reading_and_a_subscription_from_its_version_leave_nothing_between(client: Client) -> None:
    session = await client.create(messages=[user("one")])
    mine = await client.get(session.session_id)
    await session.append(messages=[user("two")])
    async for commit in mine.subscribe():
        assert [message.parts[0].text for message in commit.messages] == ["two"]
        break
    assert mine.version == 2
    await mine.append(messages=[assistant("three")], expected_version=mine.version)


async def test_roles_hide_messages_and_frames_say_how_far_it_is(client: Client) -> None:
    session = await client.create(messages=[user("one")])
    await session.append(messages=[assistant("two")])
    await session.append(messages=[user("three"), assistant("four")])
    await session.append(messages=[assistant("five")])
    given: list[list[str]] = []
    async for frame in client.session(session.session_id).frames(roles=[Role.ROLE_USER]):
        given += [[message.parts[0].text for message in frame.commit.messages]] if frame.HasField("commit") else []
        if frame.HasField("caught_up"):
            assert frame.caught_up.version == 4
            break
    assert given == [["one"], ["three"]]


async def test_what_cannot_be_resumed_is_raised_by_its_reason(client: Client) -> None:
    session = await client.create()
    with pytest.raises(CursorAhead) as ahead:
        await anext(session.subscribe(after_version=994))
    assert ahead.value.current_version == 1
    with pytest.raises(SessionNotFound):
        await anext(client.session("nobody's").subscribe())
    assert session.receipt is not None
    with pytest.raises(StoreRestored) as restored:
        await anext(session.subscribe(after_version=0, store_epoch="another"))
    assert restored.value.store_epoch == session.receipt.store_epoch
    assert (await anext(session.subscribe(after_version=0, store_epoch=session.receipt.store_epoch))).version == 1


async def test_a_token_that_ends_in_between_is_replaced(server: ServerProcess) -> None:
    told, asked = Told(), 0

    def token() -> str:
        nonlocal asked
        asked += 1
        # By the leeway that clocks get it is valid for another second or two.
        signer = TokenSigner(keys.load_or_make(server.data_dir))
        ttl = 2 * SECOND - LEEWAY
        return signer.sign(tenant="client-tests", subject="tester", role=CallerRole.ENGINE, ttl=ttl)

    async with (
        Client(server.target, token=token) as reader,
        Client(server.target, token=server.token(tenant="client-tests")) as writer,
    ):
        session = await writer.create()
        async with following(reader.session(session.session_id)) as follower:
            await until(lambda: asked >= 3, "a third token")
            await write(session, 5, told)
            await follower.reached(6)
        follower.was_told(told)
