"""Turns rows into the model."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from lockstitch_server import ids
from lockstitch_server.model import (
    CallerRole,
    ForkedFrom,
    Memory,
    Message,
    MessageRole,
    Run,
    RunStatus,
    Session,
    SessionKey,
    SessionStatus,
    ToolCall,
    ToolCallStatus,
)


class Row(Protocol):
    """A database row: the one place where values have no types of their own."""

    def __getitem__(self, column: str, /) -> Any: ...


PRINCIPAL_ROLES = {CallerRole.USER: 1, CallerRole.ENGINE: 2, CallerRole.ADMIN: 3, CallerRole.SYSTEM: 4}
PRINCIPAL_ROLES_BACK = {number: role for role, number in PRINCIPAL_ROLES.items()}


def session(row: Row, tenant_id: str) -> Session:
    """A session from the columns that begin with s_."""
    return Session(
        session_id=row["s_session_id"],
        tenant_id=tenant_id,
        user_id=row["s_user_id"],
        agent=row["s_agent"],
        title=row["s_title"],
        status=SessionStatus(row["s_status"]),
        version=row["s_version"],
        last_seq=row["s_last_seq"],
        memory_version=row["s_memory_version"],
        message_count=row["s_message_count"],
        labels=dict(zip(row["s_label_keys"], row["s_label_values"], strict=True)),
        metadata=row["s_metadata"],
        create_time=row["s_create_time"],
        update_time=row["s_update_time"],
        last_activity_time=row["s_last_activity_time"],
        close_time=row["s_close_time"],
        close_reason=row["s_close_reason"],
        expire_time=_last_instant(row["s_expire_time"]),
        idle_ttl=row["s_idle_ttl"],
        delete_time=row["s_delete_time"],
        purge_time=_last_instant(row["s_purge_time"]),
        active_run_id=row["s_active_run_id"] or "",
        forked_from=(
            None
            if row["s_forked_from_id"] is None
            else ForkedFrom(row["s_forked_from_id"], row["s_forked_from_version"])
        ),
    )


def _last_instant(value: datetime | None) -> datetime | None:
    """Give a time its zone again: the last instant of the year 9999 comes back from the database without one."""
    return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def run(row: Row, session_id: str, at: int | None = None) -> Run:
    """A run as it was after the commit `at`, with the lease that it was granted; or now, with its present one."""
    ended = row["ended_version"] is not None and (at is None or row["ended_version"] <= at)
    cancelled = row["cancel_version"] is not None and (at is None or row["cancel_version"] <= at)
    renewed = None if at is not None else row["renewed_until"]
    return Run(
        run_id=row["run_id"],
        session_id=session_id,
        status=RunStatus(row["status"]) if ended else RunStatus.RUNNING,
        worker=row["worker"],
        fencing_token=row["fencing_token"],
        lease_expire_time=renewed or row["granted_until"],
        cancel_requested=cancelled,
        error=row["error"] if ended else b"",
        start_time=row["start_time"],
        end_time=row["end_time"] if ended else None,
        started_version=row["started_version"],
        ended_version=row["ended_version"] if ended else 0,
        labels=dict(zip(row["label_keys"], row["label_values"], strict=True)),
    )


def memory(row: Row, version: int) -> Memory:
    """Working memory from its two arrays."""
    keys, values = row["memory_keys"] or (), row["memory_values"] or ()
    return Memory(values=dict(zip(keys, values, strict=True)), version=version)


def memory_at(row: Row, version: int) -> Memory:
    """Working memory as it was, some of which may have been erased since."""
    return replace(memory(row, version), erased=row["memory_erased"] or False)


def message(row: Row, key: SessionKey) -> Message:
    """A message from the columns that begin with m_. One without a body was erased: in a fork it keeps its place."""
    return Message(
        seq=row["m_seq"],
        version=row["m_version"],
        role=MessageRole(row["m_role"]),
        message_id=row["m_id"] or ids.message_id(key, row["m_seq"]),
        call_id=row["m_call_id"] or "",
        create_time=row["m_create_time"],
        body=row["m_body"],
        body_bytes=row["m_bytes"],
        run_id=row["m_run_id"] or "",
        removed_version=row["m_removed_version"] or 0,
        erased=row["m_erased"] or row["m_bytes"] == 0,
    )


_TOOL_CALL_ARRAYS = {
    "requested_version": "c_requested_versions",
    "position": "c_positions",
    "part_index": "c_part_indexes",
    "version": "c_versions",
    "message_seq": "c_message_seqs",
    "result_seq": "c_result_seqs",
    "ended_version": "c_ended_versions",
    "create_time": "c_create_times",
    "start_time": "c_start_times",
    "end_time": "c_end_times",
    "status": "c_statuses",
    "call_id": "c_call_ids",
    "name": "c_names",
    "arguments_digest": "c_arguments_digests",
    "detail": "c_details",
    "arguments": "c_arguments",
    "result": "c_results",
    "message_id": "c_message_ids",
    "result_message_id": "c_result_message_ids",
    "message_bytes": "c_message_bytes",
    "result_bytes": "c_result_bytes",
    "message_body": "c_message_bodies",
    "result_body": "c_result_bodies",
    "run_id": "c_run_ids",
}


def tool_calls_of_arrays(row: Row, key: SessionKey) -> Iterator[ToolCall]:
    """The tool calls of a row that holds them as arrays."""
    if row["c_positions"] is None:
        return
    names = tuple(_TOOL_CALL_ARRAYS)
    columns = [row[column] for column in _TOOL_CALL_ARRAYS.values()]
    yield from tool_calls((dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)), key)


def tool_calls(rows: Iterable[Row], key: SessionKey) -> Iterator[ToolCall]:
    """Tool calls, each with the body of the message that made it, which comes with the first of its calls only."""
    bodies: dict[int, bytes] = {}
    for row in rows:
        message_seq, result_seq = row["message_seq"], row["result_seq"]
        if message_seq is not None and row["message_body"] is not None:
            bodies[message_seq] = row["message_body"]
        yield ToolCall(
            tool_call_id=ids.tool_call_id(key, row["requested_version"], row["position"]),
            requested_version=row["requested_version"],
            position=row["position"],
            version=row["version"],
            call_id=row["call_id"],
            name=row["name"],
            status=ToolCallStatus(row["status"]),
            arguments_digest=row["arguments_digest"],
            message_seq=message_seq,
            message_id=_message_id(key, message_seq, row["message_id"]),
            part_index=row["part_index"],
            result_seq=result_seq,
            result_message_id=_message_id(key, result_seq, row["result_message_id"]),
            ended_version=row["ended_version"] or 0,
            create_time=row["create_time"],
            start_time=row["start_time"],
            end_time=row["end_time"],
            detail=row["detail"],
            run_id=row["run_id"] or "",
            arguments=row["arguments"],
            result=row["result"],
            message_bytes=row["message_bytes"] or 0,
            result_bytes=row["result_bytes"] or 0,
            message_body=None if message_seq is None else bodies.get(message_seq),
            result_body=row["result_body"],
        )


def _message_id(key: SessionKey, seq: int | None, own_id: str | None) -> str:
    return "" if seq is None else own_id or ids.message_id(key, seq)
