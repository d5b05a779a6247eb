"""From a command's flags to its end."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from lockstitch.cli.failures import Refused, sentence_of
from lockstitch.cli.settings import Connection, connection
from lockstitch.errors import LockstitchError

_T = TypeVar("_T")


def run(target: str, token_file: Path | None, command: Callable[[Connection], Awaitable[_T]]) -> _T:
    """Do what a command is about; what a call raises becomes one sentence."""
    chosen = connection(target, token_file)

    async def done() -> _T:
        return await command(chosen)

    try:
        return asyncio.run(done())
    except LockstitchError as error:
        raise Refused(sentence_of(error, target)) from error
