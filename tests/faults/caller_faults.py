"""Callers who behave badly: they repeat everything, all want one version, give up at any moment, or have no time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, TypeAlias

from factories import fresh, said
from faults.drawn import Drawing, View
from faults.fault import Breaks, Play, add, fault
from faults.recorder import Told
from lockstitch.v1.session_service_pb2 import AppendRequest

_HOLD = (1.0, 5.0)
_DEADLINE_SECONDS = 5.0
_STORM_CLIENTS = 8
_STORM_REPEATS = 5
_WRITERS = 64
_HASTY_CLIENTS = 16
_SHORT_SECONDS = 0.001
_PATIENCE_SECONDS_MAX = 0.03
_Act: TypeAlias = "Callable[[Crowd, Drawing, View], Awaitable[object]]"


class Crowd:
    """Callers beside the traffic, on its sessions, and recorded like it."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self._name = fresh("crowd")
        self._stop = asyncio.Event()

    @asynccontextmanager
    async def acting(self, act: _Act, clients: int) -> AsyncIterator[None]:
        """So many clients do something again and again; they end what they began."""
        names = [f"{self._name}-{number}" for number in range(clients)]
        tasks = [asyncio.create_task(self._act_on(act, name), name=name) for name in names]
        try:
            yield
        finally:
            self._stop.set()
            await asyncio.gather(*tasks)

    async def _act_on(self, act: _Act, name: str) -> None:
        drawing = Drawing(self.play.random, name)
        while not self._stop.is_set():
            async with self.play.traffic.lent() as view:
                await act(self, drawing, view)

    async def send(self, request: Any, view: View, *, server: str, client: str, deadline: float) -> None:
        """Send a request once, whatever comes of it."""
        method = self.play.traffic.method(server, client, request)
        with suppress(Told):
            answer = await self.play.recorder.call(
                method, request, client=client, server=server, deadline=deadline, metadata=self.play.servers.headers
            )
            view.learn(request, answer)

    def server(self, turn: int) -> str:
        """The servers in turn."""
        names = sorted(self.play.servers.targets)
        return names[turn % len(names)]


async def _repeat(crowd: Crowd, drawing: Drawing, view: View) -> None:
    """Send a request several times at once, to all servers."""
    request = drawing.request(view)
    await asyncio.gather(
        *(
            crowd.send(request, view, server=crowd.server(turn), client=f"storm-{turn}", deadline=_DEADLINE_SECONDS)
            for turn in range(_STORM_REPEATS)
        )
    )


async def _give_up(crowd: Crowd, drawing: Drawing, view: View) -> None:
    """Cancel a call at some moment, which finds the server at any of its awaits."""
    random, request = crowd.play.random, drawing.request(view)
    sending = asyncio.ensure_future(
        crowd.send(request, view, server=crowd.server(random.randrange(2)), client="hasty", deadline=_DEADLINE_SECONDS)
    )
    await asyncio.wait([sending], timeout=random.uniform(0, _PATIENCE_SECONDS_MAX))
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


async def _have_no_time(crowd: Crowd, drawing: Drawing, view: View) -> None:
    """Make a call whose deadline is nearly over."""
    server = crowd.server(crowd.play.random.randrange(2))
    await crowd.send(drawing.request(view), view, server=server, client="pressed", deadline=_SHORT_SECONDS)


def _breaks(act: _Act, clients: int) -> Breaks:
    @asynccontextmanager
    async def broken(play: Play) -> AsyncIterator[None]:
        async with Crowd(play).acting(act, clients):
            yield

    return broken


add("every request repeated", _breaks(_repeat, _STORM_CLIENTS), hold=_HOLD)
add("calls given up at any moment", _breaks(_give_up, _HASTY_CLIENTS), hold=_HOLD)
add("deadlines of 1 ms", _breaks(_have_no_time, _HASTY_CLIENTS), hold=_HOLD)


@fault("64 writers of one version", hold=(0.0, 0.5))
async def writers_of_one_version(play: Play) -> AsyncIterator[None]:
    """All expect the same version; at most one of them may find it."""
    crowd, numbers, name = Crowd(play), count(), fresh("writer")
    async with play.traffic.lent() as view:
        requests = [_expecting(view, f"{name}-{next(numbers)}") for _ in range(_WRITERS)]
        await asyncio.gather(
            *(
                crowd.send(
                    request, view, server=crowd.server(turn), client=f"writer-{turn % 8}", deadline=_DEADLINE_SECONDS
                )
                for turn, request in enumerate(requests)
            )
        )
    yield


def _expecting(view: View, request_id: str) -> AppendRequest:
    messages = [said(request_id)]
    return AppendRequest(
        session_id=view.session_id, request_id=request_id, messages=messages, expected_version=view.version
    )
