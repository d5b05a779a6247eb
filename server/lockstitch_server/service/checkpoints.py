"""Checkpoints: put, found by id or as the latest, listed, copied, deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lockstitch_server import ids
from lockstitch_server.errors import CheckpointNotFound, LockstitchError, RunEnded, RunFenced, SessionNotFound
from lockstitch_server.model import (
    Change,
    Checkpoint,
    CheckpointPlace,
    CheckpointWrite,
    Content,
    Fence,
    NewCheckpoint,
    NewSession,
    Receipt,
    SessionKey,
    SessionRef,
)
from lockstitch_server.service import json_text, outcomes
from lockstitch_server.service.paging import Page, PageRequest, Paging
from lockstitch_server.service.quotas import Quotas
from lockstitch_server.store.checkpoints import CheckpointDeletion, CheckpointFilter, CheckpointStore, ListedPlace
from lockstitch_server.store.results import ChangeReport

_ANCESTORS_MAX = 1000
_SCANNED_MAX = 5000
_METADATA_BYTES_MAX = 8 * 1024 * 1024
"""What a page of a list reads of metadata that it is filtered by, before it ends."""


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """Which checkpoint is asked for, and from where on its writes and ancestors."""

    ref: SessionRef
    namespace: str
    checkpoint_id: str
    ancestors: bool
    writes_page: PageRequest
    ancestors_page: PageRequest


@dataclass(frozen=True, slots=True)
class CheckpointAnswer:
    """A checkpoint with its ancestors, and how to go on with its writes and with them."""

    checkpoint: Checkpoint
    ancestors: tuple[Checkpoint, ...]
    next_writes_page_token: str
    next_ancestors_page_token: str


class Checkpoints:
    """Puts, finds, lists, copies and deletes checkpoints."""

    def __init__(self, store: CheckpointStore, paging: Paging, quotas: Quotas) -> None:
        """Answers are cut as `paging` says."""
        self._store = store
        self._paging = paging
        self._quotas = quotas

    async def put(self, change: Change, new: NewCheckpoint, create: NewSession | None) -> Receipt:
        """Put a checkpoint."""
        return _receipt(await self._store.put(change, new, self._quotas.applied(change, create)), change)

    async def put_writes(
        self,
        ref: SessionRef,
        fence: Fence | None,
        namespace: str,
        checkpoint_id: str,
        writes: Sequence[CheckpointWrite],
    ) -> None:
        """Put pending writes."""
        outcome = await self._store.put_writes(ref, fence, namespace, checkpoint_id, writes)
        if outcome != "put":
            raise _refused(outcome, fence)

    async def delete(self, change: Change, deletion: CheckpointDeletion) -> tuple[int, Receipt]:
        """Delete checkpoints; gives how many."""
        report = await self._store.delete(change, deletion)
        return report.count, _receipt(report, change)

    async def copy(self, change: Change, source: SessionRef, create: NewSession | None) -> tuple[int, Receipt]:
        """Copy checkpoints to another session; gives how many."""
        report = await self._store.copy(change, source, self._quotas.applied(change, create))
        return report.count, _receipt(report, change)

    async def get(self, asked: CheckpointRequest) -> CheckpointAnswer:
        """Give a checkpoint, or what is still to be given of it."""
        after_write = self._paging.cursor(asked.writes_page, (str, str, int, str))
        from_ancestor = self._paging.cursor(asked.ancestors_page, (str, str))
        if from_ancestor is not None:
            ancestor_id, checkpoint_id = from_ancestor
            found = await self._found(asked, checkpoint_id, ancestors=_ANCESTORS_MAX, ancestor_id=ancestor_id)
            bare = await self._found(asked, checkpoint_id, ancestors=0, bytes_max=0)
            return self._answer(asked, _without_content(bare[0]), found, next_writes_page_token="")
        if after_write is not None:
            task_path, task_id, index, checkpoint_id = after_write
            place = (task_path, task_id, index)
            (checkpoint,) = await self._found(asked, checkpoint_id, ancestors=0, after_write=place)
            return CheckpointAnswer(
                checkpoint=replace(_without_content(checkpoint), writes=checkpoint.writes),
                ancestors=(),
                next_writes_page_token=self._writes_token(asked, checkpoint),
                next_ancestors_page_token="",
            )
        found = await self._found(asked, asked.checkpoint_id, ancestors=_ANCESTORS_MAX if asked.ancestors else 0)
        token = self._writes_token(asked, found[0])
        return self._answer(asked, found[0], found[1:], next_writes_page_token=token)

    def _answer(
        self,
        asked: CheckpointRequest,
        checkpoint: Checkpoint,
        ancestors: tuple[Checkpoint, ...],
        *,
        next_writes_page_token: str,
    ) -> CheckpointAnswer:
        token = ""
        # The last one that was given says whether there are more. A page of none ends them: that parent was deleted.
        last = ancestors[-1] if ancestors else checkpoint
        if asked.ancestors and last.parent_id and (ancestors or not asked.ancestors_page.page_token):
            token = self._paging.token(asked.ancestors_page, last.parent_id, checkpoint.checkpoint_id)
        return CheckpointAnswer(
            checkpoint=checkpoint,
            ancestors=ancestors,
            next_writes_page_token=next_writes_page_token,
            next_ancestors_page_token=token,
        )

    def _writes_token(self, asked: CheckpointRequest, checkpoint: Checkpoint) -> str:
        if not checkpoint.has_more_writes:
            return ""
        if not checkpoint.writes:
            return self._paging.token(asked.writes_page, "", "", 0, checkpoint.checkpoint_id)
        last = checkpoint.writes[-1]
        return self._paging.token(asked.writes_page, last.task_path, last.task_id, last.index, checkpoint.checkpoint_id)

    async def _found(
        self,
        asked: CheckpointRequest,
        checkpoint_id: str,
        *,
        ancestors: int,
        ancestor_id: str = "",
        after_write: tuple[str, str, int] | None = None,
        bytes_max: int | None = None,
    ) -> tuple[Checkpoint, ...]:
        found = await self._store.get(
            asked.ref,
            asked.namespace,
            checkpoint_id,
            after_write=after_write,
            ancestors=ancestors,
            ancestor_id=ancestor_id,
            bytes_max=self._paging.answer_bytes_max if bytes_max is None else bytes_max,
        )
        if found is None:
            raise SessionNotFound
        if not found and not ancestor_id:
            raise CheckpointNotFound
        return found

    async def list(
        self, page: PageRequest, shown: CheckpointFilter, metadata: Mapping[bytes, bytes]
    ) -> Page[Checkpoint]:
        """Give a page of checkpoints, the greatest id first; `metadata` has digests of values by key."""
        cursor = self._paging.cursor(page, (str, str, str))
        if cursor is not None:
            checkpoint_id, key, namespace = cursor
            shown = replace(shown, after=CheckpointPlace(checkpoint_id, SessionKey(UUID(key)), namespace))
        size = self._paging.size(page)
        limit = _SCANNED_MAX if metadata else size + 1
        is_filtered = bool(metadata) or shown.namespace is not None or shown.run_id is not None
        listed = await self._store.places(
            shown,
            limit=limit,
            scan=_SCANNED_MAX if is_filtered else limit,
            metadata_bytes_max=_METADATA_BYTES_MAX if metadata else None,
        )
        if listed is None:
            raise SessionNotFound
        matching = [one.place for one in listed if one.shown and _matches(one.metadata, metadata)]
        asked = matching[:size]
        given = await self._store.by_place(shown.tenant_id, asked, bytes_max=self._paging.answer_bytes_max)
        last = None
        # What was deleted since it was found is not given; what has no room is asked for again.
        reached = _place(given[-1], shown.tenant_id) if given else asked[-1] if asked else None
        if reached is not None and reached != matching[-1]:
            last = reached
        elif _is_cut(listed, limit):
            # Filters hid the rest of what was looked at: the next page goes on behind it.
            last = listed[-1].place
        token = "" if last is None else self._paging.token(page, last.checkpoint_id, last.key.hex, last.namespace)
        return Page(items=given, next_page_token=token)


def _is_cut(listed: Sequence[ListedPlace], limit: int) -> bool:
    if not listed:
        return False
    is_full = sum(len(one.metadata) for one in listed) >= _METADATA_BYTES_MAX
    return is_full or listed[-1].is_last or len(listed) == limit


def _place(checkpoint: Checkpoint, tenant_id: str) -> CheckpointPlace:
    key = ids.session_key(tenant_id, checkpoint.session_id)
    return CheckpointPlace(checkpoint.checkpoint_id, key, checkpoint.namespace)


def value_digests(text: bytes) -> dict[bytes, bytes]:
    """The top-level values of a JSON object as digests of what they mean."""
    members = json_text.members(text) or []
    return {member.key: json_text.canonical_digest(member.value) for member in members}


def _matches(stored: bytes, wanted: Mapping[bytes, bytes]) -> bool:
    if not wanted:
        return True
    has = value_digests(stored) if stored else {}
    return all(has.get(key) == digest for key, digest in wanted.items())


def _without_content(checkpoint: Checkpoint) -> Checkpoint:
    return replace(checkpoint, data=b"", metadata=b"", values=(), writes=())


def _receipt(report: ChangeReport, change: Change) -> Receipt:
    error = outcomes.refusal(report, change, Content())
    if error is not None:
        raise error
    return outcomes.receipt(report, change)


def _refused(outcome: str, fence: Fence | None) -> LockstitchError:
    run_id = "" if fence is None else fence.run_id
    match outcome:
        case "run_fenced":
            return RunFenced(run_id)
        case "run_ended":
            return RunEnded(run_id)
    return outcomes.plain(outcome)
