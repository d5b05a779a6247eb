"""Runs: what a fence costs an append, and what a renewal costs."""

from statistics import median

import load
from direct import LEASE, TIMEOUT, again, direct, engine
from lockstitch.v1.run_pb2 import Fence
from lockstitch.v1.run_service_pb2 import RenewRunRequest
from lockstitch.v1.session_service_pb2 import AppendRequest
from results import Figure, Target
from stage import Stage, message

IN_FLIGHT = 32
SESSIONS = 200


async def fenced_and_renewed(stage: Stage, *, rounds: int, calls: int) -> list[Target | Figure]:
    """Alternate rounds of plain and fenced appends, then of echoes and renewals; ratios are medians of neighbours'."""
    async with engine(stage) as calling, direct(stage.echo_target, "none") as echoing:
        names = [await calling.create(f"run-{number}") for number in range(SESSIONS)]
        fences = [await calling.start_run(name) for name in names]

        async def plain(number: int) -> object:
            return await calling.append(names[number % SESSIONS], f"p{number}")

        async def fenced(number: int) -> object:
            return await calling.append(names[number % SESSIONS], f"f{number}", fences[number % SESSIONS])

        async def renewed(number: int) -> object:
            request = _renewal(names, fences, number)
            return await again(lambda: calling.runs.RenewRun(request, metadata=calling.metadata, timeout=TIMEOUT))

        async def echoed(number: int) -> object:
            request = AppendRequest(request_id=str(number), session_id=names[0], messages=[message()])
            return await echoing.sessions.Append(request, metadata=echoing.metadata, timeout=TIMEOUT)

        appends = await _alternate(plain, fenced, rounds=rounds, calls=calls)
        renewals = await _alternate(echoed, renewed, rounds=rounds, calls=calls)
    return [
        Target("fenced_append_vs_plain", _ratio(appends)),
        Target("renew_vs_echo", _ratio(renewals)),
        Figure("renewals a second at 32 in flight", f"{median(other for _, other in renewals):,.0f}"),
    ]


def _renewal(names: list[str], fences: list[Fence], number: int) -> RenewRunRequest:
    place = number % SESSIONS
    return RenewRunRequest(session_id=names[place], fence=fences[place], lease=LEASE)


async def _alternate(one: load.Call, other: load.Call, *, rounds: int, calls: int) -> list[tuple[float, float]]:
    rates: list[tuple[float, float]] = []
    for turn in range(rounds + 1):
        first = await load.run(one, calls=calls, in_flight=IN_FLIGHT, first=turn * calls)
        second = await load.run(other, calls=calls, in_flight=IN_FLIGHT, first=turn * calls)
        rates.append((first.rate, second.rate))
    # The first turn warmed both.
    return rates[1:]


def _ratio(rates: list[tuple[float, float]]) -> float:
    return median(other / one for one, other in rates)
