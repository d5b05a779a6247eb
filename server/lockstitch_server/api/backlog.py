"""The backlog: calls that have come and that the loop has not taken over yet, which gRPC tells nobody of."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import grpc
import grpc.aio
import structlog

from lockstitch_server import tasks

_WATCHED = 8
"""From how many calls on it is looked often."""

_INTERVAL_SECONDS = 0.1
_CLOSE_INTERVAL_SECONDS = 0.02
_CHANNEL_OPTIONS = (
    ("grpc.client_idle_timeout_ms", 2**31 - 1),  # never: there is no second time to connect
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A call of our own that stands in line."""

    time: float
    let_in: int
    """How many had been let in when it was sent."""


class Backlog:
    """Counts calls that wait inside gRPC.

    The loop takes over a call a turn, so where the processor is what lacks, calls wait there, and no handler sees them.
    The server therefore stands in line itself, again and again: it calls a method that there is not, through a socket
    of its own, and counts the calls that are taken over before.
    """

    def __init__(self, line: int, clock: Callable[[], float] = monotonic) -> None:
        """Nothing waits, as far as is known. So many calls are a `line`; `clock` gives seconds."""
        self.calls = 0
        """How many wait, as far as is known."""
        self.stands_since: float | None = None
        """Since when a line has been there whenever it was looked at, and at least twice: a burst is gone by then."""
        self._line = line
        self._clock = clock
        # No service has it: it is answered as unknown, when its turn has come. No one else knows its name.
        self._probe = f"/lockstitch.line/{secrets.token_hex(8)}"
        self._let_in = 0
        self._sent: _Sent | None = None
        self._line_since: float | None = None

    def turned_away(self) -> None:
        """Note that one who was taken over has gone for a while; one who is let in is followed by its caller's next."""
        self._let_in -= 1
        self.calls = max(self.calls - 1, 0)

    def taken_over(self, method: str) -> None:
        """Note a call that the loop has taken over."""
        if method != self._probe:
            self._let_in += 1
            # That there is still a line, and a longer one, is known before its end is reached.
            if self._sent is not None:
                before = self._let_in - self._sent.let_in
                self.calls = max(self.calls, before)
                if before >= self._line:
                    self.stands_since = self._line_since
        elif self._sent is not None:
            # Those who waited before our own call have gone by; as many as were let in wait behind it.
            self.calls = self._let_in - self._sent.let_in
            if self.calls < self._line:
                self.stands_since = self._line_since = None
            elif self._line_since is None:
                self._line_since = self._sent.time
            self._sent = None

    @asynccontextmanager
    async def watched(self, server: grpc.aio.Server) -> AsyncIterator[None]:
        """Start the server, and watch its backlog while it serves."""
        channel = await self._started(server)
        if channel is None:
            yield
            return
        watching = asyncio.create_task(self._watch(channel))
        try:
            yield
        finally:
            await tasks.ended(watching)
            await channel.close()

    async def _started(self, server: grpc.aio.Server) -> grpc.aio.Channel | None:
        """Start the server; gives the connection to stand in line by, where there can be one."""
        with ExitStack() as until_connected:
            try:
                folder = until_connected.enter_context(TemporaryDirectory(prefix="lockstitch-"))
                address = f"unix:{Path(folder) / 'line'}"
                server.add_insecure_port(address)
            except (OSError, RuntimeError) as error:
                _log.warning("calls that wait inside gRPC are no part of its load: no socket for it", error=str(error))
                await server.start()
                return None
            await server.start()
            channel = grpc.aio.insecure_channel(address, options=_CHANNEL_OPTIONS)
            await channel.channel_ready()
            # Now that it is connected there is no door left, and nothing that would lie around after a kill.
            return channel

    async def _watch(self, channel: grpc.aio.Channel) -> None:
        probe: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(self._probe)
        try:
            while True:
                before = self._let_in
                await asyncio.sleep(_INTERVAL_SECONDS if self.calls < _WATCHED else _CLOSE_INTERVAL_SECONDS)
                if self._let_in != before or self.calls:
                    self._sent = _Sent(self._clock(), self._let_in)
                    await _turn_of(probe)
        except grpc.aio.AioRpcError as error:
            _log.warning("calls that wait inside gRPC are no part of its load any more", code=error.code().name)
        finally:
            self.calls, self.stands_since, self._line_since, self._sent = 0, None, None, None


async def _turn_of(probe: "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]") -> None:
    try:
        await probe(b"")
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
            raise
