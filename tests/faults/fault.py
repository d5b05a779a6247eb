"""A fault: a name, what breaks, and what makes it whole again. And what it is played on."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from faults.recorder import Recorder
from faults.servers import Servers
from faults.stage import Server, Stage
from faults.traffic import Traffic

BOTH_SHARE = 0.2
"""So often what may befall one server befalls both at once."""


@dataclass
class Play:
    """What a fault has to do with: the stage, the traffic on it, and the luck that is drawn."""

    stage: Stage
    recorder: Recorder
    servers: Servers
    traffic: Traffic
    random: Random
    turn: int = 0
    """How often the fault has been applied."""

    def one(self) -> Server:
        """One of the servers."""
        return self.random.choice(self.stage.servers)

    def some(self) -> list[Server]:
        """One of the servers, or both."""
        return self.stage.servers if self.random.random() < BOTH_SHARE else [self.one()]


Needs: TypeAlias = Literal["", "small disk", "clock of its own"]
"""What the stage's database must have."""
Breaks: TypeAlias = Callable[[Play], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """What can go wrong."""

    name: str
    breaks: Breaks
    """Applied by being entered, healed by being left; when it is left, the servers run."""
    hold: tuple[float, float]
    """How long it lasts, in seconds, at least and at most."""
    variants: int
    """In how many ways it is applied, one after the other."""
    missing: Callable[[], str]
    """Why it can't be played on this machine; nothing where it can."""
    needs: Needs


FAULTS: dict[str, Fault] = {}


def add(
    name: str,
    breaks: Breaks,
    *,
    hold: tuple[float, float],
    variants: int = 1,
    missing: Callable[[], str] = str,
    needs: Needs = "",
) -> None:
    """Take a fault up into the list."""
    if name in FAULTS:
        raise ValueError(f"two faults are named {name}")
    FAULTS[name] = Fault(name, breaks, hold, variants, missing, needs)


def fault(
    name: str,
    *,
    hold: tuple[float, float] = (0.2, 3.0),
    variants: int = 1,
    missing: Callable[[], str] = str,
    needs: Needs = "",
) -> Callable[[Callable[[Play], AsyncIterator[None]]], Breaks]:
    """Make a fault of a generator: what stands before its yield applies it, what stands behind heals it."""

    def made(breaks: Callable[[Play], AsyncIterator[None]]) -> Breaks:
        managed = asynccontextmanager(breaks)
        add(name, managed, hold=hold, variants=variants, missing=missing, needs=needs)
        return managed

    return made
