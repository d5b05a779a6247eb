"""What carries wake-ups between processes: the one small interface, and the error of it."""

from collections.abc import Callable
from typing import Protocol


class BusLostError(Exception):
    """The bus can't be reached, or the connection to it broke."""


class Bus(Protocol):
    """Carries payloads to every process that listens, at most once, in no promised order."""

    payload_bytes_max: int
    """The largest payload that it carries."""

    async def connect(self, heard: Callable[[bytes], None]) -> None:
        """Listen: `heard` is called in the event loop for each payload. Raises BusLostError."""

    async def send(self, payload: bytes) -> None:
        """Send a payload, and thereby find out whether the connection still stands. Raises BusLostError."""

    async def close(self) -> None:
        """Let the connection go; harmless where there is none."""
