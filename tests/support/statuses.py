"""The status of a session, by every read that has one."""

from typing import Any

from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED
from support.rpc import Rpc


async def status_everywhere(engine: Rpc, session_id: str) -> list[Any]:
    """Ask for it; the session is the only one that the caller sees."""
    got = (await engine.GetSession(session_id=session_id)).session.status
    context = (await engine.GetContext(session_id=session_id)).session.status
    (listed,) = (await engine.ListSessions()).sessions
    filtered = [
        status
        for status in (SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED)
        if (await engine.ListSessions(statuses=[status])).sessions
    ]
    return [got, context, listed.status, *filtered]
