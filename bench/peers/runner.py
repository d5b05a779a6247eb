"""Runs one peer in a process of its own: takes commands as lines of JSON, and answers each with one."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import uvloop

import load
from peers.store import Store

TEXT = "It rained all night, and in the morning the road to the harbour was gone. " * 4
MAKES_IN_FLIGHT = 8

Command = Callable[..., Awaitable[dict[str, object]]]


class Runner:
    """The commands."""

    def __init__(self, store: Store) -> None:
        """Of one store."""
        self._store = store
        self._sessions: list[str] = []

    async def make(self, sessions: list[str]) -> dict[str, object]:
        """Begin conversations; appends go to them in turn."""
        await self._store.make(sessions[0])  # the first one makes the tables, too
        rest = sessions[1:]
        await load.run(lambda number: self._store.make(rest[number]), calls=len(rest), in_flight=MAKES_IN_FLIGHT)
        self._sessions = sessions
        return {}

    async def append(self, calls: int, in_flight: int) -> dict[str, object]:
        """Add messages to the conversations in turn."""
        made = await load.run(
            lambda number: self._store.append(self._sessions[number % len(self._sessions)], TEXT),
            calls=calls,
            in_flight=in_flight,
        )
        return {"rate": made.rate, "p50_ms": made.p50_ms}

    async def grow(self, session: str, messages: int) -> dict[str, object]:
        """Make a conversation of so many messages."""
        await self._store.make(session)
        await self._store.grow(session, [TEXT] * messages)
        return {}

    async def load(self, session: str, messages: int, calls: int, in_flight: int) -> dict[str, object]:
        """Load a whole conversation again and again."""

        async def whole(_number: int) -> None:
            if len(await self._store.texts(session)) != messages:
                raise AssertionError("a conversation is loaded whole")

        made = await load.run(whole, calls=calls, in_flight=in_flight)
        return {"rate": made.rate, "p50_ms": made.p50_ms}

    async def newest(self, session: str, count: int, found: int, calls: int) -> dict[str, object]:
        """Load a conversation's newest messages again and again, of which there are so many."""
        if await self._store.newest(session, count) is None:
            return {}

        async def end(_number: int) -> None:
            if len(await self._store.newest(session, count) or ()) != found:
                raise AssertionError("the newest messages are loaded")

        made = await load.run(end, calls=calls, in_flight=1)
        return {"rate": made.rate, "p50_ms": made.p50_ms}

    async def contend(self, session: str, writers: int, messages: int, seconds_max: float) -> dict[str, object]:
        """Have so many write one conversation while somebody reads it all the time, and say what became of it."""
        await self._store.make(session)
        reads: list[list[str]] = []
        acknowledged: list[str] = []
        self._store.refused = 0

        async def write(number: int) -> None:
            await self._store.append_among_others(session, str(number))
            acknowledged.append(str(number))

        clock = asyncio.get_running_loop().time
        began = clock()
        writing = asyncio.create_task(_bounded(load.run(write, calls=messages, in_flight=writers), seconds_max))
        while not writing.done():
            reads.append(await self._store.texts(session))
            await asyncio.sleep(0)
        await writing
        seconds = clock() - began
        stored = await self._store.texts(session)
        reads.append(stored)
        return {
            "acknowledged": len(acknowledged),
            "lost": len(set(acknowledged) - set(stored)),
            "doubled": len(stored) - len(set(stored)),
            "reads": len(reads),
            "changed_reads": sum(later[: len(earlier)] != earlier for earlier, later in pairwise(reads)),
            "refused": self._store.refused,
            "seconds": seconds,
        }


async def _bounded(writing: Awaitable[object], seconds_max: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds_max):
            await writing


def _store(name: str, url: str) -> Store:
    """Import no other peer than the one that is measured."""
    if name == "google_adk":
        from peers.google_adk import GoogleAdk  # noqa: PLC0415

        return GoogleAdk(url)
    if name == "openai_agents":
        from peers.openai_agents import OpenaiAgents  # noqa: PLC0415

        return OpenaiAgents(url)
    if name == "langgraph":
        from peers.langgraph_saver import LanggraphSaver  # noqa: PLC0415

        return LanggraphSaver(url)
    from peers.lockstitch_client import LockstitchClient  # noqa: PLC0415

    return LockstitchClient(url)


async def serve(name: str) -> None:
    """Obey until the input ends; where the store is stands in the environment."""
    store = _store(name, os.environ["PEER_URL"])
    runner = Runner(store)
    print(json.dumps({}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked: dict[str, Any] = json.loads(line)
        command: Command = getattr(runner, asked.pop("command"))
        try:
            answer = await command(**asked)
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked shall know
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)
    await store.close()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    uvloop.run(serve(sys.argv[1]))
