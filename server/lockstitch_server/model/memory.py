"""Working memory and its changes."""

from dataclasses import dataclass, field
from enum import IntEnum


class MemoryScope(IntEnum):
    """Which keys a memory change deletes unless it sets them."""

    NAMED = 0
    ALL = 1
    EXTRA = 2


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """A change of working memory, as keys."""

    path: str
    """The request's field, for errors."""
    values: dict[bytes, bytes | None]
    """JSON text a key; None deletes."""
    scope: MemoryScope = MemoryScope.NAMED
    needs_guard: bool = False
    expected_key_versions: dict[bytes, int] = field(default_factory=dict)
    """For keys that were read and merged: the version they were read at, 0 for absent."""
    run_id: str = ""
    """The run whose own memory it is; empty for the session's."""
    requested: bytes = b""
    """The MemoryChange that was asked for, serialized, for the commit."""


@dataclass(frozen=True, slots=True)
class MemoryPatch:
    """A JSON merge patch of working memory, before it met what it changes."""

    patch: bytes
    path: str
    """The request's field, for errors."""
    requested: bytes
    run_id: str = ""
    """The run whose own memory it is; empty for the session's."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Working memory at one version: JSON text a top-level key."""

    values: dict[bytes, bytes]
    version: int
    erased: bool = False
    """Whether values that it held at that version were erased since."""
