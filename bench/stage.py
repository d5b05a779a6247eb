"""What is measured: a real server on its own Postgres, the echo beside it, and one client a server."""

import asyncio
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import load
from database import Database, looked_at
from echo_server import READY
from lockstitch import Client, SessionHandle, user
from lockstitch.connection import Endpoint
from lockstitch.transport import Transport
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch_server.server_process import ServerProcess

TEXT = "It rained all night, and in the morning the road to the harbour was gone. " * 4
"""A message of about 300 bytes."""

CREATES_IN_FLIGHT = 16
CALL_TIMEOUT = timedelta(seconds=30)
STOP_SECONDS_MAX = 10.0


def message() -> Message:
    """The message that every append stores."""
    return user(TEXT)


class Echo:
    """Calls the echo as the client calls Append: the same transport, a request of the same size."""

    def __init__(self, target: str, token: str) -> None:
        """Nothing is opened yet."""
        self._transport = Transport(Endpoint.of(target, None), token=token, timeout=CALL_TIMEOUT)
        self._request = AppendRequest(request_id="0" * 32, session_id="sess_" + "0" * 32, messages=[message()])

    def open(self) -> None:
        """Belong to the running loop."""
        self._transport.adopt()

    async def call(self, _number: int) -> object:
        """Make one call."""
        return await self._transport.call(lambda to: to.sessions.Append, self._request, timeout=None)

    async def close(self) -> None:
        """End the connection."""
        await self._transport.close()


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that a measure needs."""

    server: ServerProcess
    client: Client
    echo: Echo
    echo_target: str
    database: Database

    @property
    def postmaster_pid(self) -> int:
        """The process whose children work for the server."""
        return int((self.server.data_dir / "pg/data/postmaster.pid").read_text().splitlines()[0])

    async def sessions(self, count: int, *, user_id: str = "bench") -> list[SessionHandle]:
        """Make empty sessions."""
        made: list[SessionHandle] = []

        async def create(_number: int) -> None:
            made.append(await self.client.create(user_id=user_id))

        await load.run(create, calls=count, in_flight=CREATES_IN_FLIGHT)
        return made


def end_when_told() -> None:
    """Have the running task end what it started where its process is told to end."""
    task = asyncio.current_task()
    if task is None:
        raise AssertionError  # a coroutine runs in one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


@asynccontextmanager
async def made_stage() -> AsyncIterator[Stage]:
    """Start everything in a folder of its own, and leave nothing."""
    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # noqa: ASYNC240 - nothing else runs yet. Root's Postgres runs as another account, which passes through
        server = ServerProcess.start(folder / "data")
        try:
            with _echo_process() as echo_target:
                token = server.token(tenant="bench", user="bench")
                echo = Echo(echo_target, token)
                echo.open()
                async with (
                    Client(server.target, token=token, timeout=CALL_TIMEOUT) as client,
                    looked_at(folder / "data") as database,
                ):
                    yield Stage(server, client, echo, echo_target, database)
                await echo.close()
        finally:
            server.stop()


@contextmanager
def _echo_process() -> Iterator[str]:
    command = [sys.executable, str(Path(__file__).with_name("echo_server.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = "" if process.stdout is None else process.stdout.readline()
            if not line.startswith(READY):
                raise RuntimeError("the echo server did not start")
            yield line.removeprefix(READY).strip()
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
