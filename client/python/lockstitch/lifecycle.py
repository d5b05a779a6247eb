"""A session's life: closed, restored, deleted, and taken back from deletion."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from datetime import datetime, timedelta

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.v1.session_service_pb2 import (
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    RestoreSessionRequest,
    RestoreSessionResponse,
    UndeleteSessionRequest,
    UndeleteSessionResponse,
)
from lockstitch.wire import Sendable, duration, timestamp


class SessionLife(SessionChanges):
    """How a session ends and begins again; :class:`lockstitch.SessionHandle` says what every change takes."""

    async def close(
        self,
        *,
        reason: str = "",
        force: bool = False,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CloseSessionResponse:
        """Closes the session: it takes no more changes until it is restored. Closing a closed one changes nothing.

        Args:
            reason: Why, at most 1,024 characters.
            force: Closes it even while a run is active, which ends as CANCELLED and is fenced. For engines and admins.
            expected_version, request_id, timeout: See the class.

        Raises:
            RunActive: A run is active.

        Example:
            ``await session.close(reason="resolved")``
        """
        request_id = request_id or new_request_id()
        with Sendable("close"):
            request = CloseSessionRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                reason=reason,
                force=force,
            )
        response = await self._call(
            lambda to: to.sessions.CloseSession, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        self._note(response.session)
        return response

    async def restore(
        self,
        *,
        expire_time: datetime | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> RestoreSessionResponse:
        """Makes a closed or expired session active again. Restoring an active one changes nothing.

        Args:
            expire_time: When its new life ends, with a time zone; or
            ttl: how long it lasts from now, 1 second to 100 years. One of them is needed where its time has passed.
            expected_version, request_id, timeout: See the class.

        Raises:
            SessionExpired: Its time has passed, and no new life was given.

        Example:
            ``await session.restore(ttl=timedelta(days=30))``
        """
        request_id = request_id or new_request_id()
        with Sendable("restore"):
            request = RestoreSessionRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                expire_time=timestamp(expire_time, field="expire_time"),
                ttl=duration(ttl),
            )
        response = await self._call(
            lambda to: to.sessions.RestoreSession, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        self._note(response.session)
        return response

    async def delete(
        self,
        *,
        force: bool = False,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> DeleteSessionResponse:
        """Deletes the session: only who asks for deleted ones (``show_deleted``) still sees it.

        It can be undeleted until its ``purge_time``, 30 days from now unless the server is set otherwise; then its
        content goes for good. Its id stays taken. Deleting a deleted one changes nothing.

        Args:
            force: Deletes it even while a run is active, which ends as CANCELLED and is fenced. For engines and admins.
            expected_version, request_id, timeout: See the class.

        Raises:
            RunActive: A run is active.

        Example:
            ``print((await session.delete()).session.purge_time)``
        """
        request_id = request_id or new_request_id()
        with Sendable("delete"):
            request = DeleteSessionRequest(
                request_id=request_id, session_id=self.session_id, expected_version=expected_version, force=force
            )
        response = await self._call(
            lambda to: to.sessions.DeleteSession, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        self._note(response.session)
        return response

    async def undelete(
        self,
        *,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UndeleteSessionResponse:
        """Makes a deleted session what it was. Undeleting one that is not deleted changes nothing.

        Args:
            expected_version, request_id, timeout: See the class.

        Raises:
            SessionNotFound: There is none, or its ``purge_time`` has passed.

        Example:
            ``await client.session(session_id).undelete()``
        """
        request_id = request_id or new_request_id()
        with Sendable("undelete"):
            request = UndeleteSessionRequest(
                request_id=request_id, session_id=self.session_id, expected_version=expected_version
            )
        response = await self._call(
            lambda to: to.sessions.UndeleteSession, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        self._note(response.session)
        return response
