"""What can be read of a session, and how far its handle has seen."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from google.protobuf.message import Message as AnyMessage

from lockstitch.connection import Connection
from lockstitch.transport import Rpc, Transport
from lockstitch.v1.commit_pb2 import Commit, CommitReceipt
from lockstitch.v1.message_pb2 import Message, Role
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    GetContextRequest,
    GetContextResponse,
    GetMemoryRequest,
    GetSessionRequest,
    GetSessionResponse,
    ListCommitsRequest,
    ListMemoryVersionsRequest,
    ListMessagesRequest,
    ListToolCallsRequest,
)
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallStatus
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from lockstitch.wire import Sendable, timestamp

_Request = TypeVar("_Request", bound=AnyMessage)
_Response = TypeVar("_Response", bound=AnyMessage)


@dataclass(slots=True)
class Seen:
    """How far somebody has seen a session: a handle, and the runs that it started."""

    version: int = 0
    memory_version: int = 0
    info: Session | None = None
    receipt: CommitReceipt | None = None


class SessionReads:
    """The reading half of :class:`lockstitch.SessionHandle`.

    Every read takes ``timeout`` (a timedelta for all attempts together; None is the client's) and may raise
    :class:`lockstitch.SessionNotFound`, :class:`lockstitch.Unavailable` or :class:`lockstitch.DeadlineExceeded`.

    Attributes:
        session_id: Which session. Immutable.
    """

    def __init__(self, transport: Transport, session_id: str, seen: Seen | None = None) -> None:
        self._transport = transport
        self._seen = seen or Seen()
        self.session_id = session_id

    @property
    def version(self) -> int:
        """The version up to which this handle has seen the session. 0 before anything was seen.

        Every commit up to it was either read or made here, or under a run that this handle started. See
        :meth:`lockstitch.SessionHandle.append` for what it is good for.
        """
        return self._seen.version

    @property
    def memory_version(self) -> int:
        """The version of the working memory that was last read or made through this handle. 0 before."""
        return self._seen.memory_version

    @property
    def info(self) -> Session | None:
        """The session as last read or created through this handle, None before: status, title, labels, times."""
        return self._seen.info

    @property
    def receipt(self) -> CommitReceipt | None:
        """The receipt of the last change made through this handle, None before."""
        return self._seen.receipt

    async def get(
        self,
        *,
        recent_messages: int = 0,
        include_memory: bool = False,
        include_open_tool_calls: bool = False,
        at_version: int | None = None,
        show_deleted: bool = False,
        timeout: timedelta | None = None,
    ) -> GetSessionResponse:
        """The session now, and with it what is asked for, from one snapshot. Moves :attr:`version` on.

        Args:
            recent_messages: How many of the newest messages to give, oldest first; at most 1,000.
            include_memory: Whether to give the working memory. Moves :attr:`memory_version` on.
            include_open_tool_calls: Whether to give the open tool calls, at most 1,000.
            at_version: Gives all of this as it was after this version's commit; None is now.
            show_deleted: Gives a deleted session too, until its ``purge_time``.
            timeout: See the class.

        Raises:
            CursorAhead: The session was never at this version.

        Example:
            ``messages = (await session.get(recent_messages=20)).messages``
        """
        request = GetSessionRequest(
            session_id=self.session_id,
            recent_messages=recent_messages,
            include_memory=include_memory,
            include_open_tool_calls=include_open_tool_calls,
            at_version=at_version,
            show_deleted=show_deleted,
        )
        response = await self._call(lambda to: to.sessions.GetSession, request, timeout=timeout)
        self._saw(response.session)
        if include_memory:
            self._saw_memory(response.memory)
        return response

    async def memory(
        self, *, run_id: str = "", at_version: int | None = None, timeout: timedelta | None = None
    ) -> WorkingMemory:
        """The working memory now, or as it was. Moves :attr:`memory_version` on, where it is the session's.

        Args:
            run_id: A run's own memory, in place of the session's.
            at_version: Gives it as it was after this version's commit; None is now.
            timeout: See the class.

        Raises:
            CursorAhead: The session was never at this version.
            RunNotFound: There is no such run.

        Example:
            ``print((await session.memory()).next_action)``
        """
        with Sendable("memory"):
            request = GetMemoryRequest(session_id=self.session_id, run_id=run_id, at_version=at_version)
        response = await self._call(lambda to: to.sessions.GetMemory, request, timeout=timeout)
        if not run_id:
            self._saw_memory(response.memory)
        return response.memory

    async def memory_versions(
        self, *, run_id: str = "", page_size: int = 0, timeout: timedelta | None = None
    ) -> AsyncIterator[WorkingMemory]:
        """The working memory as it was after each commit that changed it, newest first, a page at a time.

        Args:
            run_id: A run's own memory, in place of the session's.
            page_size: Memories a page; 0 is 50, at most 1,000.
            timeout: Of each page; see the class.

        Example:
            ``async for memory in session.memory_versions(): print(memory.version, memory.next_action)``
        """
        with Sendable("memory_versions"):
            request = ListMemoryVersionsRequest(session_id=self.session_id, run_id=run_id, page_size=page_size)
        while True:
            page = await self._call(lambda to: to.sessions.ListMemoryVersions, request, timeout=timeout)
            for memory in page.memories:
                yield memory
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def context(
        self,
        *,
        max_messages: int = 0,
        max_bytes: int = 0,
        max_tokens: int = 0,
        timeout: timedelta | None = None,
    ) -> GetContextResponse:
        """What an engine needs to go on, from one snapshot. Moves :attr:`version` and :attr:`memory_version` on.

        :class:`lockstitch.ContextBuilder` makes a model's message list of it. ``last_run`` is the run that was started
        last: where it is EXPIRED, its engine was lost, and tool calls that are INTERRUPTED may have acted or not.

        Args:
            max_messages: The most messages; 0 is 200, at most 1,000.
            max_bytes: The most bytes of messages; 0 is what an answer has room for.
            max_tokens: The most tokens of messages, a message counted as 4 + bytes / 4; 0 is no bound.
            timeout: See the class.

        Example:
            ``messages = ContextBuilder(await session.context(max_tokens=8_000)).openai_chat()``
        """
        request = GetContextRequest(
            session_id=self.session_id, max_messages=max_messages, max_bytes=max_bytes, max_tokens=max_tokens
        )
        response = await self._call(lambda to: to.sessions.GetContext, request, timeout=timeout)
        self._saw(response.session)
        self._saw_memory(response.memory)
        return response

    async def messages(
        self,
        *,
        after_seq: int = 0,
        before_seq: int = 0,
        event_after: datetime | None = None,
        event_before: datetime | None = None,
        descending: bool = False,
        roles: Iterable[Role.ValueType] = (),
        run_id: str = "",
        show_removed: bool = False,
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[Message]:
        """The messages by seq, fetched a page at a time as you go on.

        Args:
            after_seq: Only those with a greater seq.
            before_seq: Only those with a smaller one; 0 is no bound.
            event_after, event_before: Only those with an event_time from (inclusive) and until; with a time zone.
            descending: Newest first.
            roles: Only those of these roles; all where empty.
            run_id: Only those that were stored under this run.
            show_removed: Removed messages too, in their places, with the ``removed_version`` that took them.
            page_size: Messages a page; 0 is 50, at most 1,000.
            timeout: Of each page; see the class.

        Example:
            ``async for message in session.messages(after_seq=7): print(message.seq, message.parts[0].text)``
        """
        with Sendable("messages"):
            request = ListMessagesRequest(
                session_id=self.session_id,
                after_seq=after_seq,
                before_seq=before_seq,
                event_after=timestamp(event_after, field="event_after"),
                event_before=timestamp(event_before, field="event_before"),
                descending=descending,
                roles=roles,
                run_id=run_id,
                show_removed=show_removed,
                page_size=page_size,
            )
        while True:
            page = await self._call(lambda to: to.sessions.ListMessages, request, timeout=timeout)
            for message in page.messages:
                yield message
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def commits(
        self,
        *,
        after_version: int = 0,
        descending: bool = False,
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[Commit]:
        """The commits that made the session what it is, oldest first: its audit trail, and what somebody else did.

        Args:
            after_version: Only those with a greater version.
            descending: Newest first.
            page_size: Commits a page; 0 is 50, at most 1,000.
            timeout: Of each page; see the class.

        Example:
            ``missed = [commit async for commit in session.commits(after_version=conflict.expected_version)]``
        """
        request = ListCommitsRequest(
            session_id=self.session_id, after_version=after_version, descending=descending, page_size=page_size
        )
        while True:
            page = await self._call(lambda to: to.sessions.ListCommits, request, timeout=timeout)
            for commit in page.commits:
                yield commit
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def tool_calls(
        self,
        *,
        statuses: Iterable[ToolCallStatus.ValueType] = (),
        name: str = "",
        run_id: str = "",
        arguments_digest: str = "",
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[ToolCall]:
        """The ledger of tool calls, oldest first.

        Args:
            statuses: Only calls in one of these; all where empty.
            name: Only calls of this tool.
            run_id: Only calls that were recorded under this run.
            arguments_digest: Only calls with these arguments, as ``ToolCall.arguments_digest`` has it.
            page_size: Calls a page; 0 is 50, at most 1,000.
            timeout: Of each page; see the class.

        Example:
            ``pending = [c async for c in session.tool_calls(statuses=[ToolCallStatus.TOOL_CALL_STATUS_PENDING])]``
        """
        with Sendable("tool_calls"):
            request = ListToolCallsRequest(
                session_id=self.session_id,
                statuses=statuses,
                name=name,
                run_id=run_id,
                arguments_digest=arguments_digest,
                page_size=page_size,
            )
        while True:
            page = await self._call(lambda to: to.sessions.ListToolCalls, request, timeout=timeout)
            for tool_call in page.tool_calls:
                yield tool_call
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def _call(
        self,
        rpc: Callable[[Connection], Rpc[_Request, _Response]],
        request: _Request,
        *,
        timeout: timedelta | None,
        request_id: str = "",
    ) -> _Response:
        """Every call of a handle comes through here."""
        return await self._transport.call(rpc, request, timeout=timeout, request_id=request_id)

    def _saw(self, session: Session) -> None:
        """Notes a session as read: whoever reads it has seen it up to its version."""
        self._note(session)
        self._saw_version(session.version)

    def _saw_version(self, version: int) -> None:
        self._seen.version = max(self._seen.version, version)

    def _note(self, session: Session) -> None:
        seen = self._seen
        if seen.info is None or session.version >= seen.info.version:
            seen.info = session

    def _saw_memory(self, memory: WorkingMemory) -> None:
        self._seen.memory_version = max(self._seen.memory_version, memory.version)
