"""Background tasks, and how they are ended."""

import asyncio
from typing import Any

_AGAIN_SECONDS = 2.0


async def ended(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait for their end; what they failed with is seen and left.

    They are cancelled again where they go on: a call that ends in the very moment of being cancelled ends as if it were
    not, in grpc.aio 1.85 and in some of asyncio's own waits before Python 3.12.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
