"""openai-agents' SQLAlchemySession."""

from agents.extensions.memory import SQLAlchemySession
from sqlalchemy.ext.asyncio import create_async_engine


class OpenaiAgents:
    """One engine, and a session object for each conversation."""

    def __init__(self, url: str) -> None:
        """Connect with its own defaults."""
        self.refused = 0
        self._engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))
        self._sessions: dict[str, SQLAlchemySession] = {}

    async def make(self, session_id: str) -> None:
        """Begin a conversation; its rows come with its first message."""
        session = SQLAlchemySession(session_id, engine=self._engine, create_tables=not self._sessions)
        self._sessions[session_id] = session
        await session.get_items(limit=1)

    async def append(self, session_id: str, text: str) -> None:
        """Add a message."""
        await self._sessions[session_id].add_items([_item(text)])

    async def append_among_others(self, session_id: str, text: str) -> None:
        """It knows no versions."""
        await self.append(session_id, text)

    async def grow(self, session_id: str, texts: list[str]) -> None:
        """Many at once."""
        await self._sessions[session_id].add_items([_item(text) for text in texts])

    async def texts(self, session_id: str) -> list[str]:
        """Load a conversation."""
        return [item["content"] for item in await self._sessions[session_id].get_items()]

    async def newest(self, session_id: str, count: int) -> list[str] | None:
        """Load its newest messages."""
        return [item["content"] for item in await self._sessions[session_id].get_items(limit=count)]

    async def close(self) -> None:
        """Close its connections."""
        await self._engine.dispose()


def _item(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
