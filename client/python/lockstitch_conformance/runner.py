"""Runs checks against a target, a few at a time, and tells how each went."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from grpc import aio

from lockstitch.v1.admin_service_pb2 import GetServerInfoResponse
from lockstitch_conformance.suite import Broken, Check
from lockstitch_conformance.target import Target
from lockstitch_conformance.world import World, world_of

CHECK_SECONDS_MAX = 120.0
AT_A_TIME = 4


class Verdict(StrEnum):
    """How a check went."""

    KEPT = "kept"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A check that was made."""

    check: Check
    verdict: Verdict
    what: str
    """What was found in place of what was promised; empty where it was kept."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the suite."""

    target: str
    info: GetServerInfoResponse
    outcomes: list[Outcome]
    seconds: float

    @property
    def broken(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.verdict is Verdict.BROKEN]


async def run_suite(
    target: Target,
    checks: Sequence[Check],
    *,
    at_a_time: int = AT_A_TIME,
    told: Callable[[Outcome], None] = lambda _: None,
) -> Run:
    """Make the checks; `told` hears of each as it is done."""
    begun = time.monotonic()
    places = asyncio.Semaphore(at_a_time)
    async with world_of(target) as world:

        async def made(check: Check) -> Outcome:
            async with places:
                outcome = await _made(check, world)
            told(outcome)
            return outcome

        outcomes = await asyncio.gather(*map(made, checks))
    return Run(target.address, world.info, outcomes, time.monotonic() - begun)


async def _made(check: Check, world: World) -> Outcome:
    begun = time.monotonic()
    verdict, what = Verdict.KEPT, ""
    try:
        await asyncio.wait_for(check.attempt(world), CHECK_SECONDS_MAX)
    except Broken as broken:
        verdict, what = Verdict.BROKEN, str(broken)
    except aio.AioRpcError as error:
        # A call that the check takes to be one that is answered.
        verdict, what = Verdict.BROKEN, f"a call failed: {error.code().name}: {error.details()}"
    except TimeoutError:
        verdict, what = Verdict.BROKEN, f"took longer than {CHECK_SECONDS_MAX:.0f} s"
    except Exception as error:  # noqa: BLE001 - an answer that a check can't even read is not what was promised
        verdict, what = Verdict.BROKEN, f"{type(error).__name__}: {error}"
    return Outcome(check, verdict, what, time.monotonic() - begun)
