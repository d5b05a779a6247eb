"""A session's runs: one execution at a time, by lease and fence."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Literal

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.errors import RunFenced
from lockstitch.lease import Lease
from lockstitch.run_handle import RunHandle
from lockstitch.v1.run_pb2 import Run, RunStatus
from lockstitch.v1.run_service_pb2 import (
    CancelRunRequest,
    CancelRunResponse,
    GetRunRequest,
    ListRunsRequest,
    OnBusy,
    StartRunRequest,
)
from lockstitch.wire import Sendable, checked_labels, duration, refused

WhenBusy = Literal["reject", "join", "interrupt"]
"""What happens where a run is active."""

_ON_BUSY: dict[str, OnBusy.ValueType] = {
    "reject": OnBusy.ON_BUSY_REJECT,
    "join": OnBusy.ON_BUSY_JOIN,
    "interrupt": OnBusy.ON_BUSY_INTERRUPT,
}
_LEASE = timedelta(seconds=30)
_ERROR_BYTES_MAX = 8192


class SessionRuns(SessionChanges):
    """The runs of a session; :class:`lockstitch.SessionHandle` says what every change takes."""

    @asynccontextmanager
    async def run(
        self,
        *,
        worker: str = "",
        lease: timedelta = _LEASE,
        on_busy: WhenBusy = "reject",
        labels: Mapping[str, str] | None = None,
        run_id: str = "",
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> AsyncIterator[RunHandle]:
        """Holds a run while its body works: started here, renewed in the background, ended with the body.

        The lease is renewed three times as often as it would run out, on the body's event loop: a body that blocks its
        loop for longer than the lease may lose the run. Trouble on the way does not end it: renewing goes on until the
        server says that the run is somebody else's. A run whose lease has run out is taken over by whoever starts the
        next one; its RUNNING tool calls are INTERRUPTED then, which ``session.context()`` shows.

        The run ends as SUCCEEDED where the body ends, as FAILED with the exception's text (8 KiB of it) where it
        raises, as CANCELLED where its task is cancelled; or earlier, as ``run.finish()`` or ``run.append(finish=…)``
        says. Where it could not be ended after an exception, the exception has a note that says so. A run that was
        joined is renewed and fenced like one's own, but left running: who started it ends it.

        Args:
            worker: Who holds it, in your words, at most 128 characters.
            lease: How long it is safe from takeover without being renewed, 1 second to 1 hour. Shorter finds a dead
                engine sooner, longer costs fewer renewals and survives longer trouble.
            on_busy: Where a run is active: ``"reject"`` raises :class:`lockstitch.RunActive`; ``"join"`` gives that
                run; ``"interrupt"`` ends it as SUPERSEDED, so that its holder is fenced.
            labels: At most 64, kept with the run.
            run_id: Your own id for it, used once in its session; the server makes one otherwise. Joining a run by its
                own id takes it up as yours, such as after a restart: it is ended with the body.
            expected_version, request_id, timeout: See the class.

        Raises:
            RunActive: A run is active; it has ``run_id`` and ``lease_expire_time``.
            RunEnded: A run of this ``run_id`` has ended.
            RunFenced: When the body had ended: somebody else took over meanwhile.
            VersionConflict

        Example:
            ``async with session.run(worker="engine-1") as run: await run.append(messages=[assistant("Done.")])``
        """
        if on_busy not in _ON_BUSY:
            raise refused("on_busy", f"must be one of {', '.join(_ON_BUSY)}")
        request_id = request_id or new_request_id()
        if on_busy == "join" and not run_id:
            run_id = _name_of(self.session_id, request_id)
        with Sendable("run"):
            request = StartRunRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                run_id=run_id,
                worker=worker,
                lease=duration(lease),
                on_busy=_ON_BUSY[on_busy],
                labels=checked_labels(labels),
            )
        response = await self._call(lambda to: to.runs.StartRun, request, timeout=timeout, request_id=request_id)
        is_joined = on_busy == "join" and response.run.run_id != run_id
        if not is_joined and response.run.started_version == response.receipt.version:
            self._made(response.receipt, expected_version)
        held = Lease(self._transport, response.run, lease)
        run = RunHandle(self._transport, self.session_id, self._seen, held, is_joined=is_joined)
        # Of a lease that was granted before now, nobody knows how much is left.
        async with held.renewed(at_once=on_busy == "join" or response.receipt.replayed):
            try:
                yield run
            except BaseException as error:
                await _end_after(error, run, held)
                raise
            await _end_well(run, held)

    async def runs(
        self,
        *,
        statuses: Iterable[RunStatus.ValueType] = (),
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[Run]:
        """The session's runs, the newest first, fetched a page at a time as you go on.

        Args:
            statuses: Only runs in one of these; all where empty.
            page_size: Runs a page; 0 is 50, at most 1,000.
            timeout: Of each page; see the class.

        Example:
            ``async for run in session.runs(): print(run.run_id, run.worker, run.error)``
        """
        request = ListRunsRequest(session_id=self.session_id, statuses=statuses, page_size=page_size)
        while True:
            page = await self._call(lambda to: to.runs.ListRuns, request, timeout=timeout)
            for run in page.runs:
                yield run
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def get_run(self, run_id: str, *, timeout: timedelta | None = None) -> Run:
        """One run: where it stands, who holds it, until when its lease is live.

        Raises:
            RunNotFound: There is no such run in this session.

        Example:
            ``print((await session.get_run(session.info.active_run_id)).worker)``
        """
        with Sendable("run_id"):
            request = GetRunRequest(session_id=self.session_id, run_id=run_id)
        return (await self._call(lambda to: to.runs.GetRun, request, timeout=timeout)).run

    async def cancel_run(
        self,
        run_id: str,
        *,
        now: bool = False,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CancelRunResponse:
        """Asks a run to end: its holder sees ``run.cancel_requested`` when it renews. Asking twice changes nothing.

        Args:
            run_id: Which run.
            now: Ends it at once, as CANCELLED: its holder is fenced, its RUNNING tool calls are INTERRUPTED. For
                engines and admins.
            expected_version, request_id, timeout: See the class.

        Raises:
            RunNotFound, RunEnded, VersionConflict

        Example:
            ``await session.cancel_run(active.run_id)``
        """
        request_id = request_id or new_request_id()
        with Sendable("cancel_run"):
            request = CancelRunRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                run_id=run_id,
                now=now,
            )
        response = await self._call(lambda to: to.runs.CancelRun, request, timeout=timeout, request_id=request_id)
        self._made(response.receipt, expected_version)
        return response


def _name_of(session_id: str, request_id: str) -> str:
    """A run's id, made here so that another one in the answer is a joined run's, and the same for a retry."""
    seed = f"{session_id} {request_id}".encode(errors="surrogatepass")
    return f"run_{sha256(seed).hexdigest()[:32]}"


async def _end_well(run: RunHandle, lease: Lease) -> None:
    if lease.has_ended:
        return
    if not run.is_joined:
        await run.finish()
    elif isinstance(lease.loss, RunFenced):
        lease.refuse_lost()


async def _end_after(error: BaseException, run: RunHandle, lease: Lease) -> None:
    if lease.has_ended or lease.loss is not None or run.is_joined:
        return
    status: Literal["cancelled", "failed"] = "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"
    try:
        await run.finish(status=status, error=_text_of(error))
    except Exception as failure:  # noqa: BLE001 - the body's own exception is the one to be seen
        error.add_note(f"The run {run.run_id} could not be ended: {failure}")


def _text_of(error: BaseException) -> str:
    name, said = type(error).__name__, str(error)
    text = f"{name}: {said}" if said else name
    return text.encode(errors="replace")[:_ERROR_BYTES_MAX].decode(errors="ignore")
