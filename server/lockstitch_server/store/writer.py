"""The statements that change a session: each one round trip and one transaction."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg

from lockstitch_server import ids
from lockstitch_server.model import (
    Change,
    Commit,
    Content,
    Expiration,
    LedgerOp,
    MessageUpdate,
    NewFork,
    NewSession,
    Removal,
    SessionAction,
    SessionKey,
    SessionUpdate,
    ToolCallStatus,
)
from lockstitch_server.store import commit_arguments, group_commit, known, rows
from lockstitch_server.store.changing import Statements, head, report_of, session_of
from lockstitch_server.store.commit_arguments import Limits, NewCommit
from lockstitch_server.store.group_commit import GroupCommit
from lockstitch_server.store.results import ChangeReport

CREATE_NEVER, CREATE_IF_MISSING, CREATE = 0, 1, 2
_FORK_TIME_MAX = timedelta(minutes=2)
"""A fork copies all of a session, while writers of its source wait."""


class Writer:
    """Carries changes to the database and reports what it said of them."""

    def __init__(
        self,
        statements: Statements,
        limits: Limits,
        *,
        group: GroupCommit | None,
        committed: Callable[[SessionKey, Callable[[], Commit | None]], None],
    ) -> None:
        """Appends go through `group`, if there is one.

        `committed` is told of each commit, and how to have it where it is known without being read.
        """
        self._statements = statements
        self._limits = limits
        self._group = group
        self._committed = committed

    async def append(self, change: Change, content: Content, create: NewSession | None = None) -> ChangeReport:
        """Make a commit of content; `create` is what a missing session becomes, unless only the server gives its id."""
        may_create = create is not None and not ids.is_server_session_id(change.session.session_id)
        commit = NewCommit(change, content, create, CREATE_IF_MISSING if may_create else CREATE_NEVER)
        if self._group is not None and group_commit.takes(commit):
            row = await self._group.append(commit)
        else:
            row = await self._statements.one("append", *commit.arguments(self._limits), group_commit.WAIT)
        return self._reported(row, change, content)

    async def create_session(self, change: Change, new: NewSession, content: Content) -> ChangeReport:
        """Make a session's first commit."""
        return await self._commit("create_session", change, content, new, CREATE)

    async def update_memory(self, change: Change, content: Content) -> ChangeReport:
        """Make a commit of memory; the report has the memory as of it."""
        return await self._commit("update_memory", change, content, None, CREATE_NEVER)

    async def change_tool_call(self, change: Change, content: Content) -> ChangeReport:
        """Make a commit of one tool call; the report has the call as of it."""
        return await self._commit("change_tool_call", change, content, None, CREATE_NEVER)

    async def stream_draft(self, change: Change, content: Content) -> ChangeReport:
        """Make a commit of what a draft became, in the draft's place."""
        arguments = NewCommit(change, content, None, CREATE_NEVER).arguments(self._limits, is_draft=True)
        row = await self._statements.one("append", *arguments, group_commit.WAIT)
        return self._reported(row, change, content)

    async def fork_session(self, change: Change, fork: NewFork) -> ChangeReport:
        """Make a session out of another one; the report has it as of its first version."""
        row = await self._statements.one(
            "fork_session",
            *head(change),
            fork.source.key,
            fork.source.session_id,
            fork.at_version,
            fork.title,
            list(fork.labels),
            list(fork.labels.values()),
            fork.is_over_quota,
            time_max=_FORK_TIME_MAX,
        )
        report = replace(
            report_of(row), session=session_of(row, change), nearest=(row["r_below"] or 0, row["r_above"] or 0)
        )
        return self._told(change, report)

    async def set_status(
        self,
        change: Change,
        action: SessionAction,
        *,
        close_reason: str,
        expiration: Expiration,
        purge_after: timedelta,
    ) -> ChangeReport:
        """Change where a session stands; the report has the session as of it."""
        row = await self._statements.one(
            "set_status",
            *head(change),
            change.expected_version,
            action,
            close_reason,
            expiration.expire_time,
            expiration.ttl,
            change.force,
            purge_after,
        )
        report = replace(
            report_of(row),
            session=session_of(row, change),
            active_run_id=row["r_run_id"] or "",
            lease_expire_time=row["r_lease_expire_time"],
        )
        return self._told(change, report)

    async def update_session(self, change: Change, update: SessionUpdate, *, needs_guard: bool) -> ChangeReport:
        """Change a session's fields; the report has the session as of then."""
        row = await self._statements.one(
            "update_session",
            *head(change),
            change.expected_version,
            *commit_arguments.fence(change),
            change.force,
            needs_guard,
            "title" in update.fields,
            update.title,
            "labels" in update.fields,
            list(update.labels),
            list(update.labels.values()),
            "metadata_json" in update.fields,
            update.metadata,
            "expire_time" in update.fields,
            update.expire_time,
            "idle_ttl" in update.fields,
            update.idle_ttl,
            update.erase,
        )
        return self._told(change, replace(report_of(row), session=session_of(row, change)))

    async def remove_messages(self, change: Change, removal: Removal, content: Content, bytes_max: int) -> ChangeReport:
        """Take messages back and store others in their place; the report has the newest of what was taken, by seq."""
        found = await self._statements.fetch(
            "remove_messages",
            *head(change),
            change.expected_version,
            None,
            *commit_arguments.fence(change),
            False,
            *commit_arguments.messages(content.messages),
            *commit_arguments.ledger(content.ledger),
            False,
            self._limits.session_messages_max,
            removal.last,
            removal.from_seq,
            removal.erase,
            bytes_max,
        )
        row = found[0]
        status, message_ids = row["r_status"], row["r_message_ids"]
        removed = [] if row["m_seq"] is None else found
        report = replace(
            report_of(row),
            index=row["r_index"] or 0,
            new_messages=row["r_new_messages"] or 0,
            new_tool_calls=row["r_new_tool_calls"] or 0,
            tool_call_status=None if status is None else ToolCallStatus(status),
            message_ids=None if message_ids is None else tuple(message_ids),
            messages=tuple(rows.message(entry, change.session.key) for entry in reversed(removed)),
            removed_count=row["m_total"] or 0,
        )
        return self._told(change, report)

    async def update_message(self, change: Change, update: MessageUpdate) -> ChangeReport:
        """Change a message in its place; the report has it as of then."""
        message, calls = update.message, update.tool_calls
        answered = next((call for call in calls if call.op is LedgerOp.ANSWER), None)
        made = [call for call in calls if call.op is LedgerOp.RECORD]
        row = await self._statements.one(
            "update_message",
            *head(change),
            change.expected_version,
            *commit_arguments.fence(change),
            update.seq,
            update.message_id,
            message.role,
            message.call_id,
            message.event_time,
            message.body,
            [call.call_id for call in made],
            [call.name for call in made],
            [call.arguments_digest for call in made],
            [call.part_index for call in made],
            None if answered is None else answered.status,
            None if answered is None else answered.outcome_digest,
            update.erase,
        )
        messages = () if row["m_seq"] is None else (rows.message(row, change.session.key),)
        return self._told(change, replace(report_of(row), messages=messages))

    async def _commit(
        self, query: str, change: Change, content: Content, new: NewSession | None, create: int
    ) -> ChangeReport:
        row = await self._statements.one(query, *NewCommit(change, content, new, create).arguments(self._limits))
        return replace(self._reported(row, change, content), **_as_of(row, change))

    def _reported(self, row: asyncpg.Record, change: Change, content: Content) -> ChangeReport:
        message_ids, status = row["r_message_ids"], row["r_status"]
        report = ChangeReport(
            outcome=row["r_outcome"],
            index=row["r_index"] or 0,
            version=row["r_version"] or 0,
            last_seq=row["r_last_seq"] or 0,
            memory_version=row["r_memory_version"] or 0,
            new_messages=row["r_new_messages"] or 0,
            new_tool_calls=row["r_new_tool_calls"] or 0,
            commit_time=row["r_commit_time"],
            tool_call_status=None if status is None else ToolCallStatus(status),
            message_ids=None if message_ids is None else tuple(message_ids),
        )
        return self._told(change, report, content)

    def _told(self, change: Change, report: ChangeReport, content: Content | None = None) -> ChangeReport:
        if report.outcome == "committed":
            # Made only where somebody follows the session.
            self._committed(change.session.key, partial(known.commit, change, content, report))
        return report


def _as_of(row: asyncpg.Record, change: Change) -> dict[str, Any]:
    """What else was asked for: the session, the memory or the call as of the commit."""
    memory = rows.memory_at(row, row["r_changed_memory_version"] or 0) if "memory_keys" in row else None
    called = row.get("requested_version") is not None
    return {
        "session": session_of(row, change) if "s_session_id" in row else None,
        "memory": memory,
        "tool_call": next(rows.tool_calls([row], change.session.key)) if called else None,
    }
