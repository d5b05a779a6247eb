"""Renewals of leases, gathered: those that come while one statement runs are the next."""

import asyncio
from collections import deque
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from lockstitch_server.errors import Overloaded
from lockstitch_server.model import Fence, Run, SessionRef
from lockstitch_server.store import gathering, rows
from lockstitch_server.store.changing import Statements

_BATCH_MAX = 64


@dataclass(frozen=True, slots=True)
class _Renewal:
    ref: SessionRef
    fence: Fence
    lease: timedelta
    answer: "asyncio.Future[asyncpg.Record]"


class Renewals:
    """Renews leases, many in one statement, without a time to wait for any: a renewal alone is sent at once."""

    def __init__(self, statements: Statements) -> None:
        """Nothing runs while nothing is to be renewed."""
        self._statements = statements
        self._waiting: deque[_Renewal] = deque()
        self._task: asyncio.Task[None] | None = None

    async def renew(self, ref: SessionRef, fence: Fence, lease: timedelta) -> tuple[str, Run | None]:
        """Renew a lease; gives what became of it, and the run."""
        answer: asyncio.Future[asyncpg.Record] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Renewal(ref, fence, lease, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._send(), name="renewals")
        row = await answer
        renewed = row["r_outcome"] == "renewed"
        return row["r_outcome"], rows.run(row, ref.session_id) if renewed else None

    async def _send(self) -> None:
        try:
            await self._send_batch()
            while self._waiting:
                await gathering.gathered(self._waiting)
                await self._send_batch()
        finally:
            self._task = None

    async def _send_batch(self) -> None:
        count = min(len(self._waiting), _BATCH_MAX)
        batch = [self._waiting.popleft() for _ in range(count)]
        # In the order of their keys, so that two processes never wait for each other.
        batch.sort(key=lambda renewal: renewal.ref.key.bytes)
        await self._send_some([renewal for renewal in batch if not renewal.answer.done()])

    async def _send_some(self, batch: list[_Renewal]) -> None:
        if not batch:
            return
        try:
            answers = await self._statements.fetch(
                "renew_runs",
                [renewal.ref.tenant_id for renewal in batch],
                [renewal.ref.key for renewal in batch],
                [renewal.ref.session_id for renewal in batch],
                [renewal.fence.run_id for renewal in batch],
                [renewal.fence.fencing_token for renewal in batch],
                [renewal.lease for renewal in batch],
            )
        except BaseException as error:
            for renewal in batch:
                if not renewal.answer.done():
                    told = error if isinstance(error, Exception) else Overloaded("The server is stopping.")
                    renewal.answer.set_exception(told)
            if not isinstance(error, Exception):
                raise
            return
        for renewal, answer in zip(batch, answers, strict=True):
            if not renewal.answer.done():
                renewal.answer.set_result(answer)
