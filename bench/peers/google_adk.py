"""google-adk's DatabaseSessionService."""

from itertools import count

from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.database_session_service import DatabaseSessionService
from google.adk.sessions.session import Session
from google.genai.types import Content, Part

import load

_NAMES = {"app_name": "bench", "user_id": "bench"}


class GoogleAdk:
    """Keeps the session that a turn works on, as its runner does; only where others write is it read anew."""

    def __init__(self, url: str) -> None:
        """Connect with its own defaults."""
        self.refused = 0
        self._service = DatabaseSessionService(url.replace("postgresql://", "postgresql+asyncpg://", 1))
        self._sessions: dict[str, Session] = {}

    async def make(self, session_id: str) -> None:
        """Begin a conversation."""
        self._sessions[session_id] = await self._service.create_session(**_NAMES, session_id=session_id)

    async def append(self, session_id: str, text: str) -> None:
        """Add a message."""
        await self._service.append_event(self._sessions[session_id], _event(text))

    async def append_among_others(self, session_id: str, text: str) -> None:
        """Read, add, and read again where somebody was quicker."""
        for refusals in count(1):
            session = await self._session(session_id)
            try:
                await self._service.append_event(session, _event(text))
            except StaleSessionError:
                self.refused += 1
                await load.back_off(refusals)
            else:
                return

    async def grow(self, session_id: str, texts: list[str]) -> None:
        """One by one: there is no other way."""
        for text in texts:
            await self.append(session_id, text)

    async def texts(self, session_id: str) -> list[str]:
        """Load a conversation."""
        return _texts(await self._session(session_id))

    async def newest(self, session_id: str, count: int) -> list[str] | None:
        """Load its newest messages."""
        return _texts(await self._session(session_id, GetSessionConfig(num_recent_events=count)))

    async def close(self) -> None:
        """Close its connections."""
        await self._service.close()

    async def _session(self, session_id: str, config: GetSessionConfig | None = None) -> Session:
        session = await self._service.get_session(**_NAMES, session_id=session_id, config=config)
        if session is None:
            raise KeyError(session_id)
        return session


def _event(text: str) -> Event:
    return Event(author="user", invocation_id="bench", content=Content(role="user", parts=[Part(text=text)]))


def _texts(session: Session) -> list[str]:
    return [event.content.parts[0].text for event in session.events]
