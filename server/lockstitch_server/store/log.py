"""Reads a session's log: its commits with what they carried."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from lockstitch_server.model import (
    CheckpointRef,
    Commit,
    Message,
    Method,
    Principal,
    Run,
    Session,
    SessionKey,
    SessionRef,
    ToolCall,
)
from lockstitch_server.store import rows
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.results import CommitPage
from lockstitch_server.store.rows import Row

_STATE_CHANGES = {
    Method.CREATE_SESSION,
    Method.CLOSE_SESSION,
    Method.RESTORE_SESSION,
    Method.UPDATE_SESSION,
    Method.DELETE_SESSION,
    Method.UNDELETE_SESSION,
    Method.EXPIRE_SESSION,
}


class Log:
    """Reads commits; what they carried is read by their versions and seqs, in four further statements at most."""

    def __init__(self, reading: Reading) -> None:
        """Reads through the pool that the writer has, too."""
        self._reading = reading

    async def list_commits(
        self,
        ref: SessionRef,
        *,
        after_version: int,
        before_version: int,
        descending: bool,
        limit: int,
        bytes_max: int,
        show_deleted: bool = False,
    ) -> CommitPage | None:
        """Give up to `limit` commits between two versions (both excluded); None where there is no session."""
        found = await self._reading.fetch(
            "list_commits",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            after_version,
            before_version,
            descending,
            limit,
            bytes_max,
            show_deleted,
        )
        if not found:
            return None
        head, *log = found
        messages = await self._messages(ref, log)
        tool_calls = await self._tool_calls(ref, log)
        sessions = await self._sessions(ref, log)
        runs = await self._runs(ref, log)
        return CommitPage(
            as_of_version=head["c_version"],
            commits=tuple(
                Commit(
                    version=row["c_version"],
                    request_id_hash=row["c_request_hash"].bytes,
                    principal=Principal(
                        tenant_id=ref.tenant_id,
                        subject=row["c_principal_subject"],
                        role=rows.PRINCIPAL_ROLES_BACK[row["c_principal_role"]],
                    ),
                    method=Method(row["c_method"]),
                    traceparent=row["c_traceparent"] or "",
                    commit_time=row["c_commit_time"],
                    memory_change=row["c_memory_change"],
                    messages=tuple(messages[row["c_version"]]),
                    tool_calls=tuple(tool_calls[row["c_version"]]),
                    session=sessions.get(row["c_version"]),
                    run_id=row["c_run_id"] or "",
                    run=_run_at(runs, row["c_changed_run_id"], ref, row["c_version"]),
                    ended_run=_run_at(runs, row["c_ended_run_id"], ref, row["c_version"]),
                    memory_run_id=row["c_memory_run_id"] or "",
                    checkpoints=tuple(_checkpoints(row)),
                    removed=(row["c_removed_from"], row["c_removed_to"]) if row["c_removed_from"] else None,
                    erased=row["c_erased"],
                )
                for row in log
            ),
            fetched=log[0]["fetched"] if log else 0,
        )

    async def versions(self, refs: Sequence[SessionRef]) -> dict[SessionKey, tuple[int, bool]]:
        """Give the versions of sessions of any tenants, and whether something is drafted, in one statement."""
        found = await self._reading.fetch(
            "session_versions", [ref.tenant_id for ref in refs], [ref.key for ref in refs]
        )
        return {row["session_key"]: (row["version"], row["is_drafting"]) for row in found}

    async def _messages(self, ref: SessionRef, log: Sequence[Row]) -> dict[int, list[Message]]:
        messages: dict[int, list[Message]] = defaultdict(list)
        bearing = [row for row in log if row["c_new_messages"]]
        updated = [row["c_updated_seq"] for row in log if row["c_updated_seq"] is not None]
        if bearing or updated:
            versions = [row["c_version"] for row in log]
            found = await self._reading.fetch(
                "messages_of_commits",
                ref.tenant_id,
                ref.key,
                min(versions),
                max(versions),
                min((row["c_last_seq"] - row["c_new_messages"] + 1 for row in bearing), default=None),
                max((row["c_last_seq"] for row in bearing), default=None),
                updated,
            )
            for row in found:
                messages[row["m_version"]].append(rows.message(row, ref.key))
        return messages

    async def _tool_calls(self, ref: SessionRef, log: Sequence[Row]) -> dict[int, list[ToolCall]]:
        touched: dict[tuple[int, int, int], None] = {}
        for row in log:
            version, changed = row["c_version"], row["c_changed_tool_calls"] or ()
            touched.update(((*call, version), None) for call in zip(changed[::2], changed[1::2], strict=True))
            touched.update(((version, position, version), None) for position in range(row["c_new_tool_calls"]))
        tool_calls: dict[int, list[ToolCall]] = defaultdict(list)
        if touched:
            requested_versions, positions, at = zip(*touched, strict=True)
            # What messages hold is not given again: no bodies.
            found = await self._reading.fetch(
                "tool_calls_at", ref.tenant_id, ref.key, requested_versions, positions, at, -1
            )
            for tool_call in rows.tool_calls(found, ref.key):
                tool_calls[tool_call.version].append(tool_call)
        return tool_calls

    async def _sessions(self, ref: SessionRef, log: Sequence[Row]) -> dict[int, Session]:
        versions = [row["c_version"] for row in log if row["c_version"] == 1 or row["c_method"] in _STATE_CHANGES]
        if not versions:
            return {}
        found = await self._reading.fetch("sessions_at", ref.tenant_id, ref.key, versions)
        return {row["s_version"]: rows.session(row, ref.tenant_id) for row in found}

    async def _runs(self, ref: SessionRef, log: Sequence[Row]) -> dict[str, Row]:
        named = {row[column] for row in log for column in ("c_changed_run_id", "c_ended_run_id")} - {None}
        if not named:
            return {}
        found = await self._reading.fetch("runs_by_id", ref.tenant_id, ref.key, list(named))
        return {row["run_id"]: row for row in found}


def _checkpoints(row: Row) -> Iterator[CheckpointRef]:
    ids = row["c_checkpoint_ids"] or ()
    sizes = row["c_checkpoint_bytes"] or (0,) * len(ids)
    for namespace, checkpoint_id, size in zip(row["c_checkpoint_namespaces"] or (), ids, sizes, strict=True):
        yield CheckpointRef(namespace, checkpoint_id, size, row["c_checkpoints_deleted"])


def _run_at(runs: dict[str, Row], run_id: str | None, ref: SessionRef, version: int) -> Run | None:
    return None if run_id is None else rows.run(runs[run_id], ref.session_id, version)
