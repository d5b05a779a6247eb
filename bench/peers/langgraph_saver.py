"""langgraph's AsyncPostgresSaver, with the messages of a conversation in a channel, as its graphs have them."""

from contextlib import AsyncExitStack
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

_CHANNEL = "messages"


class LanggraphSaver:
    """One saver from a connection string, as its documentation has it."""

    def __init__(self, url: str) -> None:
        """Connect at the first use."""
        self.refused = 0
        self._url = url
        self._open = AsyncExitStack()
        self._saver: AsyncPostgresSaver | None = None

    async def make(self, session_id: str) -> None:
        """Begin a conversation: its first checkpoint."""
        await self.grow(session_id, [])

    async def append(self, session_id: str, text: str) -> None:
        """A step: the state is read, and the one with a message more is put."""
        await self.grow(session_id, [text])

    async def append_among_others(self, session_id: str, text: str) -> None:
        """It compares nothing."""
        await self.grow(session_id, [text])

    async def grow(self, session_id: str, texts: list[str]) -> None:
        """One step with many messages."""
        saver = await self._ready()
        config: Any = {"configurable": {"thread_id": session_id, "checkpoint_ns": ""}}
        saved = await saver.aget_tuple(config)
        messages = saved.checkpoint["channel_values"].get(_CHANNEL, []) if saved else []
        known = saved.checkpoint["channel_versions"].get(_CHANNEL) if saved else None
        versions = {_CHANNEL: saver.get_next_version(known, None)}
        checkpoint = empty_checkpoint()
        checkpoint["id"] = str(uuid6(clock_seq=-2))
        checkpoint["channel_values"] = {_CHANNEL: [*messages, *(HumanMessage(text) for text in texts)]}
        checkpoint["channel_versions"] = dict(versions)
        step = {"source": "loop", "step": len(messages), "parents": {}}
        await saver.aput(saved.config if saved else config, checkpoint, step, versions)

    async def texts(self, session_id: str) -> list[str]:
        """Load a conversation."""
        saver = await self._ready()
        saved = await saver.aget_tuple({"configurable": {"thread_id": session_id}})
        return [str(message.content) for message in saved.checkpoint["channel_values"][_CHANNEL]] if saved else []

    async def newest(self, _session_id: str, _count: int) -> list[str] | None:
        """It loads all or nothing."""
        return None

    async def close(self) -> None:
        """Close its connection."""
        await self._open.aclose()

    async def _ready(self) -> AsyncPostgresSaver:
        if self._saver is None:
            saver = await self._open.enter_async_context(AsyncPostgresSaver.from_conn_string(self._url))
            await saver.setup()
            self._saver = saver
        return self._saver
