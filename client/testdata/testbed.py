"""What a client of any language is tested against: real servers, and networks that fail when they are told to.

Start it with the project's Python and read one line from its standard output: a JSON object with the targets. Then
write commands to its standard input, one JSON object a line, and read one line of answer to each (README.md lists
them). It ends, and leaves nothing behind, when its standard input is closed.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))

from lockstitch_migrations import grant_app, migrate  # noqa: E402 - what it needs of the tests lies beside them
from lockstitch_server.auth import keys  # noqa: E402
from lockstitch_server.auth.tokens import TokenSigner  # noqa: E402
from lockstitch_server.embedded import EmbeddedPostgres  # noqa: E402
from lockstitch_server.model import CallerRole  # noqa: E402
from lockstitch_server.server_process import ServerProcess  # noqa: E402
from support.between import Between, Failure, between  # noqa: E402
from support.folders import open_folder  # noqa: E402
from support.proxy import Proxy, proxy_to, to_tcp  # noqa: E402
from support.waiting import until  # noqa: E402

Answer = Mapping[str, object]
SECONDS_MAX = 30.0


class Testbed:
    """Two servers on one database; before the first a network of bytes, and one of calls."""

    def __init__(self, folder: Path, database_url: str, proxy: Proxy, calls: Between, server: ServerProcess) -> None:
        self._folder = folder
        self._database_url = database_url
        self._proxy = proxy
        self._calls = calls
        self._server = server
        self._second: ServerProcess | None = None
        self._signer = TokenSigner(keys.load_or_make(folder / "keys"))

    @property
    def commands(self) -> Mapping[str, Callable[..., Awaitable[Answer]]]:
        """What may be asked, by name; the rest of the command are the keywords."""
        return {
            "token": self.token,
            "lose_next_reply": self.lose_next_reply,
            "cut": self.cut,
            "stall": self.stall,
            "freeze": self.freeze,
            "restore": self.restore,
            "restart_server": self.restart_server,
            "kill_server": self.kill_server,
            "start_server": self.start_server,
            "second_server": self.second_server,
            "fail_next": self.fail_next,
            "forgive": self.forgive,
            "end_streams": self.end_streams,
            "say_version": self.say_version,
            "calls": self.calls,
            "wait_for_calls": self.wait_for_calls,
            "forget_calls": self.forget_calls,
        }

    @property
    def targets(self) -> Answer:
        return {
            "target": self._server.target,
            "proxy_target": self._proxy.target,
            "between_target": self._calls.target,
            "data_dir": str(self._folder),
        }

    async def token(
        self, *, tenant: str = "tests", user: str = "tester", role: str = "engine", ttl_seconds: float = 43200
    ) -> Answer:
        """Sign a token; one of a negative life has expired."""
        life = timedelta(seconds=ttl_seconds)
        return {"token": self._signer.sign(tenant=tenant, subject=user, role=CallerRole(role), ttl=life)}

    async def lose_next_reply(self, *, count: int = 1) -> Answer:
        """Reset the proxy's connections, so often, when a call was answered and before the answer goes through."""
        self._proxy.lose_replies(count)
        return {}

    async def cut(self, *, refuse: bool = False) -> Answer:
        """Reset the proxy's connections now; with `refuse`, new ones too until `restore`."""
        self._proxy.cut(refuse=refuse)
        return {}

    async def stall(self) -> Answer:
        """Let nothing through the proxy until `restore`; nobody is told."""
        self._proxy.stall()
        return {}

    async def freeze(self) -> Answer:
        """Let nothing through on the proxy's present connections, for good; nobody is told. New ones work."""
        self._proxy.freeze()
        return {}

    async def restore(self) -> Answer:
        """Make the proxy a good network again."""
        self._proxy.restore()
        return {"replies_to_lose": self._proxy.replies_to_lose}

    async def restart_server(self) -> Answer:
        """Stop the server, as an operator does, and start it again on the same port."""
        await asyncio.to_thread(self._server.stop)
        return await self.start_server()

    async def kill_server(self) -> Answer:
        """Kill the server, as a crash does."""
        await asyncio.to_thread(self._server.kill)
        return {}

    async def start_server(self) -> Answer:
        """Start the server again, on the same port, after `kill_server`."""
        self._server = await self._started("--listen", self._server.target)
        return {"target": self._server.target}

    async def second_server(self) -> Answer:
        """Give another server of the same store; it is started with the first such command."""
        self._second = self._second or await self._started()
        return {"target": self._second.target}

    async def fail_next(self, *, method: str = "", times: int = 1, **failure: Any) -> Answer:
        """Answer so many of the next calls of a method, that come by the network of calls, with a failure."""
        self._calls.fail(method, Failure(**failure), times=times)
        return {}

    async def forgive(self) -> Answer:
        """Fail nothing any more, and say the server's own version."""
        self._calls.forgive()
        self._calls.version = ""
        return {}

    async def end_streams(self, **failure: Any) -> Answer:
        """End the streams that are open on the network of calls with a failure."""
        return {"ended": self._calls.end_streams(Failure(**failure))}

    async def say_version(self, *, version: str) -> Answer:
        """Let GetServerInfo name this version, on the network of calls."""
        self._calls.version = version
        return {}

    async def calls(self, *, method: str = "") -> Answer:
        """Say which calls came by the network of calls: how many, with which request_ids, and how long they waited."""
        came = [call for call in self._calls.calls if call.method == method or not method]
        waits = [later.at_seconds - call.at_seconds for call, later in pairwise(came)]
        return {
            "count": len(came),
            "methods": [call.method for call in came],
            "request_ids": [call.request_id for call in came],
            "distinct_request_ids": len({call.request_id for call in came}),
            "waits_ms": [round(wait * 1000) for wait in waits],
        }

    async def wait_for_calls(self, *, count: int, method: str = "") -> Answer:
        """Wait until so many calls came by."""

        def came() -> int:
            return sum(call.method == method or not method for call in self._calls.calls)

        await until(lambda: came() >= count, f"{count} calls of {method}", SECONDS_MAX)
        return {"count": came()}

    async def forget_calls(self) -> Answer:
        """Begin to count anew."""
        self._calls.calls.clear()
        return {}

    async def stop(self) -> None:
        """Stop the servers that run."""
        for server in (self._server, self._second):
            if server is not None and server.process.poll() is None:
                await asyncio.to_thread(server.stop)

    async def _started(self, *arguments: str) -> ServerProcess:
        return await asyncio.to_thread(
            ServerProcess.start,
            self._folder / "keys",
            arguments=arguments,
            environment={"LOCKSTITCH_DATABASE_URL": self._database_url},
        )


async def obey(testbed: Testbed, line: bytes) -> Answer:
    """Do what a line says, and give the answer."""
    try:
        asked = json.loads(line)
        named = asked.pop("command")
        return {"ok": True, **await testbed.commands[named](**asked)}
    except Exception as error:  # noqa: BLE001 - whoever asks is told, whatever it is
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


async def commands() -> asyncio.StreamReader:
    """Read standard input without a thread."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def say(answer: Answer) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def main() -> None:
    """Build it, and obey until standard input ends."""
    reader = await commands()
    for number in (SIGINT, SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, reader.feed_eof)
    async with AsyncExitStack() as undo:
        folder = undo.enter_context(open_folder())
        postgres = await undo.enter_async_context(await EmbeddedPostgres.start(folder / "postgres"))
        await migrate(postgres.owner_url)
        await grant_app(postgres.owner_url, postgres.app_url)
        server = await asyncio.to_thread(
            ServerProcess.start,
            folder / "keys",
            environment={"LOCKSTITCH_DATABASE_URL": postgres.app_url},
        )
        proxy = await undo.enter_async_context(proxy_to(to_tcp(server.target), of_grpc=True))
        calls = await undo.enter_async_context(between(server.target))
        testbed = Testbed(folder, postgres.app_url, proxy, calls, server)
        undo.push_async_callback(testbed.stop)
        say(testbed.targets)
        while line := await reader.readline():
            say(await obey(testbed, line))


if __name__ == "__main__":
    asyncio.run(main())
