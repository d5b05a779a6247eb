"""The statements about runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from lockstitch_server.model import Change, Commit, Fence, NewRun, Run, RunEnd, RunStatus, SessionKey, SessionRef
from lockstitch_server.store import rows
from lockstitch_server.store.changing import Statements, head, report_of
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.renewals import Renewals
from lockstitch_server.store.results import ChangeReport

FINISH, ASK, CANCEL_NOW = 1, 2, 3


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a list shows, before a token."""

    run_id: str | None
    statuses: tuple[RunStatus, ...] | None
    before_token: int


class RunStore:
    """Starts, renews, ends and reads runs."""

    def __init__(
        self,
        statements: Statements,
        reading: Reading,
        *,
        run_grace: timedelta,
        committed: Callable[[SessionKey, Callable[[], Commit | None]], None],
    ) -> None:
        """`committed` is told of each commit; a lapsed run is looked at after `run_grace`."""
        self._statements = statements
        self._renewals = Renewals(statements)
        self._reading = reading
        self._run_grace = run_grace
        self._committed = committed

    async def start(self, change: Change, new: NewRun) -> ChangeReport:
        """Start a run; the report has it as of then, or the one that was joined as it is."""
        row = await self._statements.one(
            "start_run",
            *head(change),
            change.expected_version,
            new.run_id,
            new.worker,
            new.lease,
            new.on_busy,
            list(new.labels),
            list(new.labels.values()),
            self._run_grace,
        )
        report = report_of(row)
        if row["run_id"] is not None:
            at = None if report.outcome == "unchanged" else report.version
            report = replace(report, run=rows.run(row, change.session.session_id, at))
        return self._told(
            change,
            replace(report, active_run_id=row["r_run_id"] or "", lease_expire_time=row["r_lease_expire_time"]),
        )

    async def change(self, change: Change, kind: int, run_id: str, end: RunEnd) -> ChangeReport:
        """End a run, or ask it to end; the report has it as of then."""
        row = await self._statements.one(
            "change_run",
            *head(change),
            change.expected_version,
            kind,
            run_id,
            None if change.fence is None else change.fence.fencing_token,
            end.status,
            end.error,
        )
        report = report_of(row)
        if row["run_id"] is not None:
            report = replace(report, run=rows.run(row, change.session.session_id, report.version))
        return self._told(change, report)

    async def renew(self, ref: SessionRef, fence: Fence, lease: timedelta) -> tuple[str, Run | None]:
        """Renew a lease; gives what became of it, and the run."""
        return await self._renewals.renew(ref, fence, lease)

    async def list(self, ref: SessionRef, shown: RunFilter, *, limit: int) -> tuple[Run, ...] | None:
        """Give up to `limit` runs, the newest first; None where there is no session."""
        found = await self._reading.fetch(
            "list_runs",
            ref.tenant_id,
            ref.key,
            ref.session_id,
            ref.owner,
            shown.run_id,
            shown.statuses,
            shown.before_token,
            limit,
        )
        return tuple(rows.run(row, ref.session_id) for row in found[1:]) if found else None

    def _told(self, change: Change, report: ChangeReport) -> ChangeReport:
        if report.outcome == "committed":
            self._committed(change.session.key, lambda: None)
        return report
