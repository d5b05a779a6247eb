"""Servers on one database, and the writers and readers of a test's own tenant before them."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

from factories import fresh
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.journal import Journal, Writer
from support.rpc import Rpc
from support.streams import Reader, subscribe


class Stage:
    """What a test plays on: `servers` is where calls go, and may be changed while it plays."""

    def __init__(self, servers: Sequence[ServerProcess], undo: AsyncExitStack) -> None:
        self.servers = list(servers)
        self.tenant = fresh("tenant")
        self.undo = undo
        self._callers: dict[tuple[str, str, str], Caller] = {}

    def token(self, user: str = "engine-1", role: str = "engine") -> str:
        return self.servers[0].token(tenant=self.tenant, user=user, role=role)

    def caller(self, target: str | None = None, *, user: str = "engine-1", role: str = "engine") -> Caller:
        """A caller of a server, the first unless another is named."""
        key = (target or self.servers[0].target, user, role)
        if key not in self._callers:
            self._callers[key] = Caller(key[0], self.token(user, role))
            self.undo.push_async_callback(self._callers[key].close)
        return self._callers[key]

    def rpc(self, target: str | None = None, *, user: str = "engine-1", role: str = "engine") -> Rpc:
        """The same, to call as the RPCs are named."""
        return Rpc(self.caller(target, user=user, role=role))

    async def session(self, target: str | None = None, **fields: Any) -> str:
        """Make a session of the user u1; version 1 is its creation."""
        request = pb.CreateSessionRequest(**{"user_id": "u1", "request_id": fresh("request")} | fields)
        return (await self.caller(target).sessions.CreateSession(request)).session.session_id

    def writer(self, session_id: str, journal: Journal, targets: Sequence[str] = ()) -> Writer:
        """A writer that goes to these servers in turn, to all of the stage where none is named."""
        named = targets or [server.target for server in self.servers]
        return Writer([self.caller(target) for target in named], session_id, journal)

    async def follow(
        self, session_id: str, *, targets: Sequence[str] = (), token: str | None = None, **asked: Any
    ) -> Reader:
        """A reader that reads already, and resumes on these servers in turn, on all where none is named."""
        named = targets or [server.target for server in self.servers]
        reader = Reader(named, token or self.token(), session_id, **{"name": fresh("reader")} | asked)
        return await self.undo.enter_async_context(reader)

    def open(self, session_id: str, *, token: str | None = None, target: str | None = None, **asked: Any) -> Any:
        """Open a stream and leave it to the test; it is cancelled in the end."""
        channel = self.caller(target).channel
        call = subscribe(channel, token or self.token(), session_id=session_id, **asked)
        self.undo.callback(call.cancel)
        return call


MakeStage = Callable[..., Awaitable[Stage]]
StartServer = Callable[..., ServerProcess]
