"""What people use today, as they use it, on the same Postgres: the same work by each, and by lockstitch, by turns."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from contention import MESSAGES, WRITERS, Contended, one_session
from peer import LOCKSTITCH, PEERS, Peer, ours, peer
from peer_ratios import Taken, ratios, table
from results import Figure, Measured, NotMeasured
from stage import Stage

IN_FLIGHT = 32
TAIL = 20
ENDS_MIN = 20


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much is done."""

    sessions: int
    rounds: int
    read_rounds: int
    seconds: float
    long: int
    middle: int
    contend_seconds: float


FULL = Amounts(sessions=200, rounds=5, read_rounds=3, seconds=1.0, long=5000, middle=1000, contend_seconds=20.0)
QUICK = Amounts(sessions=10, rounds=2, read_rounds=1, seconds=0.05, long=100, middle=50, contend_seconds=1.0)
SHORT = 10


@dataclass(slots=True)
class Crowd:
    """All that are measured, and why some no longer are."""

    members: dict[str, Peer]
    failed: dict[str, str] = field(default_factory=dict)

    async def ask(self, name: str, command: str, **parameters: object) -> dict[str, Any]:
        """Ask one; one that fails is not asked again, and the others are."""
        if name not in self.members:
            return {}
        try:
            return await self.members[name].ask(command, **parameters)
        except Exception as error:
            if name == LOCKSTITCH:
                raise
            self.failed[name] = str(error)
            del self.members[name]
            return {}


async def what_people_use(stage: Stage, quick: bool) -> list[Measured]:  # noqa: FBT001 - as every part is called
    """Append, load, read the end and contend, by turns; ratios are medians of neighbours'."""
    amounts = QUICK if quick else FULL
    async with AsyncExitStack() as opened:
        crowd = Crowd({LOCKSTITCH: await opened.enter_async_context(ours(stage))})
        for name in PEERS:
            try:
                crowd.members[name] = await opened.enter_async_context(peer(stage, name))
            except (NotMeasured, RuntimeError, OSError) as error:
                crowd.failed[name] = str(error)
        taken = {name: Taken() for name in (LOCKSTITCH, *PEERS)}
        await _appends(stage, crowd, taken, amounts)
        await _reads(crowd, taken, amounts)
        measured, contended = await _contended(stage, crowd, taken, amounts)
    return [
        *measured,
        *ratios(taken, crowd.failed, contended),
        *(Figure(f"{name} was not measured to the end", why) for name, why in crowd.failed.items()),
        table(taken, contended),
    ]


async def _appends(stage: Stage, crowd: Crowd, taken: dict[str, Taken], amounts: Amounts) -> None:
    for name in list(crowd.members):
        await crowd.ask(name, "make", sessions=[f"{name}-{number}" for number in range(amounts.sessions)])
    calls = dict.fromkeys(crowd.members, amounts.sessions)
    disk: dict[str, int] = {}
    for turn in range(-1, amounts.rounds):
        if turn == 0:
            disk = {name: await member.disk_bytes() for name, member in crowd.members.items()}
        for name in list(crowd.members):
            log = await stage.database.log_bytes()
            told = await crowd.ask(name, "append", calls=calls[name], in_flight=IN_FLIGHT)
            log = await stage.database.log_bytes() - log
            if turn >= 0 and told:  # the first turn warms up, and says how many calls the others are
                taken[name].appends.append(told["rate"])
                taken[name].log.append(log / calls[name])
            elif told:
                calls[name] = max(IN_FLIGHT, round(told["rate"] * amounts.seconds))
        for name in list(crowd.members):
            told = await crowd.ask(name, "append", calls=_alone(calls[name]), in_flight=1)
            if turn >= 0 and told:
                taken[name].singles.append(told["p50_ms"])
    for name, member in crowd.members.items():
        appended = amounts.rounds * (calls[name] + _alone(calls[name]))
        taken[name].disk = (await member.disk_bytes() - disk[name]) / appended


def _alone(calls: int) -> int:
    """How many are made one at a time, beside so many that are made at once."""
    return max(calls // 4, 10)


async def _reads(crowd: Crowd, taken: dict[str, Taken], amounts: Amounts) -> None:
    await asyncio.gather(*(_grow(crowd, name, amounts) for name in list(crowd.members)))
    calls = dict.fromkeys(crowd.members, IN_FLIGHT)
    ends = dict.fromkeys(crowd.members, ENDS_MIN)
    for turn in range(-1, amounts.read_rounds):
        for name in list(crowd.members):
            told = await _load(crowd, name, amounts.middle, calls[name])
            if turn >= 0 and told:
                taken[name].loads.append(told["rate"])
            elif told:
                calls[name] = max(IN_FLIGHT, round(told["rate"] * amounts.seconds))
        for name in list(crowd.members):
            long = await _newest(crowd, name, amounts.long, ends[name])
            short = await _newest(crowd, name, SHORT, ends[name])
            if turn >= 0 and long and short:
                taken[name].tails.append(long["p50_ms"])
                taken[name].short_tails.append(short["p50_ms"])
            elif short:
                ends[name] = max(ENDS_MIN, round(short["rate"] * amounts.seconds / 2))


async def _grow(crowd: Crowd, name: str, amounts: Amounts) -> None:
    for messages in (SHORT, amounts.middle, amounts.long):
        if messages != amounts.long or await _newest(crowd, name, SHORT, 1):
            await crowd.ask(name, "grow", session=f"{name}-of-{messages}", messages=messages)


async def _load(crowd: Crowd, name: str, messages: int, calls: int) -> dict[str, Any]:
    session = f"{name}-of-{messages}"
    return await crowd.ask(name, "load", session=session, messages=messages, calls=calls, in_flight=IN_FLIGHT)


async def _newest(crowd: Crowd, name: str, messages: int, calls: int) -> dict[str, Any]:
    if name == "langgraph":
        return {}  # it loads all or nothing
    found = min(TAIL, messages)
    return await crowd.ask(name, "newest", session=f"{name}-of-{messages}", count=TAIL, found=found, calls=calls)


async def _contended(
    stage: Stage, crowd: Crowd, taken: dict[str, Taken], amounts: Amounts
) -> tuple[list[Measured], Contended]:
    """Thirty-two writers on one session: what is lost, and in how long."""
    measured, contended = await one_session(stage)
    for name in list(crowd.members):
        if name != LOCKSTITCH:
            taken[name].contended = await crowd.ask(
                name,
                "contend",
                session=f"{name}-contended",
                writers=WRITERS,
                messages=MESSAGES,
                seconds_max=amounts.contend_seconds,
            )
    return measured, contended
