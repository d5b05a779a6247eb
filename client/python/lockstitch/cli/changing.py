"""`sessions close` and `sessions restore`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from lockstitch.cli.failures import about
from lockstitch.cli.output import console, is_terminal, moment, on_one_line, plain, write_json
from lockstitch.cli.settings import Connection
from lockstitch.v1.session_pb2 import Session


async def close_sessions(connection: Connection, session_ids: Sequence[str], reason: str) -> None:
    """Close sessions, one after the other."""
    async with connection.client() as client:
        for session_id in session_ids:
            with about(session_id, connection.target):
                _tell((await client.session(session_id).close(reason=reason)).session, "closed")


async def restore_sessions(
    connection: Connection, session_ids: Sequence[str], *, ttl: timedelta | None, expire_time: datetime | None
) -> None:
    """Restore sessions, one after the other."""
    async with connection.client() as client:
        for session_id in session_ids:
            with about(session_id, connection.target):
                response = await client.session(session_id).restore(ttl=ttl, expire_time=expire_time)
            _tell(response.session, "active")


def _tell(session: Session, status: str) -> None:
    if not is_terminal():
        write_json(plain(session))
        return
    until = f" until {moment(session.expire_time)}" if session.HasField("expire_time") else ""
    console().print(
        f"{on_one_line(session.session_id)} is {status}{until}, at version {session.version}", soft_wrap=True
    )
