from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import grpc
import pytest

from lockstitch import Client, RunFenced, RunHandle, SessionNotFound, user
from lockstitch.errors import RunEnded, RunNotFound
from lockstitch.types import CommitReceipt, Fence, Run
from lockstitch.v1 import run_service_pb2 as wire
from support.waiting import until

STARTED = wire.StartRunResponse(
    run=Run(run_id="r1", session_id="s", fencing_token=7, started_version=2), receipt=CommitReceipt(version=2)
)
LONG, SHORT = timedelta(hours=1), timedelta(milliseconds=30)


def renewed(**more: Any) -> wire.RenewRunResponse:
    return wire.RenewRunResponse(run=Run(run_id="r1", session_id="s", fencing_token=7, **more))


@asynccontextmanager
async def held(scripted: Any, *steps: Any, lease: timedelta = LONG) -> AsyncIterator[RunHandle]:
    scripted.will(STARTED, *steps)
    async with Client(scripted.target, token="t") as client, client.session("s").run(lease=lease) as run:
        yield run


def fenced(fail: Any, run_id: str = "r1") -> Any:
    return fail(grpc.StatusCode.FAILED_PRECONDITION, "RUN_FENCED", metadata={"run_id": run_id}, text="Fenced.")


async def test_every_change_carries_the_fence(scripted: Any) -> None:
    async with held(scripted) as run:
        await run.append(messages=[user("hi")])
        await run.update_memory(change={"goal": "g"})
        await run.update(title="T")
        await run.update_tool_call(call_id="c1")
        await run.complete_tool_call(call_id="c1")
        await run.remove(last=1)
        await run.update_message(message_id="m", message=user("hi"))
        await run.update_own_memory(change={"goal": "g"})
        await run.renew()
    fences = [request.fence for request in scripted.requests[1:]]
    assert fences == [Fence(run_id="r1", fencing_token=7)] * 10
    assert isinstance(scripted.requests[-1], wire.FinishRunRequest)


async def test_renewing_goes_on_through_trouble_of_every_kind(scripted: Any, fail: Any) -> None:
    trouble = [
        fail(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED"),
        fail(grpc.StatusCode.INTERNAL, "INTERNAL"),
        fail(grpc.StatusCode.UNAVAILABLE, pushback="-1"),
        fail(grpc.StatusCode.DEADLINE_EXCEEDED),
    ]
    async with held(scripted, *trouble, renewed(cancel_requested=True), lease=SHORT) as run:
        await until(lambda: run.cancel_requested, "a renewal behind the trouble")
        assert not run.is_lost


async def test_a_token_that_can_not_be_had_loses_no_run(scripted: Any) -> None:
    asked = 0

    def token() -> str:
        nonlocal asked
        asked += 1
        if asked in {2, 3}:
            raise OSError("the token service is away")
        return "t"

    scripted.will(STARTED)
    async with (
        Client(scripted.target, token=token) as client,
        client.session("s").run(lease=SHORT) as run,
    ):
        await until(lambda: asked > 4, "more renewals")
        assert not run.is_lost


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, "RUN_FENCED", RunFenced),
        (grpc.StatusCode.FAILED_PRECONDITION, "RUN_ENDED", RunEnded),
        (grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND", RunNotFound),
        (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND", SessionNotFound),
    ],
)
async def test_a_lost_run_sends_nothing_more(
    scripted: Any, fail: Any, code: grpc.StatusCode, reason: str, kind: type[Exception]
) -> None:
    lost = fail(code, reason, metadata={"run_id": "r1"}, text="It is over.")

    async def work() -> None:
        async with held(scripted, renewed(), lost, lease=SHORT) as run:
            await until(lambda: run.is_lost, "a run that learns that it is lost")
            for _ in range(2):
                with pytest.raises(kind, match="It is over"):
                    await run.append(messages=[user("late")])

    with pytest.raises(kind, match="It is over"):
        await work()
    assert [type(request).__name__ for request in scripted.requests] == [
        "StartRunRequest",
        "RenewRunRequest",
        "RenewRunRequest",
    ]


async def test_a_write_that_is_fenced_loses_the_run(scripted: Any, fail: Any) -> None:
    async def work() -> None:
        async with held(scripted, fenced(fail)) as run:
            with pytest.raises(RunFenced):
                await run.append(messages=[user("late")])
            assert run.is_lost

    with pytest.raises(RunFenced):
        await work()
    assert len(scripted.requests) == 2


async def test_what_is_said_of_another_run_loses_none(scripted: Any, fail: Any) -> None:
    ended = fail(grpc.StatusCode.FAILED_PRECONDITION, "RUN_ENDED", metadata={"run_id": "r0"})
    async with held(scripted, ended) as run:
        with pytest.raises(RunEnded):
            await run.update_memory(run_id="r0", change={"goal": "late"})
        assert not run.is_lost
        await run.append(messages=[user("hi")])


async def test_a_run_that_was_granted_before_now_is_renewed_at_once(scripted: Any) -> None:
    replayed = wire.StartRunResponse(run=STARTED.run, receipt=CommitReceipt(version=2, replayed=True))
    scripted.will(replayed, renewed(cancel_requested=True))
    async with Client(scripted.target, token="t") as client, client.session("s").run(lease=LONG) as run:
        await until(lambda: run.cancel_requested, "a renewal")
