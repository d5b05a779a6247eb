"""Steady traffic of many clients on many sessions over all servers, recorded, and ended so that it can be checked."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Self

from grpc import aio

from factories import fresh
from faults.drawn import Drawing, View
from faults.followers import Follower
from faults.reads_replayed import all_reads
from faults.recorder import Recorder, Told
from faults.servers import Servers
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL
from lockstitch.v1.session_service_pb2 import ListCommitsRequest
from model.commits import ANSWERS
from support.rpc import SERVICE_OF
from support.waiting import POLL_SECONDS, until

DEADLINE_SECONDS = 5.0
SHORT_DEADLINES = (0.001, 0.005, 0.01, 0.03)
END_SECONDS = 60.0
PAGE = 50


@dataclass
class Pace:
    """How much traffic there is."""

    rate: float = 100.0
    """Calls a second, all clients' together, while servers keep up."""
    clients: int = 8
    """So many calls are in flight at the most."""
    sessions: int = 6
    """So many sessions are in use at a time."""
    versions: int = 150
    """A session of so many commits is retired, and another one begun."""
    readers: int = 2
    """Streams on each session."""
    short_deadlines: float = 0.08
    """The share of calls whose deadline is nearly nothing."""
    leaves_unknown: float = 0.2
    """The share of calls of unknown outcome that nobody asks about again."""


@dataclass
class Watched:
    """A session in use: what clients know, what is under way, who follows."""

    view: View
    followers: list[Follower] = field(default_factory=list)
    under_way: int = 0


class Traffic:
    """`async with Traffic(recorder, servers, seed=…) as traffic:` runs until the context is left, then reads the logs.

    `await traffic.more(20)` waits until so many further changes were acknowledged: whatever broke, calls work again.
    """

    def __init__(self, recorder: Recorder, servers: Servers, *, seed: int, pace: Pace | None = None) -> None:
        self.acknowledged = 0
        self.counts: Counter[str] = Counter()
        self._recorder, self._servers, self._pace = recorder, servers, pace or Pace()
        self._random = Random(seed)
        self._prefix = fresh("faults")
        self._made = 0
        self._watched: list[Watched] = []
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._endings: list[asyncio.Task[None]] = []
        self._next_at = 0.0
        recorder.acts_as(**servers.caller._asdict())

    async def __aenter__(self) -> Self:
        self._watched = [self._begin_session() for _ in range(self._pace.sessions)]
        self._next_at = time.monotonic()
        self._tasks = [asyncio.create_task(self._client(f"client-{place}")) for place in range(self._pace.clients)]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        try:
            await asyncio.gather(*self._tasks)
            self._endings += [asyncio.create_task(self._end_session(watched)) for watched in self._watched]
            await asyncio.gather(*self._endings)
        finally:
            for task in [*self._tasks, *self._endings]:
                task.cancel()
            await self._servers.close()

    async def more(self, changes: int, seconds: float = END_SECONDS) -> None:
        """Wait until so many further changes were acknowledged."""
        goal = self.acknowledged + changes
        await until(lambda: self.acknowledged >= goal or self._is_broken(), f"{changes} more changes", seconds)
        for task in [*self._tasks, *self._endings]:
            if task.done():
                task.result()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[View]:
        """Lend a session to other callers; its log is not read for the last time before the context is left."""
        watched = self._random.choice(self._watched)
        async with self._using(watched):
            yield watched.view

    def _is_broken(self) -> bool:
        return any(task.done() and task.exception() for task in [*self._tasks, *self._endings])

    def _begin_session(self) -> Watched:
        self._made += 1
        return Watched(View(f"{self._prefix}-{self._made}"))

    def _follow(self, watched: Watched) -> None:
        for place in range(self._pace.readers):
            roles = [ROLE_ASSISTANT, ROLE_TOOL] if place % 3 == 2 else []
            random = Random(self._random.random())
            name = f"{watched.view.session_id}/{place}"
            watched.followers.append(
                Follower(self._recorder, self._servers, watched.view.session_id, name=name, random=random, roles=roles)
            )

    async def _client(self, name: str) -> None:
        drawing = Drawing(Random(self._random.random()), f"{self._prefix}-{name}")
        while await self._turn():
            watched = drawing.random.choice(self._watched)
            async with self._using(watched):
                await self._act(drawing, name, watched.view)
            if watched.view.version and not watched.followers:
                self._follow(watched)
            if watched.view.version >= self._pace.versions and watched in self._watched:
                self._watched[self._watched.index(watched)] = self._begin_session()
                self._endings.append(asyncio.create_task(self._end_session(watched)))

    async def _turn(self) -> bool:
        """Wait for the next call's time; what could not be called is not made up for."""
        now = time.monotonic()
        self._next_at = max(self._next_at + 1 / self._pace.rate, now)
        await asyncio.sleep(self._next_at - now)
        return not self._stop.is_set()

    @asynccontextmanager
    async def _using(self, watched: Watched) -> AsyncIterator[None]:
        watched.under_way += 1
        try:
            yield
        finally:
            watched.under_way -= 1

    async def _act(self, drawing: Drawing, client: str, view: View) -> None:
        """Draw a request and send it; while its outcome is unknown, again, mostly elsewhere."""
        random, request = drawing.random, drawing.request(view)
        is_change = "request_id" in request.DESCRIPTOR.fields_by_name
        if is_change and random.random() < 0.02:
            # A retry that overtakes the first attempt.
            await asyncio.gather(
                *(self._send(drawing, client, view, request, server) for server in self._servers.targets)
            )
            return
        while True:
            server = random.choice(sorted(self._servers.targets))
            if await self._send(drawing, client, view, request, server):
                return
            if not is_change or random.random() < self._pace.leaves_unknown:
                return
            await asyncio.sleep(POLL_SECONDS * random.randrange(1, 10))

    async def _send(self, drawing: Drawing, client: str, view: View, request: Any, server: str) -> bool:
        """Send a request once; whether its outcome is known."""
        short = not self._stop.is_set() and drawing.random.random() < self._pace.short_deadlines
        deadline = drawing.random.choice(SHORT_DEADLINES) if short else DEADLINE_SECONDS
        try:
            answer = await self._recorder.call(
                self.method(server, client, request),
                request,
                client=client,
                server=server,
                deadline=deadline,
                metadata=self._servers.headers,
            )
        except Told as told:
            self.counts[told.reason or told.code] += 1
            if told.reason == "VERSION_CONFLICT":
                view.learn_conflict(told.details)
            return told.outcome == "refused"
        self.counts["ok"] += 1
        self.acknowledged += "receipt" in answer.DESCRIPTOR.fields_by_name
        view.learn(request, answer)
        return True

    def method(self, server: str, client: str, request: Any) -> Any:
        """Give the method that a request is of, on a client's connection to a server."""
        name = type(request).__name__.removesuffix("Request")
        return self._servers.channel(server, client).unary_unary(
            f"/{SERVICE_OF[name]}/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=ANSWERS[f"{name}Response"].FromString,
        )

    async def _end_session(self, watched: Watched) -> None:
        """Wait for what is under way and for the readers, then record the log."""
        await until(lambda: not watched.under_way, "the end of its calls", END_SECONDS)
        session_id = watched.view.session_id
        reached = max([0, *(commit.version for commit in await self._log(session_id))])
        await asyncio.gather(*(follower.reached(reached, END_SECONDS) for follower in watched.followers))
        for follower in watched.followers:
            await follower.stop()
            await self._servers.close_of(follower.name)
        if reached:
            await self._read_all(session_id)
        invoked_at = time.monotonic_ns()
        commits = await self._log(session_id)
        self._recorder.log(session_id, commits, invoked_at=invoked_at, reached=reached)

    async def _read_all(self, session_id: str) -> None:
        """Read all there is of a session, so that what was stored otherwise than the log says is seen."""
        deadline = time.monotonic() + END_SECONDS
        for request in all_reads(session_id):
            while not await self._is_answered(request):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no server answers {request}")
                await asyncio.sleep(POLL_SECONDS * 10)

    async def _is_answered(self, request: Any) -> bool:
        server = self._random.choice(sorted(self._servers.targets))
        method, headers = self.method(server, "last", request), self._servers.headers
        try:
            await self._recorder.call(
                method, request, client="last", server=server, deadline=DEADLINE_SECONDS, metadata=headers
            )
        except Told:
            return False
        return True

    async def _log(self, session_id: str) -> list[Commit]:
        """Read a session's log, from whichever server gives it."""
        commits: list[Commit] = []
        asked, deadline = ListCommitsRequest(session_id=session_id, page_size=PAGE), time.monotonic() + END_SECONDS
        while True:
            asked.after_version = commits[-1].version if commits else 0
            server = self._random.choice(sorted(self._servers.targets))
            try:
                answer = await self.method(server, "log", asked)(
                    asked, timeout=DEADLINE_SECONDS, metadata=self._servers.headers
                )
            except aio.AioRpcError as error:
                if error.code().name == "NOT_FOUND" and not commits:
                    return []  # a session that never came to be
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(POLL_SECONDS * 10)
                continue
            commits += answer.commits
            if not answer.next_page_token:
                return commits
