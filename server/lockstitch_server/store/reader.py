"""The statements that read a session."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lockstitch_server.errors import RunNotFound
from lockstitch_server.model import (
    Memory,
    MessageRole,
    SessionKey,
    SessionRef,
    SessionStatus,
    StoreIdentity,
    ToolCall,
    ToolCallStatus,
)
from lockstitch_server.store import rows, stored_messages
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.results import (
    MemoryPage,
    MessagePage,
    ResultPlace,
    SessionCursor,
    SessionPage,
    SessionView,
)
from lockstitch_server.store.rows import Row

CALL_BYTES_MAX = 4 * 1024 * 1024
"""The most bytes of message bodies that are read to show the tool calls beside a session."""


@dataclass(frozen=True, slots=True)
class SessionParts:
    """What is read beside a session: so many newest messages, memory, so many open and lately ended tool calls."""

    messages: int = 0
    memory: bool = False
    open_calls: int = 0
    ended_calls: int = 0
    bytes_max: int = 0
    """The most bytes of message bodies, of small and, apart from them, of large ones."""
    last_run: bool = False
    show_deleted: bool = False


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a list shows."""

    tenant_id: str
    user_id: str | None
    agent: str | None
    statuses: tuple[SessionStatus, ...] | None
    labels: dict[str, str]
    created_after: datetime | None
    created_before: datetime | None
    active_after: datetime | None
    active_before: datetime | None
    show_deleted: bool
    forked_from: SessionKey | None = None


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages a list shows, between two seqs (both excluded)."""

    after_seq: int
    before_seq: int
    event_after: datetime | None
    event_before: datetime | None
    descending: bool
    roles: tuple[MessageRole, ...] | None
    run_id: str | None
    show_removed: bool


@dataclass(frozen=True, slots=True)
class ToolCallFilter:
    """Which tool calls a list shows, behind (requested_version, position)."""

    statuses: tuple[ToolCallStatus, ...] | None
    name: str | None
    run_id: str | None
    arguments_digest: bytes | None
    after: tuple[int, int]


class Reader:
    """Reads sessions; each method is one statement, which sees one snapshot."""

    def __init__(self, reading: Reading) -> None:
        """Reads through the pool that the writer has, too."""
        self._reading = reading

    async def get_session(
        self,
        ref: SessionRef,
        asked: SessionParts,
    ) -> SessionView | None:
        """Give a session with its newest messages (oldest first), memory and tool calls; None where there is none."""
        found = await self._reading.fetch(
            "get_session",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            asked.messages,
            asked.memory,
            asked.open_calls,
            asked.ended_calls,
            asked.bytes_max,
            CALL_BYTES_MAX,
            asked.last_run,
            asked.show_deleted,
        )
        return _view(found[0], ref) if found else None

    async def get_session_at(
        self,
        ref: SessionRef,
        version: int,
        asked: SessionParts,
    ) -> SessionView | int | None:
        """Give a session as it was after a commit; the current version where that lies ahead, None where it is not."""
        found = await self._reading.fetch(
            "get_session_at",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            version,
            asked.messages,
            asked.memory,
            asked.open_calls,
            asked.bytes_max,
            CALL_BYTES_MAX,
            asked.show_deleted,
        )
        if not found:
            return None
        row = found[0]
        if not row["s_status"]:
            current_version: int = row["s_version"]
            return current_version
        view = _view(row, ref, now=False)
        return replace(
            view,
            messages=stored_messages.of_history(row, ref.key).reversed(),
            memory=rows.memory_at(row, row["s_memory_version"]),
        )

    async def list_memory_versions(
        self, ref: SessionRef, run_id: str, before_version: int, *, limit: int, bytes_max: int
    ) -> MemoryPage | None:
        """Give up to `limit` versions of a session's or a run's memory before one, newest first.

        None where there is no session. Raises RunNotFound.
        """
        found = await self._reading.fetch(
            "list_memory_versions",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            run_id,
            before_version,
            limit,
            bytes_max,
        )
        if not found:
            return None
        if found[0]["v_more"]:
            raise RunNotFound
        return MemoryPage(
            memories=tuple(rows.memory_at(row, row["v_version"]) for row in found if row["v_version"] is not None),
            more=found[-1]["v_more"] or False,
        )

    async def list_sessions(
        self, shown: SessionFilter, cursor: SessionCursor, *, limit: int, scan_max: int, bytes_max: int
    ) -> SessionPage:
        """Give up to `limit` sessions behind the cursor, having looked at no more than `scan_max`."""
        head, *found = await self._reading.fetch(
            "list_sessions",
            shown.tenant_id,
            shown.user_id,
            shown.agent,
            shown.statuses,
            list(shown.labels),
            list(shown.labels.values()),
            shown.created_after,
            shown.created_before,
            shown.active_after,
            shown.active_before,
            cursor.activity_minute,
            cursor.last_activity_time,
            cursor.session_id,
            limit,
            scan_max,
            bytes_max,
            shown.show_deleted,
            shown.forked_from,
        )
        stopped_minute = head["stopped_minute"]
        return SessionPage(
            sessions=tuple((rows.session(row, shown.tenant_id), row["activity_minute"]) for row in found),
            fetched=head["fetched"],
            stopped_at=(
                None
                if stopped_minute is None
                else SessionCursor(stopped_minute, head["stopped_time"], head["stopped_id"])
            ),
        )

    async def list_messages(
        self, ref: SessionRef, shown: MessageFilter, *, limit: int, scan_max: int, bytes_max: int
    ) -> MessagePage | None:
        """Give up to `limit` messages, having looked at no more than `scan_max`; None where there is no session."""
        found = await self._reading.fetch(
            "list_messages_with_removed" if shown.show_removed else "list_messages",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            shown.after_seq,
            shown.before_seq,
            shown.event_after,
            shown.event_before,
            shown.descending,
            shown.roles,
            shown.run_id,
            limit,
            scan_max,
            bytes_max,
        )
        if not found:
            return None
        (row,) = found
        messages = (
            stored_messages.of_history(row, ref.key, row["m_removed_versions"])
            if shown.show_removed
            else stored_messages.of_arrays(row, ref.key)
        )
        return MessagePage(
            as_of_version=row["m_version"],
            messages=messages.reversed() if shown.descending else messages,
            scanned=row["m_scanned"],
            last_scanned=row["m_last_scanned"] or 0,
            matched=row["m_matched"],
        )

    async def list_tool_calls(
        self, ref: SessionRef, shown: ToolCallFilter, *, limit: int, bytes_max: int
    ) -> tuple[ToolCall, ...] | None:
        """Give up to `limit` tool calls; None where there is no session."""
        found = await self._reading.fetch(
            "list_tool_calls",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            shown.statuses,
            shown.name,
            shown.run_id,
            shown.arguments_digest,
            *shown.after,
            limit,
            bytes_max,
        )
        return tuple(rows.tool_calls(found[1:], ref.key)) if found else None

    async def run_memory(self, ref: SessionRef, run_id: str, at_version: int | None) -> Memory | int | None:
        """Give a run's own memory, now or as it was; the current version where that lies ahead, None without a session.

        Raises RunNotFound.
        """
        (row,) = await self._reading.fetch(
            "run_memory", ref.tenant_id, ref.key, ref.session_id, ref.owner, run_id, at_version
        )
        match row["r_outcome"]:
            case "session_not_found":
                return None
            case "run_not_found":
                raise RunNotFound
            case "ahead":
                current_version: int = row["r_version"]
                return current_version
        return rows.memory_at(row, row["r_memory_version"])

    async def forks_of_erasure(self, ref: SessionRef, version: int) -> tuple[str, ...]:
        """Give the ids of forks that were made since what a commit erased had come in."""
        (row,) = await self._reading.fetch("forks_of_erasure", ref.tenant_id, ref.key, version)
        return tuple(row["forks"])

    async def memory_keys(self, ref: SessionRef, run_id: str, keys: Sequence[bytes]) -> dict[bytes, tuple[bytes, int]]:
        """Give (value, version) of each of these keys that a session's or a run's memory has."""
        found = await self._reading.fetch("memory_keys", ref.tenant_id, ref.key, run_id, list(keys))
        return {row["memory_key"]: (row["value"], row["version"]) for row in found}

    async def store_identity(self) -> StoreIdentity:
        """Give what makes this store this store."""
        (row,) = await self._reading.fetch("store_identity")
        return StoreIdentity(
            store_epoch=row["store_epoch"],
            page_token_secret=row["page_token_secret"],
            schema=row["schema"] or "",
            postgres_version=row["postgres_version"].partition(" ")[0],
        )


def _view(row: Row, ref: SessionRef, *, now: bool = True) -> SessionView:
    places = zip(row["l_result_seqs"] or (), row["l_message_seqs"] or (), row["l_part_indexes"] or (), strict=True)
    return SessionView(
        session=rows.session(row, ref.tenant_id),
        messages=stored_messages.of_arrays(row, ref.key).reversed(),
        memory=rows.memory(row, row["s_memory_version"]),
        tool_calls=tuple(rows.tool_calls_of_arrays(row, ref.key)),
        last_run=rows.run(row, ref.session_id) if now and row["run_id"] is not None else None,
        result_places={seq: ResultPlace(message_seq, part_index) for seq, message_seq, part_index in places},
    )
