"""Sessions: created, read, listed, closed, restored and deleted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lockstitch_server.errors import CursorAhead, SessionNotFound
from lockstitch_server.model import (
    Change,
    Content,
    Expiration,
    Memory,
    NewFork,
    NewSession,
    Receipt,
    Session,
    SessionAction,
    SessionRef,
    SessionUpdate,
    ToolCall,
)
from lockstitch_server.service import budget, outcomes
from lockstitch_server.service.paging import Page, PageRequest, Paging
from lockstitch_server.service.quotas import Quotas
from lockstitch_server.store.reader import Reader, SessionFilter, SessionParts
from lockstitch_server.store.results import ChangeReport, SessionCursor, SessionView
from lockstitch_server.store.stored_messages import StoredMessages
from lockstitch_server.store.writer import Writer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BEFORE_ALL = SessionCursor(2**31 - 1, datetime.max.replace(tzinfo=UTC), "")
RECENT_MESSAGES_MAX = 1000
OPEN_TOOL_CALLS_MAX = 1000
_SCANNED_MAX = 5000
"""The most sessions that one call looks at; the most, too, that a label may have to lead the search."""


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """A session with what was asked for beside it. The newest message is given elided where it has no room whole."""

    session: Session
    memory: Memory | None
    messages: StoredMessages
    elided: bool
    open_tool_calls: tuple[ToolCall, ...]
    truncated: bool


class Sessions:
    """Creates, reads, lists, closes, restores and deletes sessions."""

    def __init__(
        self, writer: Writer, reader: Reader, paging: Paging, quotas: Quotas, *, purge_after: timedelta
    ) -> None:
        """Pages are cut as `paging` says; what is deleted is kept for `purge_after`."""
        self._writer = writer
        self._quotas = quotas
        self._purge_after = purge_after
        self._reader = reader
        self._paging = paging

    async def create(self, change: Change, new: NewSession, content: Content) -> tuple[Session, Receipt]:
        """Create a session; gives it as of its first version."""
        report = await self._writer.create_session(change, self._quotas.applied(change, new), content)
        error = outcomes.refusal(report, change, content)
        if error is not None:
            raise error
        return _session(report), outcomes.receipt(report, change, content.messages)

    async def fork(self, change: Change, fork: NewFork) -> tuple[Session, Receipt]:
        """Make a session out of another one; gives it as of its first version."""
        report = await self._writer.fork_session(change, self._quotas.applied(change, fork))
        error = outcomes.refusal(report, change, Content())
        if error is not None:
            raise error
        return _session(report), outcomes.receipt(report, change)

    async def forks_of_erasure(self, receipt: Receipt) -> tuple[str, ...]:
        """Name the forks that an erasure does not reach."""
        return await self._reader.forks_of_erasure(receipt.session, receipt.version)

    async def set_status(
        self, change: Change, action: SessionAction, *, close_reason: str = "", expiration: Expiration | None = None
    ) -> tuple[Session, Receipt]:
        """Close, restore, delete or undelete a session; gives it as of the receipt's version."""
        report = await self._writer.set_status(
            change,
            action,
            close_reason=close_reason,
            expiration=expiration or Expiration(),
            purge_after=self._purge_after,
        )
        error = outcomes.refusal(report, change, Content())
        if error is not None:
            raise error
        return _session(report), outcomes.receipt(report, change)

    async def update(self, change: Change, update: SessionUpdate, *, needs_guard: bool) -> tuple[Session, Receipt]:
        """Change a session's fields; gives it as of the receipt's version."""
        report = await self._writer.update_session(change, update, needs_guard=needs_guard)
        error = outcomes.refusal(report, change, Content())
        if error is not None:
            raise error
        return _session(report), outcomes.receipt(report, change)

    async def get(
        self,
        ref: SessionRef,
        *,
        recent_messages: int,
        include_memory: bool,
        include_open_tool_calls: bool,
        at_version: int | None,
        show_deleted: bool,
    ) -> SessionAnswer:
        """Give a session and what is asked for beside it, from one snapshot."""
        asked = SessionParts(
            messages=min(recent_messages, RECENT_MESSAGES_MAX),
            memory=include_memory,
            open_calls=OPEN_TOOL_CALLS_MAX + 1 if include_open_tool_calls else 0,
            bytes_max=budget.ANSWER_BYTES,
            show_deleted=show_deleted,
        )
        if at_version is None:
            view = await self._reader.get_session(ref, asked)
        else:
            view = at_or_raise(await self._reader.get_session_at(ref, at_version, asked))
        if view is None:
            raise SessionNotFound
        room = budget.for_messages(view.memory if include_memory else None, with_tool_calls=include_open_tool_calls)
        fitting, elided = budget.newest_that_fit(view.messages, room)
        calls = view.tool_calls[:OPEN_TOOL_CALLS_MAX]
        return SessionAnswer(
            session=view.session,
            memory=view.memory if include_memory else None,
            messages=fitting,
            elided=elided,
            open_tool_calls=calls,
            truncated=elided or len(fitting) < len(view.messages) or len(calls) < len(view.tool_calls),
        )

    async def list(self, shown: SessionFilter, page: PageRequest) -> Page[Session]:
        """Give a page of sessions, the most recently used first."""
        cursor = self._paging.cursor(page, (int, int, str))
        size = self._paging.size(page)
        behind = _BEFORE_ALL
        if cursor is not None:
            minute, microseconds, session_id = cursor
            behind = SessionCursor(minute, _EPOCH + timedelta(microseconds=microseconds), session_id)
        found = await self._reader.list_sessions(
            shown, behind, limit=size + 1, scan_max=_SCANNED_MAX, bytes_max=self._paging.answer_bytes_max
        )
        items = found.sessions[:size]
        # Where filters hid the rest of what was looked at, the next page goes on behind it.
        reached = found.stopped_at
        if found.fetched > len(items):
            last, minute = items[-1]
            reached = SessionCursor(minute, last.last_activity_time, last.session_id)
        token = ""
        if reached is not None:
            microseconds = (reached.last_activity_time - _EPOCH) // timedelta(microseconds=1)
            token = self._paging.token(page, reached.activity_minute, microseconds, reached.session_id)
        return Page(items=tuple(session for session, _ in items), next_page_token=token)


def at_or_raise(view: SessionView | int | None) -> SessionView | None:
    """A session as it was; raises CursorAhead where only the current version was given."""
    if isinstance(view, int):
        raise CursorAhead(view, "at_version")
    return view


def _session(report: ChangeReport) -> Session:
    if report.session is None:
        raise ValueError("this change gives a session")
    return report.session
