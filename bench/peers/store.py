"""What every peer is asked to do, as its users would do it."""

from typing import Protocol


class Store(Protocol):
    """A library that keeps conversations on Postgres."""

    refused: int
    """How often a write had to read again and to try again."""

    async def make(self, session_id: str) -> None:
        """Begin a conversation."""

    async def append(self, session_id: str, text: str) -> None:
        """Add a message to a conversation that nobody else writes."""

    async def append_among_others(self, session_id: str, text: str) -> None:
        """Add a message to a conversation that others write at the same time, until it is acknowledged."""

    async def grow(self, session_id: str, texts: list[str]) -> None:
        """Add many messages to a conversation, in whatever way is the quickest."""

    async def texts(self, session_id: str) -> list[str]:
        """Load a conversation."""

    async def newest(self, session_id: str, count: int) -> list[str] | None:
        """Load its newest messages; None where the library cannot but load all."""

    async def close(self) -> None:
        """Close its connections."""
