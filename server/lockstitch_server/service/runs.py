"""Runs: one at a time a session, by lease and token."""

from dataclasses import replace
from datetime import timedelta

from lockstitch_server.errors import RunEnded, RunFenced, RunNotFound, SessionExpired, SessionNotFound
from lockstitch_server.model import Change, Content, Fence, NewRun, Receipt, Run, RunEnd, RunStatus, SessionRef
from lockstitch_server.service import outcomes
from lockstitch_server.service.paging import Page, PageRequest, Paging
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.runs import ASK, CANCEL_NOW, FINISH, RunFilter, RunStore

_TOKEN_MAX = 2**63 - 1
_ROW_BYTES = 2048
_ASKED = RunEnd(status=RunStatus.CANCELLED, error=b"")


class Runs:
    """Starts, renews, ends and lists runs."""

    def __init__(self, store: RunStore, paging: Paging) -> None:
        """Pages are as large as `paging` says."""
        self._store = store
        self._paging = paging

    async def start(self, change: Change, new: NewRun) -> tuple[Run, Receipt]:
        """Start a run, or join the active one."""
        return _answered(await self._store.start(change, new), change, new.run_id)

    async def finish(self, change: Change, run_id: str, end: RunEnd) -> tuple[Run, Receipt]:
        """End a run for its holder."""
        return _answered(await self._store.change(change, FINISH, run_id, end), change, run_id)

    async def cancel(self, change: Change, run_id: str, *, now: bool) -> tuple[Run, Receipt]:
        """Ask a run to end, or end it at once."""
        return _answered(await self._store.change(change, CANCEL_NOW if now else ASK, run_id, _ASKED), change, run_id)

    async def renew(self, ref: SessionRef, fence: Fence, lease: timedelta) -> Run:
        """Renew a run's lease."""
        if ref.owner is not None:
            # A renewal looks at the lease alone. What a narrowed engine may reach never changes, so it is asked before.
            await self.get(ref, fence.run_id)
        outcome, run = await self._store.renew(ref, fence, lease)
        match outcome:
            case "session_not_found":
                raise SessionNotFound
            case "session_expired":
                raise SessionExpired
            case "run_not_found":
                raise RunNotFound
            case "run_ended":
                raise RunEnded(fence.run_id)
            case "run_fenced":
                raise RunFenced(fence.run_id)
        if run is None:
            raise ValueError("a renewal gives the run")
        return run

    async def get(self, ref: SessionRef, run_id: str) -> Run:
        """Give a run."""
        shown = RunFilter(run_id=run_id, statuses=None, before_token=_TOKEN_MAX)
        found = await self._store.list(ref, shown, limit=1)
        if found is None:
            raise SessionNotFound
        if not found:
            raise RunNotFound
        return found[0]

    async def list(self, ref: SessionRef, page: PageRequest, statuses: tuple[RunStatus, ...] | None) -> Page[Run]:
        """Give a page of a session's runs, the newest first."""
        cursor = self._paging.cursor(page, (int,))
        size = self._paging.size(page)
        shown = RunFilter(run_id=None, statuses=statuses, before_token=_TOKEN_MAX if cursor is None else cursor[0])
        found = await self._store.list(ref, shown, limit=size + 1)
        if found is None:
            raise SessionNotFound
        items = self._cut(found[:size])
        token = self._paging.token(page, items[-1].fencing_token) if len(found) > len(items) else ""
        return Page(items=items, next_page_token=token)

    def _cut(self, found: tuple[Run, ...]) -> tuple[Run, ...]:
        """Stop before the run that would make the page too large, unless it is the first."""
        total = 0
        for place, run in enumerate(found):
            total += _ROW_BYTES + len(run.error)
            total += sum(8 + len(key.encode()) + len(value.encode()) for key, value in run.labels.items())
            if total > self._paging.answer_bytes_max and place > 0:
                return found[:place]
        return found


def _answered(report: ChangeReport, change: Change, run_id: str) -> tuple[Run, Receipt]:
    if not report.active_run_id:
        report = replace(report, active_run_id=run_id)
    error = outcomes.refusal(report, change, Content())
    if error is not None:
        raise error
    if report.run is None:
        raise ValueError("a change of a run gives the run")
    return report.run, outcomes.receipt(report, change)
