"""Waiting for a condition, never for a time."""

import asyncio
import time
from collections.abc import Awaitable, Callable

POLL_SECONDS = 0.01


async def until(condition: Callable[[], bool], what: str, seconds: float = 20) -> None:
    """Wait until a condition holds."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"never came about: {what}") from None


async def until_true(condition: Callable[[], Awaitable[object]], what: str, seconds: float = 20) -> None:
    """Wait likewise, where the condition must be asked for."""
    try:
        async with asyncio.timeout(seconds):
            while not await condition():
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"never came about: {what}") from None


def until_blocking(condition: Callable[[], bool], what: str, seconds: float = 20) -> None:
    """Wait likewise, where no event loop runs."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"never came about: {what}")
        time.sleep(POLL_SECONDS)
