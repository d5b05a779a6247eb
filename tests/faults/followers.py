"""Readers that follow a session from stream to stream, and record every frame."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

from grpc import aio

from faults.recorder import Recorder
from faults.servers import Servers
from support.streams import span, subscribe, version_of
from support.waiting import POLL_SECONDS, until

HEARTBEAT_SECONDS = 1.0
SILENT_SECONDS_MAX = 6.0
"""A stream that is silent for so long is given up: heartbeats should have come."""
LEAVES_AFTER_FRAMES = 200


class Follower:
    """Follows one session, again and again from where it was, on one server after another."""

    def __init__(
        self,
        recorder: Recorder,
        servers: Servers,
        session: str,
        *,
        name: str,
        random: Random,
        roles: Sequence[int] = (),
        stays: tuple[int, int] = (1, LEAVES_AFTER_FRAMES),
    ) -> None:
        """It leaves each stream after so many frames, drawn from `stays`."""
        self.name, self.cursor = name, 0
        self._recorder, self._servers, self._session = recorder, servers, session
        self._random, self._roles, self._stays = random, list(roles), stays
        self._task = asyncio.create_task(self._follow(), name=name)

    async def reached(self, version: int, seconds: float) -> None:
        """Wait until all up to a version was given or passed over."""
        await until(lambda: self.cursor >= version or self._task.done(), f"{self.name} at {version}", seconds)
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _follow(self) -> None:
        names = sorted(self._servers.targets)
        for turn in count(self._random.randrange(len(names))):
            await self._read_one(names[turn % len(names)])
            await asyncio.sleep(POLL_SECONDS * 5)

    async def _read_one(self, server: str) -> None:
        tape = self._recorder.stream(
            reader=self.name, server=server, session=self._session, after_version=self.cursor, roles=self._roles
        )
        asked: dict[str, Any] = {"after_version": self.cursor, "heartbeat_interval": span(HEARTBEAT_SECONDS)}
        call = subscribe(
            self._servers.channel(server, self.name),
            self._servers.token,
            session_id=self._session,
            roles=self._roles,
            **asked,
        )
        leaves = self._random.randrange(*self._stays)
        try:
            for _ in range(leaves):
                async with asyncio.timeout(SILENT_SECONDS_MAX):
                    frame = await call.read()
                if frame is aio.EOF:
                    break
                tape.frame(frame)
                self.cursor = version_of(frame) or self.cursor
        except aio.AioRpcError as error:
            tape.ended(error)
        except TimeoutError:
            tape.ended()
        except asyncio.CancelledError:
            tape.ended()
            raise
        else:
            tape.ended()
        finally:
            call.cancel()
