"""A store of a million sessions beside a young one: the same calls, by turns, at both.

`bench/growth.py --sessions 1000000` fills the server's own tables (TMPDIR says where), which takes time and disk: it is
no part of `make bench`. It writes GROWTH.json, from which the bench takes its ratio, and GROWTH.md.
"""

import argparse
import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from statistics import median

import asyncpg
import uvloop
from google.protobuf.message import Message

import grown
from growth_record import Compared, write
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CreateSessionRequest,
    GetContextRequest,
    GetSessionRequest,
    ListMessagesRequest,
    ListSessionsRequest,
    UpdateMemoryRequest,
)
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemoryKeys
from lockstitch_server.embedded import running_urls
from native import Calls, prepared
from results import commit, machine
from stage import Stage, end_when_told, made_stage, message

YOUNG = 1000
CALLED = 20_000
"""So many sessions are called, drawn from all of them."""

_IN_FLIGHT = (1, 64)
_LOOKED = 500
_LOOKED_SECONDS_MAX = 30.0
_REPORTED_SECONDS = 11.0
"""Backends that are idle say what they counted after ten seconds."""
_CHANGE = MemoryChange(keys=MemoryKeys(set={"extra": '{"note": "the road to the harbour was gone"}'}))
_READ = """
select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit) from pg_statio_user_tables
where schemaname = 'lockstitch'
"""
_SCANNED = "select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables where schemaname = 'lockstitch'"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of call."""

    name: str
    method: str
    request: Callable[[int], Message]


KINDS = (
    Kind(
        "GetSession, newest 50", "GetSession", lambda n: GetSessionRequest(session_id=grown.name(n), recent_messages=50)
    ),
    Kind("GetContext", "GetContext", lambda n: GetContextRequest(session_id=grown.name(n))),
    Kind("ListMessages, 50", "ListMessages", lambda n: ListMessagesRequest(session_id=grown.name(n), page_size=50)),
    Kind(
        "ListSessions of a user, 50", "ListSessions", lambda n: ListSessionsRequest(user_id=grown.user(n), page_size=50)
    ),
    Kind("ListSessions of all, 50", "ListSessions", lambda _n: ListSessionsRequest(page_size=50)),
    Kind("Append", "Append", lambda n: AppendRequest(session_id=grown.name(n), messages=[message()])),
    Kind(
        "UpdateMemory, one key", "UpdateMemory", lambda n: UpdateMemoryRequest(session_id=grown.name(n), change=_CHANGE)
    ),
    Kind("CreateSession", "CreateSession", lambda _n: CreateSessionRequest(user_id="new", messages=[message()])),
)


@dataclass(frozen=True, slots=True)
class Store:
    """One of the two, and how many sessions it holds."""

    stage: Stage
    sessions: int

    def calls(self, kind: Kind) -> AbstractAsyncContextManager[Calls]:
        """Prepare calls of sessions drawn from all."""
        drawn = random.sample(range(self.sessions), min(self.sessions, CALLED))
        token = self.stage.server.token(tenant="bench", user="bench")
        method = f"SessionService/{kind.method}"
        return prepared(self.stage.server.target, token, method, [kind.request(number) for number in drawn])

    async def counters(self) -> tuple[int, int]:
        """How many pages and how many rows without an index were read."""
        database = await asyncpg.connect(running_urls(self.stage.server.data_dir).superuser)
        try:
            return int(await database.fetchval(_READ)), int(await database.fetchval(_SCANNED))
        finally:
            await database.close()


async def measure(sessions: int, rounds: int, seconds: float) -> None:
    """Fill one store, and a young one beside it; compare, and write what came out."""
    end_when_told()
    measured = commit()
    async with made_stage() as first, made_stage() as second:
        await grown.grow(first, YOUNG)
        filled = await grown.grow(second, sessions)
        where = machine(await second.database.version())
        young, old = Store(first, YOUNG), Store(second, sessions)
        compared: list[Compared] = []
        for kind in KINDS:
            looked = await asyncio.gather(_looked(kind, young), _looked(kind, old))
            for in_flight in _IN_FLIGHT:
                rates = await _rates(kind, young, old, in_flight=in_flight, rounds=rounds, seconds=seconds)
                compared.append(Compared(kind.name, in_flight, *rates, looked[0][0], looked[1][0], looked[1][1]))
                print(f"  {compared[-1]}", flush=True)
    write(filled, compared, where, measured)


async def _looked(kind: Kind, store: Store) -> tuple[float, float]:
    """Pages a call, and rows without an index."""
    async with store.calls(kind) as calls:
        await calls.run(in_flight=1, seconds=_LOOKED_SECONDS_MAX, calls=_LOOKED)
        await asyncio.sleep(_REPORTED_SECONDS)
        before = await store.counters()
        made = await calls.run(in_flight=1, seconds=_LOOKED_SECONDS_MAX, calls=_LOOKED)
        await asyncio.sleep(_REPORTED_SECONDS)
        pages, scanned = (new - old for new, old in zip(await store.counters(), before, strict=True))
    return pages / made.answered, scanned / made.answered


async def _rates(
    kind: Kind, young: Store, old: Store, *, in_flight: int, rounds: int, seconds: float
) -> tuple[float, float, float]:
    """How many times slower, and how many a second at either."""
    turns: list[tuple[float, float]] = []
    async with young.calls(kind) as young_calls, old.calls(kind) as old_calls:
        for turn in range(-1, rounds):
            one = await young_calls.run(in_flight=in_flight, seconds=seconds)
            other = await old_calls.run(in_flight=in_flight, seconds=seconds)
            if turn >= 0:  # the first turn warms both up
                turns.append((one.rate, other.rate))
    return (
        median(one / other for one, other in turns),
        median(one for one, _ in turns),
        median(other for _, other in turns),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.7)
    asked = parser.parse_args()
    uvloop.run(measure(asked.sessions, asked.rounds, asked.seconds))
