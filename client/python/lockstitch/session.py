"""The handle of one session: everything that can be done to it, over the client that gave it."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import Enum

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.changes import new_request_id
from lockstitch.checkpoints import SessionCheckpoints
from lockstitch.following import SessionFollowing
from lockstitch.forks import SessionForks
from lockstitch.memory import Change
from lockstitch.memory import memory_change as change_of
from lockstitch.message_changes import MessageChanges
from lockstitch.tool_call_changes import ToolCallChanges
from lockstitch.transport import Transport
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CloseSessionResponse,
    CreateIfMissing,
    CreateSessionResponse,
    RestoreSessionRequest,
    RestoreSessionResponse,
    UpdateMemoryRequest,
    UpdateMemoryResponse,
    UpdateSessionRequest,
    UpdateSessionResponse,
)
from lockstitch.v1.tool_call_pb2 import ToolCallChange
from lockstitch.wire import Sendable, checked_labels, duration, timestamp, to_json


class Unchanged(Enum):
    """What :meth:`SessionHandle.update` takes for what it is to leave alone; None there means that it is to go."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED


class SessionHandle(ToolCallChanges, MessageChanges, SessionCheckpoints, SessionForks, SessionFollowing):
    """One session, as its client sees it. Made by ``client.create``, ``client.get`` and ``client.session``.

    Every change takes

    - ``request_id``: filled in when left out, and repeated by every retry, so that nothing is ever made twice. Give one
      of your own (1 to 128 characters) to retry beyond the call's own time, or from another process.
    - ``expected_version``: refuses with :class:`lockstitch.VersionConflict` unless the session is at this version.
      There is no hidden guard: left out, nothing is compared.
    - ``timeout``: a timedelta for all attempts together; None is the client's.

    and may raise :class:`lockstitch.SessionNotFound`, :class:`lockstitch.SessionClosed`,
    :class:`lockstitch.SessionExpired`, :class:`lockstitch.InvalidArgument`, :class:`lockstitch.PermissionDenied`,
    :class:`lockstitch.Unavailable` and :class:`lockstitch.DeadlineExceeded`. Nothing is stored by a change that failed,
    except that the last two and :class:`lockstitch.CommitOutcomeUnknown` leave it open: send it again with
    ``error.request_id``.
    """

    def __init__(self, transport: Transport, session_id: str, created: CreateSessionResponse | None = None) -> None:
        super().__init__(transport, session_id)
        if created is not None:
            self._made(created.receipt, None)
            self._note(created.session)

    async def append(
        self,
        *,
        messages: Iterable[Message] = (),
        tool_calls: Iterable[ToolCallChange] = (),
        memory_change: Change | None = None,
        expected_version: int | None = None,
        expected_memory_version: int | None = None,
        force: bool = False,
        allow_orphans: bool = False,
        create_if_missing: CreateIfMissing | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CommitReceipt:
        """Stores what a turn brought, in one commit: all of it or nothing.

        ``expected_version=session.version`` says "only if nobody wrote since I looked". :attr:`version` is how far this
        handle has seen: reads move it on, and so does a change made here that follows directly on it. A change that
            lands behind
        somebody else's commit does not: the next guarded one is refused, until you have read what you missed.

        Args:
            messages: At most 100, stored together in this order, with seqs that follow each other.
            tool_calls: Changes of the ledger, made after the messages.
            memory_change: A change of working memory; a mapping is a merge patch.
            expected_version: See the class. 0 is "not there yet", for ``create_if_missing``.
            expected_memory_version: Refuses unless the memory is at this version; a message of somebody else does not
                matter.
            force: Takes a memory ``replace`` or ``set`` without a guard.
            allow_orphans: Stores tool messages whose call nobody made, outside the ledger and every context.
            create_if_missing: Creates the session in this same commit if there is none.
            request_id, timeout: See the class.

        Raises:
            VersionConflict: Somebody else was faster; it has ``current_version`` and ``last_seq``.
            ToolCallNotFound, ToolCallEnded, ToolCallAmbiguous, ToolCallStatusRefused: A tool message or change does not
                fit the ledger.
            MessageIdExists, MessageTooLarge, BatchTooLarge, SessionFull, SessionExists, ExpectedVersionRequired

        Example:
            ``receipt = await session.append(messages=[user("hello")], expected_version=session.version)``
        """
        request_id = request_id or new_request_id()
        with Sendable("append"):
            request = AppendRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                expected_memory_version=expected_memory_version,
                force=force,
                messages=messages,
                tool_calls=tool_calls,
                memory_change=None if memory_change is None else change_of(memory_change),
                allow_orphans=allow_orphans,
                create_if_missing=create_if_missing,
            )
        response = await self._transport.call(
            lambda to: to.sessions.Append, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version, expected_memory_version)
        return response.receipt

    async def update_memory(
        self,
        *,
        change: Change,
        expected_version: int | None = None,
        expected_memory_version: int | None = None,
        force: bool = False,
        erase_history: bool = False,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UpdateMemoryResponse:
        """Changes working memory and gives it as it is then.

        Args:
            change: A mapping as a merge patch (None deletes), or what the makers of ``lockstitch.memory`` give.
            expected_version: See the class.
            expected_memory_version: Refuses unless the memory is at this version. ``session.memory_version`` is the one
                that was last read or made here: the right guard for a value that you computed from it.
            force: Takes ``replace`` or ``set`` without a guard.
            erase_history: Deletes every copy of the values that this replaces, from the log too.
            request_id, timeout: See the class.

        Raises:
            VersionConflict: Somebody else changed it.
            ExpectedVersionRequired: ``replace`` or ``set`` without a guard.

        Example:
            ``await session.update_memory(change={"next_action": "run the tests"})``
        """
        request_id = request_id or new_request_id()
        with Sendable("update_memory"):
            request = UpdateMemoryRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                expected_memory_version=expected_memory_version,
                force=force,
                change=change_of(change),
                erase_history=erase_history,
            )
        response = await self._transport.call(
            lambda to: to.sessions.UpdateMemory, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version, expected_memory_version)
        self._saw_memory(response.memory)
        return response

    async def update(
        self,
        *,
        title: str | Unchanged = UNCHANGED,
        labels: Mapping[str, str] | Unchanged = UNCHANGED,
        metadata: object = UNCHANGED,
        expire_time: datetime | Unchanged | None = UNCHANGED,
        idle_ttl: timedelta | Unchanged | None = UNCHANGED,
        force: bool = False,
        erase_history: bool = False,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UpdateSessionResponse:
        """Changes what is said about the session. What is left out stays.

        Args:
            title: A title for people, at most 1,024 characters; ``""`` for none.
            labels: All of its labels, at most 64.
            metadata: An object that is kept with it as JSON, at most 64 KiB; None for none.
            expire_time: When its life ends, with a time zone; None for never.
            idle_ttl: How long it lives unused; None for ever.
            force: Takes labels and metadata without a guard.
            erase_history: Deletes every historic copy of the values that this replaces.
            expected_version: See the class. Needed for labels and metadata, unless forced.
            request_id, timeout: See the class.

        Raises:
            VersionConflict: Somebody else was faster.
            ExpectedVersionRequired: Labels or metadata without a guard.

        Example:
            ``await session.update(title="Trip to Oslo", idle_ttl=timedelta(days=30))``
        """
        request_id = request_id or new_request_id()
        session = Session(session_id=self.session_id)
        paths: list[str] = []
        with Sendable("update"):
            if not isinstance(title, Unchanged):
                paths.append("title")
                session.title = title
            if not isinstance(labels, Unchanged):
                paths.append("labels")
                session.labels.update(checked_labels(labels))
            if metadata is not UNCHANGED:
                paths.append("metadata_json")
                session.metadata_json = "" if metadata is None else to_json(metadata, field="metadata")
            if not isinstance(expire_time, Unchanged):
                paths.append("expire_time")
                session.MergeFrom(Session(expire_time=timestamp(expire_time, field="expire_time")))
            if not isinstance(idle_ttl, Unchanged):
                paths.append("idle_ttl")
                session.MergeFrom(Session(idle_ttl=duration(idle_ttl)))
            request = UpdateSessionRequest(
                request_id=request_id,
                expected_version=expected_version,
                force=force,
                session=session,
                update_mask=FieldMask(paths=paths),
                erase_history=erase_history,
            )
        response = await self._transport.call(
            lambda to: to.sessions.UpdateSession, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        self._note(response.session)
        return response

    async def close(
        self,
        *,
        reason: str = "",
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CloseSessionResponse:
        """Closes the session: it takes no more changes until it is restored. Closing a closed one changes nothing.

        Args:
            reason: Why, at most 1,024 characters.
            expected_version, request_id, timeout: See the class.

        Example:
            ``await session.close(reason="resolved")``
        """
        request_id = request_id or new_request_id()
        with Sendable("close"):
            request = CloseSessionRequest(
                request_id=request_id, session_id=self.session_id, expected_version=expected_version, reason=reason
            )
        response = await self._transport.call(
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
        response = await self._transport.call(
            lambda to: to.sessions.RestoreSession, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        self._note(response.session)
        return response
