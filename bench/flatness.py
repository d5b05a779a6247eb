"""Whether a long session costs more than a short one: reading its end, and appending to it."""

from statistics import median

import load
from lockstitch import SessionHandle
from results import Figure, Target
from stage import Stage, message

IN_FLIGHT = 32
RECENT = 50
TENTH = 10


async def read_and_append(stage: Stage, *, long: int, rounds: int, calls: int) -> list[Target | Figure]:
    """Grow one long session among many short ones, then compare, by turns: reads of the newest 50, and appends."""
    big, *others = await stage.sessions(1 + 3 * long // RECENT)
    await _grow(big, others, long)
    return [*await _reads(big, others, rounds, calls), *await _appends(stage, big, rounds, calls // 4)]


async def _grow(big: SessionHandle, others: list[SessionHandle], long: int) -> None:
    """One append in four goes to the long session, so that its rows lie scattered, as they would."""

    async def append(number: int) -> object:
        session = big if number % 4 == 0 else others[(number - number // 4) % len(others)]
        return await session.append(messages=[message()])

    await load.run(append, calls=4 * long, in_flight=IN_FLIGHT)


async def _reads(big: SessionHandle, others: list[SessionHandle], rounds: int, calls: int) -> list[Target | Figure]:
    async def read_long(_number: int) -> object:
        return await big.get(recent_messages=RECENT)

    async def read_short(number: int) -> object:
        return await others[number % len(others)].get(recent_messages=RECENT)

    long_reads: list[float] = []
    short_reads: list[float] = []
    for turn in range(-1, rounds):
        short = await load.run(read_short, calls=calls, in_flight=1, first=max(turn, 0) * calls)
        long = await load.run(read_long, calls=calls, in_flight=1)
        if turn >= 0:  # the first turn warms both up
            short_reads.append(short.p50_ms)
            long_reads.append(long.p50_ms)
    return [
        Target("get_50_of_5000_vs_50_of_50", _ratio(long_reads, short_reads)),
        Figure("GetSession with the newest 50 of 5,000, p50 at 1 in flight", f"{median(long_reads):.2f} ms"),
    ]


async def _appends(stage: Stage, big: SessionHandle, rounds: int, calls: int) -> list[Target | Figure]:
    fresh = await stage.sessions(rounds * calls)

    async def append_before(number: int) -> object:
        return await fresh[number % len(fresh)].append(messages=[message()])

    async def append_tenth(number: int) -> object:
        return await fresh[number].append(messages=[message()])

    async def append_long(_number: int) -> object:
        return await big.append(messages=[message()])

    await load.run(append_before, calls=(TENTH - 1) * len(fresh), in_flight=IN_FLIGHT)
    times: list[tuple[float, float]] = []
    log: list[tuple[float, float]] = []
    for turn in range(rounds):
        marks = [await stage.database.log_bytes()]
        tenth = await load.run(append_tenth, calls=calls, in_flight=1, first=turn * calls)
        marks.append(await stage.database.log_bytes())
        long = await load.run(append_long, calls=calls, in_flight=1)
        marks.append(await stage.database.log_bytes())
        times.append((long.p50_ms, tenth.p50_ms))
        log.append((marks[2] - marks[1], marks[1] - marks[0]))
    return [
        Target("append_flatness", median(long / tenth for long, tenth in times)),
        Target("append_flatness_wal", median(long / tenth for long, tenth in log)),
    ]


def _ratio(ones: list[float], others: list[float]) -> float:
    return median(one / other for one, other in zip(ones, others, strict=True))
