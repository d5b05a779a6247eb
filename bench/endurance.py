"""A long run of appends: what stays with the server, in the log and on the disk."""

import asyncio

import processes
from lockstitch.v1.session_service_pb2 import AppendRequest
from native import prepared
from results import Figure, Measured, Missing, Target
from stage import Stage, message

IN_FLIGHT = 32
SESSIONS = 1000
STRETCH = 1000
STRETCH_SECONDS_MAX = 60.0
WHOLE_PAGES_STRETCHES = 3
"""For so many after a checkpoint, pages are still written whole on their first change."""

WARM_UP = 10
"""Of 100 stretches; the memory that a server takes to get going is not growth."""

_MIB = 1024 * 1024
_COUNTERS_SECONDS_MAX = 15.0


async def many_appends(stage: Stage, *, appends: int) -> list[Measured]:
    """Append to 1,000 sessions in turn, natively, and look at memory, log and disk on the way."""
    sessions = await stage.sessions(SESSIONS)
    requests = [AppendRequest(session_id=one.session_id, messages=[message()]) for one in sessions]
    pid, token = stage.server.process.pid, stage.server.token(tenant="bench", user="bench")
    disk = await stage.database.disk_bytes()
    updates = await _settled_updates(stage)
    resident: list[int] = []
    log: list[int] = []
    checkpoint, unmarked = "", 0
    async with prepared(stage.server.target, token, "SessionService/Append", requests) as calls:
        for _ in range(0, appends, STRETCH):
            before = await stage.database.log_bytes()
            await calls.run(in_flight=IN_FLIGHT, seconds=STRETCH_SECONDS_MAX, calls=STRETCH, warm_up=False)
            after, known = await stage.database.log_bytes(), await stage.database.checkpoint()
            unmarked = unmarked + 1 if known == checkpoint else 0
            if unmarked > WHOLE_PAGES_STRETCHES:
                log.append(after - before)
            checkpoint = known
            resident.append(processes.resident_bytes(pid))
    disk = await stage.database.disk_bytes() - disk
    updated, hot = (new - old for new, old in zip(await _settled_updates(stage), updates, strict=True))
    warm = resident[len(resident) * WARM_UP // 100]
    return [
        Target("memory_after_100000_appends", resident[-1] / warm),
        Target("wal_bytes_per_append", sum(log) / len(log) / STRETCH)
        if log
        else Missing("wal_bytes_per_append", "the database came by a checkpoint again and again"),
        Target("hot_updates_of_sessions", hot / updated)
        if updated
        else Missing("hot_updates_of_sessions", "the database counted no update within 15 s"),
        Figure(
            "server's memory, after a tenth of them and at the end", f"{warm / _MIB:.1f}, {resident[-1] / _MIB:.1f} MiB"
        ),
        Figure(
            "disk for 1,000 messages of 300 bytes, indexes and log of commits included",
            f"{disk / appends * 1000 / 1024:.0f} KiB",
        ),
    ]


async def _settled_updates(stage: Stage) -> tuple[int, int]:
    """Backends report what they counted with a delay: wait until nothing comes any more."""
    known = await stage.database.session_updates()
    async with asyncio.timeout(_COUNTERS_SECONDS_MAX):
        while True:
            await asyncio.sleep(1.5)
            fresh = await stage.database.session_updates()
            if fresh == known:
                return known
            known = fresh
