"""The statements about drafts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from lockstitch_server.model import Change, Draft, DraftPiece, DraftStep, MessageRole, NewDraft, SessionRef
from lockstitch_server.store.changing import Statements, head, report_of
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.results import ChangeReport


@dataclass(frozen=True, slots=True)
class OpenReport:
    """What became of the opening of a draft."""

    report: ChangeReport
    offset: int
    """How many bytes of it are stored."""
    idle_ttl: timedelta | None
    """The session's."""


@dataclass(frozen=True, slots=True)
class DraftPage:
    """What is new in the drafts of a session."""

    as_of_version: int
    pieces: tuple[DraftPiece, ...]
    """One for each draft, maybe without any text."""
    is_cut: bool
    """Whether there is more text than was asked for."""


class DraftStore:
    """Opens drafts, adds to them, and reads them."""

    def __init__(self, statements: Statements, reading: Reading, *, idle: timedelta) -> None:
        """A draft is looked at when nobody wrote to it for `idle`."""
        self._statements = statements
        self._reading = reading
        self._idle = idle

    async def open(self, change: Change, new: NewDraft) -> OpenReport:
        """Open a draft, or find it as far as it is written."""
        tenant_id, key, session_id, owner, method, request_id_hash, *_ = head(change)
        row = await self._statements.one(
            "open_draft",
            tenant_id,
            key,
            session_id,
            owner,
            method,
            request_id_hash,
            change.expected_version,
            change.expected_memory_version,
            None if change.fence is None else change.fence.run_id,
            None if change.fence is None else change.fence.fencing_token,
            new.draft_id,
            new.role,
            new.header,
            self._idle,
        )
        return OpenReport(report=report_of(row), offset=row["r_offset"] or 0, idle_ttl=row["r_idle_ttl"])

    async def add(self, steps: Sequence[DraftStep]) -> list[int | None]:
        """Add steps to drafts; gives how far each is stored then, None where it is not there any more."""
        found = await self._statements.fetch(
            "add_draft_steps",
            [step.tenant_id for step in steps],
            [step.key for step in steps],
            [step.request_id_hash for step in steps],
            [step.offset for step in steps],
            [step.text for step in steps],
        )
        return [row["stored"] for row in found]

    async def get(self, ref: SessionRef, request_id_hash: UUID) -> Draft | None:
        """Give what is stored of a draft."""
        found = await self._reading.fetch("get_draft", ref.tenant_id, ref.key, request_id_hash)
        return Draft(header=found[0]["header"], text=found[0]["text"]) if found else None

    async def list(self, ref: SessionRef, known: Mapping[UUID, int], bytes_max: int) -> DraftPage | None:
        """Give the drafts of a session, each with what is stored behind the offset that is known of it.

        None where there is no session.
        """
        found = await self._reading.fetch(
            "list_drafts", ref.tenant_id, ref.key, list(known), list(known.values()), bytes_max
        )
        if not found:
            return None
        head, *drafts = found
        return DraftPage(
            as_of_version=head["version"],
            pieces=tuple(
                DraftPiece(
                    request_id_hash=row["request_hash"],
                    draft_id=row["draft_id"],
                    role=MessageRole(row["role"]),
                    run_id=row["run_id"] or "",
                    offset=row["known"],
                    text=row["text"],
                )
                for row in drafts
            ),
            is_cut=any(row["is_cut"] for row in drafts),
        )

    async def touch(self, ref: SessionRef) -> None:
        """Say that a session is in use."""
        await self._statements.fetch("touch_session", ref.tenant_id, ref.key)
