"""How often a call goes to the database and back, counted on the wire."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs, quote, unquote, urlsplit
from uuid import uuid4

from counting_proxy import CountingProxy, counting_proxy
from lockstitch import Client
from lockstitch.v1.session_service_pb2 import CreateIfMissing
from lockstitch_server.embedded import running_urls
from lockstitch_server.server_process import ServerProcess
from results import Figure, Target
from stage import Stage, message

_CALLS = 50


async def of_each_call(stage: Stage) -> list[Target | Figure]:
    """Put a second server on the same database, with a counter between them."""
    app = running_urls(stage.server.data_dir).app
    sockets = Path(unquote(parse_qs(urlsplit(app).query)["host"][0]))
    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        folder = Path(name)
        behind = app.replace(quote(str(sockets)), quote(str(folder)))
        async with counting_proxy(folder, sockets / ".s.PGSQL.5432") as proxy:
            server = await _started(folder / "data", behind)
            try:
                async with Client(server.target, token=server.token(tenant="bench", user="bench")) as client:
                    return await _counted(client, proxy)
            finally:
                await asyncio.to_thread(server.stop)


async def _started(data_dir: Path, database_url: str) -> ServerProcess:
    """Start it in a thread: it talks to its database through us."""
    return await asyncio.to_thread(ServerProcess.start, data_dir, environment={"LOCKSTITCH_DATABASE_URL": database_url})


async def _counted(client: Client, proxy: CountingProxy) -> list[Target | Figure]:
    session = await client.create(user_id="bench")

    async def append() -> object:
        return await session.append(messages=[message()])

    async def get() -> object:
        return await session.get(recent_messages=50, include_memory=True, include_open_tool_calls=True)

    async def create() -> object:
        return await client.create(user_id="bench", messages=[message()])

    async def append_to_none() -> object:
        session = client.session(uuid4().hex)
        return await session.append(messages=[message()], create_if_missing=CreateIfMissing(user_id="bench"))

    return [
        Target("round_trips_create", await _a_call(create, proxy)),
        Target("round_trips_append", await _a_call(append, proxy)),
        Target("round_trips_get", await _a_call(get, proxy)),
        Figure("round trips of an append that creates its session", f"{await _a_call(append_to_none, proxy):g}"),
        Figure("GetContext's round trips", f"{await _a_call(session.context, proxy):g}"),
    ]


async def _a_call(call: Callable[[], Awaitable[object]], proxy: CountingProxy) -> float:
    """The median: once a second the server also looks after its streams, whoever calls meanwhile."""
    await call()  # the first use of a statement on a connection prepares it
    counts: list[int] = []
    for _ in range(_CALLS):
        before = proxy.round_trips
        await call()
        counts.append(proxy.round_trips - before)
    return median(counts)
