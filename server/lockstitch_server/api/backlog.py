"""The backlog: calls that have come and that the loop has not taken over yet, which gRPC tells nobody of."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import grpc.aio
import structlog

_PROBE = "/lockstitch.internal/Probe"
"""No service has it: whoever calls it learns that it is unknown, and so do we, after its turn has come."""

_LONG = 8
"""From how many calls on a backlog is watched closely."""

_INTERVAL_SECONDS = 0.1
_CLOSE_INTERVAL_SECONDS = 0.02
_CHANNEL_OPTIONS = (
    ("grpc.client_idle_timeout_ms", 2**31 - 1),  # never: there is no second time to connect
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)
_log = structlog.get_logger(__name__)


class InOneLine:
    """Adds a service's methods to a server such that their calls wait in one line.

    gRPC has a line for each method that is registered with it, and one for all others. Each line gives one call a turn
    of the loop, so a registered method's calls would overtake ours that counts them.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        """Hand over what generated code adds."""
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Have the methods found by name."""
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """Register nothing."""


class Backlog:
    """Counts calls that wait inside gRPC.

    The loop takes over a call a turn, so where the processor is what lacks, calls wait there, and no handler sees them.
    The server therefore stands in line itself: it calls a method that there is not, through a socket of its own, and
    counts the calls that are taken over before.
    """

    def __init__(self) -> None:
        """Nothing waits, as far as is known."""
        self.calls = 0
        """How many were waiting when last looked."""
        self._taken_over = 0
        self._when_sent: int | None = None

    def taken_over(self, method: str) -> None:
        """Count a call that the loop has taken over."""
        if method != _PROBE:
            self._taken_over += 1
            # That the line is longer than the last time is known before its end is reached.
            if self._when_sent is not None:
                self.calls = max(self.calls, self._taken_over - self._when_sent)
        elif self._when_sent is not None:
            self.calls = self._taken_over - self._when_sent
            self._when_sent = None

    @asynccontextmanager
    async def watched(self, server: grpc.aio.Server) -> AsyncIterator[None]:
        """Start the server, and watch its backlog while it serves."""
        with TemporaryDirectory(prefix="lockstitch-") as folder:
            address = f"unix:{Path(folder) / 'line'}"
            server.add_insecure_port(address)
            await server.start()
            channel = grpc.aio.insecure_channel(address, options=_CHANNEL_OPTIONS)
            await channel.channel_ready()
            # Connected: no other door stays, and nothing lies around after a kill.
        watching = asyncio.create_task(self._watch(channel))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait({watching})
            await channel.close()

    async def _watch(self, channel: grpc.aio.Channel) -> None:
        probe: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(_PROBE)
        while True:
            before = self._taken_over
            await asyncio.sleep(_INTERVAL_SECONDS if self.calls < _LONG else _CLOSE_INTERVAL_SECONDS)
            if self._taken_over == before and not self.calls:
                continue
            self._when_sent = self._taken_over
            try:
                await probe(b"")
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                    _log.warning("the server could not stand in its own line", code=error.code().name)
                    self.calls, self._when_sent = 0, None
                    await asyncio.sleep(1)
