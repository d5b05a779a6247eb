"""The lease of a run that is held here: renewed in the background, until the run ends or is somebody else's."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

from lockstitch import retries
from lockstitch.errors import LockstitchError, NotFound, RunEnded, RunFenced, SessionDeleted
from lockstitch.transport import Transport
from lockstitch.v1.run_pb2 import Fence, Run
from lockstitch.v1.run_service_pb2 import RenewRunRequest
from lockstitch.wire import duration

RENEWALS_A_LEASE = 3
"""How often a lease is renewed before it would run out."""

_TIMEOUT_MIN = timedelta(seconds=1)


class Lease:
    """Knows what became of a run, from renewals and from what the run's own changes were told."""

    def __init__(self, transport: Transport, run: Run, length: timedelta) -> None:
        self._transport = transport
        self._length = length
        self._is_ending = False
        self.run = run
        """The run as it was last told."""
        self.fence = Fence(run_id=run.run_id, fencing_token=run.fencing_token)
        self.has_ended = False
        """Whether it was ended here."""
        self.loss: LockstitchError | None = None
        """Why it is not held here any more; None while it is, and where it was ended here."""

    @asynccontextmanager
    async def renewed(self, *, at_once: bool) -> AsyncIterator[None]:
        """Renews the lease until the context ends; ``at_once`` where nobody knows how much of it is left."""
        renewing = asyncio.create_task(self._renew_on(at_once=at_once), name=f"renew {self.run.run_id}")
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def renew(self, *, timeout: timedelta | None) -> Run:
        """Renews the lease now. Raises what says that it is lost."""
        request = RenewRunRequest(session_id=self.run.session_id, fence=self.fence, lease=duration(self._length))
        with self.calling(finishes=False):
            response = await self._transport.call(lambda to: to.runs.RenewRun, request, timeout=timeout)
        self.run = response.run
        return response.run

    @contextmanager
    def calling(self, *, finishes: bool) -> Iterator[None]:
        """Stands around a call that is made under the run; ``finishes`` where it is to end the run as well."""
        self.refuse_lost()
        self._is_ending = self._is_ending or finishes
        try:
            yield
        except (RunFenced, RunEnded) as error:
            # A change of another run's memory may be told of that run's end.
            if error.run_id == self.run.run_id:
                self._lose(error)
            raise
        else:
            self.has_ended = self.has_ended or finishes
        finally:
            self._is_ending = self._is_ending and not finishes

    def refuse_lost(self) -> None:
        """Raises why the run is not held here any more, if it is not."""
        if self.loss is not None:
            told = self.loss
            raise type(told)(told.message, reason=told.reason, metadata=told.metadata) from told

    def _lose(self, error: LockstitchError) -> None:
        # While it is being ended here, its end is no loss.
        if not self._is_ending and not self.has_ended:
            self.loss = self.loss or error

    async def _renew_on(self, *, at_once: bool) -> None:
        every = self._length / RENEWALS_A_LEASE
        waits = retries.waits()
        wait_seconds = 0.0 if at_once else every.total_seconds()
        while self.loss is None and not self.has_ended and not self._transport.is_closed:
            await asyncio.sleep(wait_seconds)
            try:
                await self.renew(timeout=max(every, _TIMEOUT_MIN))
            except (RunFenced, RunEnded, NotFound, SessionDeleted) as error:
                self._lose(error)
                wait_seconds = every.total_seconds()
            except Exception:  # noqa: BLE001 - whatever it is, a token that can't be had too, the lease may yet be saved
                wait_seconds = min(next(waits), every.total_seconds())
            else:
                waits = retries.waits()
                wait_seconds = every.total_seconds()
