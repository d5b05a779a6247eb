"""Lockstitch, by its Python client over gRPC: the same work, done by the same loop."""

import os
from itertools import count

import load
from lockstitch import Client, SessionHandle, VersionConflict, user

_BATCH = 100


class LockstitchClient:
    """One client, and a handle for each conversation."""

    def __init__(self, target: str) -> None:
        """Connect at the first use."""
        self.refused = 0
        self._client = Client(target, token=os.environ["LOCKSTITCH_TOKEN"])
        self._sessions: dict[str, SessionHandle] = {}

    async def make(self, session_id: str) -> None:
        """Begin a conversation."""
        self._sessions[session_id] = await self._client.create(session_id=session_id, user_id="bench")

    async def append(self, session_id: str, text: str) -> None:
        """Add a message."""
        await self._sessions[session_id].append(messages=[user(text)])

    async def append_among_others(self, session_id: str, text: str) -> None:
        """Read, add, and read again where somebody was quicker."""
        session = self._client.session(session_id)
        for refusals in count(1):
            await session.get()
            try:
                await session.append(messages=[user(text)], expected_version=session.version)
            except VersionConflict:
                self.refused += 1
                await load.back_off(refusals)
            else:
                return

    async def grow(self, session_id: str, texts: list[str]) -> None:
        """As many at once as a call takes."""
        for first in range(0, len(texts), _BATCH):
            await self._sessions[session_id].append(messages=[user(text) for text in texts[first : first + _BATCH]])

    async def texts(self, session_id: str) -> list[str]:
        """Load a conversation."""
        pages = self._client.session(session_id).messages(page_size=1000)
        return [message.parts[0].text async for message in pages]

    async def newest(self, session_id: str, count: int) -> list[str] | None:
        """Load its newest messages."""
        got = await self._sessions[session_id].get(recent_messages=count)
        return [message.parts[0].text for message in got.messages]

    async def close(self) -> None:
        """Close its connection."""
        await self._client.close()
