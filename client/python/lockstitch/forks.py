"""Forks: new sessions made out of one as it was."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import Mapping
from datetime import timedelta
from typing import Self

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.v1.session_service_pb2 import ForkSessionRequest
from lockstitch.wire import Sendable, checked_labels


class SessionForks(SessionChanges):
    """How a session branches; :class:`lockstitch.SessionHandle` says what every change takes."""

    async def fork(
        self,
        *,
        at_version: int | None = None,
        new_session_id: str = "",
        title: str = "",
        labels: Mapping[str, str] | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> Self:
        """Makes a new session out of this one, and gives its handle. This one stays as it is.

        The fork has the same messages under the same seqs, the memory and the tool calls, all as of its version 1;
        calls that were open are open there. It has no runs, no checkpoints, and no record of request_ids.
        ``info.forked_from`` names this session and the version; ``client.list(forked_from=…)`` finds its forks.

        Args:
            at_version: The version that is copied; None is the present one.
            new_session_id: Your own id for the fork; the server makes one otherwise.
            title: A title for people; this session's where empty.
            labels: Labels to list by; none come along.
            request_id, timeout: See the class.

        Raises:
            InvalidField: Some call's result lies behind ``at_version``; ``error.metadata`` has ``nearest_below`` and
                ``nearest_above``, the versions that can be forked.
            CursorAhead: The session was never at this version.
            SessionExists: ``new_session_id`` is taken.

        Example:
            ``branch = await session.fork(at_version=7); await branch.append(messages=[user("what if?")])``
        """
        request_id = request_id or new_request_id()
        with Sendable("fork"):
            request = ForkSessionRequest(
                request_id=request_id,
                session_id=self.session_id,
                at_version=at_version,
                new_session_id=new_session_id,
                title=title,
                labels=checked_labels(labels),
            )
        response = await self._transport.call(
            lambda to: to.sessions.ForkSession, request, timeout=timeout, request_id=request_id
        )
        forked = type(self)(self._transport, response.session.session_id)
        forked._made(response.receipt, None)  # noqa: SLF001 - a handle of its own kind
        forked._note(response.session)  # noqa: SLF001
        return forked
