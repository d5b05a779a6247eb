"""What a check is: one promise of the contract in a sentence, and what finds out whether it is kept."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from lockstitch_conformance.world import World

Attempt: TypeAlias = "Callable[[World], Awaitable[None]]"

SHOWN_CHARACTERS_MAX = 300


class Broken(Exception):
    """The target does otherwise than it promised."""


@dataclass(frozen=True, slots=True)
class Check:
    """One promise."""

    category: str
    name: str
    promise: str
    attempt: Attempt

    @property
    def full_name(self) -> str:
        return f"{self.category}/{self.name}"


class Category:
    """Promises that belong together."""

    def __init__(self, name: str, about: str) -> None:
        self.name = name
        self.about = about
        self.checks: list[Check] = []

    def promise(self, sentence: str) -> Callable[[Attempt], Attempt]:
        """Take a function as the check of this promise; its name is the check's."""

        def take(attempt: Attempt) -> Attempt:
            name = getattr(attempt, "__name__", "").replace("_", "-")
            self.checks.append(Check(self.name, name, sentence, attempt))
            return attempt

        return take


def holds(is_so: object, otherwise: str) -> None:
    """Say what is wrong unless something is so."""
    if not is_so:
        raise Broken(otherwise)


def same(given: Any, wanted: Any, what: str) -> None:
    """Say what is wrong unless two things are equal."""
    if given != wanted:
        raise Broken(f"{what}: {shown(given)}, not {shown(wanted)}")


def shown(value: object) -> str:
    """Give a value as a report has it."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN_CHARACTERS_MAX else f"{text[:SHOWN_CHARACTERS_MAX]}…"
