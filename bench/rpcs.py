"""Each kind of call from one caller to 256 at a time: how many a second, how long one takes, and what it costs whom."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

import load
import processes
from lockstitch import SessionHandle, assistant, call
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CompleteToolCallRequest,
    GetContextRequest,
    GetSessionRequest,
    ListMessagesRequest,
    ListSessionsRequest,
    UpdateMemoryRequest,
)
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemoryKeys
from native import WARM_UP_CALLS, prepared
from results import Measured, Table
from stage import Stage, message
from subscribers import fan_out

IN_FLIGHT = (1, 16, 64, 256)
SESSIONS = 400
MESSAGES = 60
"""In each of them: reads of the newest 50 find as many."""

ONCE_A_SECOND_MAX = (1000, 3000, 4000, 4000)
CALLS_A_MESSAGE = 100
_USER = "calls"
_HEADER = (
    "call",
    "in flight",
    "a second",
    "p50",
    "p99",
    "server's CPU a call",
    "Postgres's",
    "log a call",
    "disk a call",
    "answer",
    "turned away",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of call."""

    name: str
    method: str
    requests: Sequence[Message]
    is_once: bool = False
    """Each request can be made once only."""


async def each_call(stage: Stage, *, seconds: float) -> list[Measured]:
    """Measure all of them, then the delivery of commits to as many subscribers."""
    sessions = await stage.sessions(SESSIONS, user_id=_USER)
    await load.run(lambda number: sessions[number].append(messages=[message()] * MESSAGES), calls=SESSIONS, in_flight=8)
    rows: list[tuple[str, ...]] = []
    for kind in _kinds(sessions):
        rows += [await _row(stage, kind, in_flight, seconds) for in_flight in IN_FLIGHT]
    for place, in_flight in enumerate(IN_FLIGHT):
        open_calls = await _open_calls(stage, round(seconds * ONCE_A_SECOND_MAX[place]) + 2 * WARM_UP_CALLS * in_flight)
        kind = Kind("CompleteToolCall", "SessionService/CompleteToolCall", open_calls, is_once=True)
        rows.append(await _row(stage, kind, in_flight, seconds))
    return [
        Table(
            "Each call, by the native generator, on sessions of 60 messages of 300 bytes and more", _HEADER, tuple(rows)
        ),
        await fan_out(stage, streams=IN_FLIGHT, seconds=seconds),
    ]


def _kinds(sessions: Sequence[SessionHandle]) -> Iterator[Kind]:
    def each(request: Callable[[str], Message]) -> list[Message]:
        return [request(one.session_id) for one in sessions]

    change = MemoryChange(keys=MemoryKeys(set={"extra": '{"note": "the road to the harbour was gone"}'}))
    yield Kind(
        "GetSession, newest 50",
        "SessionService/GetSession",
        each(lambda name: GetSessionRequest(session_id=name, recent_messages=50)),
    )
    yield Kind("GetContext", "SessionService/GetContext", each(lambda name: GetContextRequest(session_id=name)))
    yield Kind(
        "ListMessages, 50",
        "SessionService/ListMessages",
        each(lambda name: ListMessagesRequest(session_id=name, page_size=50)),
    )
    yield Kind("ListSessions, 50", "SessionService/ListSessions", [ListSessionsRequest(user_id=_USER, page_size=50)])
    yield Kind(
        "Append",
        "SessionService/Append",
        each(lambda name: AppendRequest(session_id=name, messages=[message()])),
    )
    yield Kind(
        "UpdateMemory, one key",
        "SessionService/UpdateMemory",
        each(lambda name: UpdateMemoryRequest(session_id=name, change=change)),
    )


async def _open_calls(stage: Stage, count: int) -> list[Message]:
    """Record so many tool calls, a hundred a session, and give the requests that end them."""
    sessions = await stage.sessions(-(-count // CALLS_A_MESSAGE), user_id=_USER)
    names = [f"c{number}" for number in range(CALLS_A_MESSAGE)]
    asked = assistant(tool_calls=[call(name, "search", {"q": "harbour"}) for name in names])
    await load.run(lambda number: sessions[number].append(messages=[asked]), calls=len(sessions), in_flight=8)
    # A session's calls are not ended one behind the other.
    return [
        CompleteToolCallRequest(session_id=one.session_id, call_id=name, result_json='{"found": "the harbour"}')
        for name in names
        for one in sessions
    ]


async def _row(stage: Stage, kind: Kind, in_flight: int, seconds: float) -> tuple[str, ...]:
    token = stage.server.token(tenant="bench", user="bench")
    async with prepared(stage.server.target, token, kind.method, kind.requests) as calls:
        disk, log = await stage.database.disk_bytes(), await stage.database.log_bytes()
        server, backends = _worked(stage)
        made = await calls.run(in_flight=in_flight, seconds=seconds, calls=len(kind.requests) if kind.is_once else None)
        spent, spent_behind = (after - before for after, before in zip(_worked(stage), (server, backends), strict=True))
        log, disk = await stage.database.log_bytes() - log, await stage.database.disk_bytes() - disk
    count = made.answered
    return (
        kind.name,
        str(in_flight),
        f"{made.rate:,.0f}",
        f"{made.p50_ms:.2f} ms",
        f"{made.p99_ms:.2f} ms",
        f"{spent / count * 1e6:.0f} µs",
        f"{spent_behind / count * 1e6:.0f} µs",
        f"{log / count:,.0f} B",
        f"{max(disk, 0) / count:,.0f} B",
        f"{made.bytes_per_answer:,.0f} B",
        str(made.turned_away),
    )


def _worked(stage: Stage) -> tuple[float, float]:
    return processes.cpu_seconds(stage.server.process.pid), processes.children_cpu_seconds(stage.postmaster_pid)
