"""What operators ask of a server, over a client."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from datetime import UTC, datetime, timedelta

from lockstitch.changes import new_request_id
from lockstitch.transport import Transport
from lockstitch.v1.admin_service_pb2 import (
    EraseUserRequest,
    GetServerInfoRequest,
    GetServerInfoResponse,
    PurgeSessionRequest,
)
from lockstitch.versions import refuse_other_versions
from lockstitch.wire import Sendable

_ERASURE_TIMEOUT = timedelta(minutes=1)


class Administration:
    """The administrative part of :class:`lockstitch.Client`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def server_info(self, *, timeout: timedelta | None = None) -> GetServerInfoResponse:
        """What the server is and which limits it holds. For engines and admins.

        Example:
            ``print((await client.server_info()).limits.append_messages_max)``
        """
        return await self._transport.call(lambda to: to.admin.GetServerInfo, GetServerInfoRequest(), timeout=timeout)

    async def check_server(self, *, timeout: timedelta | None = None) -> GetServerInfoResponse:
        """Makes sure that this client fits the server, and gives its :meth:`server_info`. For engines and admins.

        Within a major version the wire only grows, so a server fits from 0.1.0 on, and before 1.0.0.

        Raises:
            ServerTooOld: It lacks what this client calls, or says no version.
            ServerTooNew: It is of a later major version.

        Example:
            ``print("speaking to", (await client.check_server()).version)``
        """
        info = await self.server_info(timeout=timeout)
        refuse_other_versions(info.version)
        return info

    async def purge(
        self, session_id: str, *, force: bool = False, request_id: str = "", timeout: timedelta = _ERASURE_TIMEOUT
    ) -> datetime:
        """Deletes all content of a session for good, whatever its state, and gives when, in UTC. For admins.

        Its id stays taken; every other call on it raises :class:`lockstitch.SessionNotFound` from now on.

        Args:
            session_id: Which session.
            force: Purges it even while a run is active.
            request_id: Filled in when left out; the same one gives the same answer again.
            timeout: For all attempts together; a long session takes longer.

        Raises:
            RunActive, RoleNotAllowed
            SessionNotFound: There is none, or it was purged with another request_id.

        Example:
            ``await client.purge(session_id)``
        """
        request_id = request_id or new_request_id()
        with Sendable("purge"):
            request = PurgeSessionRequest(request_id=request_id, session_id=session_id, force=force)
        response = await self._transport.call(
            lambda to: to.admin.PurgeSession, request, timeout=timeout, request_id=request_id
        )
        return response.purge_time.ToDatetime(tzinfo=UTC)

    async def erase_user(self, user_id: str, *, request_id: str = "", timeout: timedelta = _ERASURE_TIMEOUT) -> int:
        """Purges all sessions of a user, runs or not, until none remains, and gives how many these were. For admins.

        It asks as often as it takes. What was purged stays so, however a call ends: after an error call it again, and
        it goes on with what remains (and counts that alone).

        Args:
            user_id: Whose sessions.
            request_id: Filled in when left out; the server's log names it.
            timeout: Of each call, all its attempts together.

        Raises:
            RoleNotAllowed, Unavailable, DeadlineExceeded

        Example:
            ``print(await client.erase_user("u1"), "sessions erased")``
        """
        request_id = request_id or new_request_id()
        with Sendable("erase_user"):
            request = EraseUserRequest(request_id=request_id, user_id=user_id)
        purged = 0
        while True:
            response = await self._transport.call(
                lambda to: to.admin.EraseUser, request, timeout=timeout, request_id=request_id
            )
            purged += response.sessions_purged
            if not response.sessions_remaining:
                return purged
