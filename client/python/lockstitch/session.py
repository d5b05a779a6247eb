"""The handle of one session: everything that can be done to it, over the client that gave it."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from lockstitch.memory import Change
from lockstitch.memory import memory_change as change_of
from lockstitch.reads import SessionReads
from lockstitch.tool_calls import result_json
from lockstitch.transport import Transport
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CloseSessionResponse,
    CompleteToolCallRequest,
    CompleteToolCallResponse,
    CreateIfMissing,
    CreateSessionResponse,
    RestoreSessionRequest,
    RestoreSessionResponse,
    UpdateMemoryRequest,
    UpdateMemoryResponse,
    UpdateToolCallRequest,
    UpdateToolCallResponse,
)
from lockstitch.v1.tool_call_pb2 import Approval, Resource, ToolCallChange, ToolCallStatus
from lockstitch.wire import Sendable, duration, timestamp


class SessionHandle(SessionReads):
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
            )
        response = await self._transport.call(
            lambda to: to.sessions.UpdateMemory, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version, expected_memory_version)
        self._saw_memory(response.memory)
        return response

    async def update_tool_call(
        self,
        *,
        call_id: str = "",
        tool_call_id: str = "",
        status: ToolCallStatus.ValueType = ToolCallStatus.TOOL_CALL_STATUS_UNSPECIFIED,
        approval: Approval | None = None,
        resources: Iterable[Resource] = (),
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UpdateToolCallResponse:
        """Says that a tool call begins, waits for approval, is approved or refused, or touches resources.

        Say RUNNING **before** you act: then a call found PENDING after a crash is safe to run, and one found RUNNING is
            not.

        Args:
            call_id: The provider's id: the one open call that has it, else the newest that had it; or
            tool_call_id: the ledger's.
            status: PENDING, RUNNING or AWAITING_APPROVAL; left out it stays, or follows from the approval.
            approval: The answer to AWAITING_APPROVAL: ``Approval(granted=True)``.
            resources: What it touches, merged into the known ones by uri.
            expected_version, request_id, timeout: See the class.

        Raises:
            ToolCallNotFound, ToolCallEnded, ToolCallStatusRefused, ToolCallAmbiguous

        Example:
            ``await session.update_tool_call(call_id="c1", status=ToolCallStatus.TOOL_CALL_STATUS_RUNNING)``
        """
        request_id = request_id or new_request_id()
        with Sendable("update_tool_call"):
            request = UpdateToolCallRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                status=status,
                approval=approval,
                resources=resources,
            )
            _name_call(request, call_id, tool_call_id)
        response = await self._transport.call(
            lambda to: to.sessions.UpdateToolCall, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response

    async def complete_tool_call(
        self,
        *,
        call_id: str = "",
        tool_call_id: str = "",
        status: ToolCallStatus.ValueType = ToolCallStatus.TOOL_CALL_STATUS_UNSPECIFIED,
        result: object = None,
        error: str = "",
        resources: Iterable[Resource] = (),
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CompleteToolCallResponse:
        """Ends a tool call. Where a message made it and the outcome is known, its tool message is written with it.

        Args:
            call_id, tool_call_id: As for :meth:`update_tool_call`.
            status: SUCCEEDED, FAILED, CANCELLED or INTERRUPTED; left out it is FAILED with an error, else SUCCEEDED.
            result: Any object that JSON can write, or :class:`lockstitch.JsonText`; None is no result.
            error: Why it failed or was cancelled, at most 65,536 bytes.
            resources: What it touched, merged into the known ones by uri.
            expected_version, request_id, timeout: See the class.

        Raises:
            ToolCallEnded: It has another outcome already, which stays. An equal one is fine.
            ToolCallNotFound, ToolCallAmbiguous, MessageTooLarge, SessionFull

        Example:
            ``await session.complete_tool_call(call_id="c1", result={"degrees": 4})``
        """
        request_id = request_id or new_request_id()
        with Sendable("complete_tool_call"):
            request = CompleteToolCallRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                status=status,
                result_json=result_json(result),
                error=error,
                resources=resources,
            )
            _name_call(request, call_id, tool_call_id)
        response = await self._transport.call(
            lambda to: to.sessions.CompleteToolCall, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
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

    def _made(
        self, receipt: CommitReceipt, expected_version: int | None, expected_memory_version: int | None = None
    ) -> None:
        """Notes a change made here. It counts as seen only where nobody else's commit can lie before it unseen."""
        self.receipt = receipt
        known = self.version if expected_version is None else expected_version
        follows = receipt.version <= known + 1
        if follows:
            self.version = max(self.version, receipt.version)
        if receipt.memory_version == receipt.version and (follows or expected_memory_version is not None):
            self.memory_version = max(self.memory_version, receipt.memory_version)


def new_request_id() -> str:
    """An id that nobody used before: 128 random bits."""
    return secrets.token_hex(16)


def _name_call(request: UpdateToolCallRequest | CompleteToolCallRequest, call_id: str, tool_call_id: str) -> None:
    if tool_call_id:
        request.tool_call_id = tool_call_id
    else:
        request.call_id = call_id
