"""Several processes that serve one port, kept alive by their parent."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from lockstitch_server import listening, tasks
from lockstitch_server.app import running_server
from lockstitch_server.auth.identity import running_identity
from lockstitch_server.config import Settings
from lockstitch_server.startup import StartupError

COMMAND = "serve-worker"
RESTART_SECONDS = 0.5
STOP_SECONDS_MARGIN = 12.0  # what a server may take after the grace of its calls, and time to say what keeps it

log = structlog.get_logger()


@asynccontextmanager
async def running_workers(settings: Settings, database_url: str) -> AsyncIterator[listening.Address]:
    """Serve in `settings.workers` processes; a dead one is replaced. On exit all drain."""
    held, address = listening.hold(listening.parse(settings.listen))
    orders = settings.model_copy(update={"listen": str(address), "database_url": database_url}).model_dump_json()
    seconds = settings.shutdown_grace.total_seconds() + STOP_SECONDS_MARGIN
    with held:
        workers = await _started(settings.workers, orders, seconds)
        watches = [asyncio.create_task(worker.keep_alive(), name=COMMAND) for worker in workers]
        try:
            yield address
        finally:
            await tasks.ended(*watches)
            await asyncio.gather(*(worker.stop(seconds) for worker in workers))


async def _started(count: int, orders: str, stop_seconds: float) -> "list[Worker]":
    """Start so many at once; where one does not start, none is left."""
    starting = [asyncio.create_task(Worker.start(orders), name=COMMAND) for _ in range(count)]
    try:
        return await asyncio.gather(*starting)
    except BaseException:
        for start in starting:
            start.cancel()
        ended = await asyncio.gather(*starting, return_exceptions=True)
        await asyncio.gather(*(worker.stop(stop_seconds) for worker in ended if isinstance(worker, Worker)))
        raise


class Worker:
    """One serving process. It gets its orders on stdin, and ends when that closes, so that none outlives its parent."""

    def __init__(self, orders: str, process: asyncio.subprocess.Process) -> None:
        self._orders = orders
        self._process = process

    @classmethod
    async def start(cls, orders: str) -> "Worker":
        return cls(orders, await _spawned(orders))

    async def keep_alive(self) -> None:
        while True:
            code = await self._process.wait()
            log.error("a worker died and is replaced", pid=self._process.pid, exit_code=code)
            while True:
                try:
                    self._process = await _spawned(self._orders)
                except StartupError as error:
                    log.error("a worker did not start and is tried again", error=str(error))  # noqa: TRY400
                    await asyncio.sleep(RESTART_SECONDS)
                else:
                    break

    async def stop(self, seconds: float) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


async def _spawned(orders: str) -> asyncio.subprocess.Process:
    """Start a worker and wait until it serves."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lockstitch_server", COMMAND),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # a terminal's ctrl-c is for the parent, which tells the workers
    )
    if process.stdin is None or process.stdout is None:
        raise AssertionError  # both are pipes
    try:
        process.stdin.write(f"{orders}\n".encode())
        await process.stdin.drain()
        ready = await process.stdout.readline()
    except (OSError, asyncio.CancelledError):
        process.kill()
        raise
    if not ready:
        raise StartupError(f"a worker ended before it served (exit code {await process.wait()})")
    return process


async def serve_as_worker(stop: asyncio.Event) -> None:
    """Serve as the orders on stdin say, until it closes."""
    orders = asyncio.StreamReader(limit=1024 * 1024)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    settings = Settings.model_validate_json(await orders.readline())
    if not settings.database_url:
        raise StartupError("a worker is started by `lockstitch-server serve --workers N` only")
    async with (
        running_identity(settings) as identity,
        running_server(settings, settings.database_url, identity, listen=settings.listen, reuse_port=True),
    ):
        print("ready", flush=True)  # noqa: T201 - to the parent
        closed = asyncio.create_task(orders.read(), name="parent")
        stopped = asyncio.create_task(stop.wait(), name="stop")
        await asyncio.wait([closed, stopped], return_when=asyncio.FIRST_COMPLETED)
        await tasks.ended(closed, stopped)
