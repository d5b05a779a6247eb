"""Runs that are lost, cancelled and joined, through the client."""

from datetime import timedelta

import pytest

from lockstitch import (
    Client,
    RunEnded,
    RunFenced,
    RunHandle,
    SessionHandle,
    assistant,
    new_call,
    resource,
    run_end,
    user,
)
from lockstitch.types import RunStatus, ToolCallStatus
from support.waiting import until

RUNNING = RunStatus.RUN_STATUS_RUNNING
SUCCEEDED = RunStatus.RUN_STATUS_SUCCEEDED
CANCELLED = RunStatus.RUN_STATUS_CANCELLED
SUPERSEDED = RunStatus.RUN_STATUS_SUPERSEDED
SHORT = timedelta(seconds=1)


@pytest.fixture
async def session(client: Client) -> SessionHandle:
    return await client.create()


@pytest.fixture
def elsewhere(client: Client, session: SessionHandle) -> SessionHandle:
    """Another engine's handle of the same session."""
    return client.session(session.session_id)


async def interrupt(session: SessionHandle) -> None:
    async with session.run(worker="interrupter", on_busy="interrupt"):
        pass


async def statuses(session: SessionHandle) -> list[tuple[str, "RunStatus.ValueType"]]:
    return [(run.worker, run.status) async for run in session.runs()]


async def test_an_interrupted_run_is_fenced_and_learns_of_it_by_itself(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    job = new_call("c1", "write", {}, status=ToolCallStatus.TOOL_CALL_STATUS_RUNNING, resources=[resource("file:///a")])

    async def second(first: RunHandle) -> None:
        async with elsewhere.run(worker="second", on_busy="interrupt") as run:
            assert run.fencing_token > first.fencing_token
            await until(lambda: first.is_lost, "a run that learns that it is lost")
            (interrupted,) = (await run.context()).recent_tool_calls
            assert (interrupted.status, interrupted.call_id) == (ToolCallStatus.TOOL_CALL_STATUS_INTERRUPTED, "c1")

    async def first() -> None:
        async with session.run(worker="first", lease=SHORT) as run:
            await run.append(tool_calls=[job])
            await second(run)
            await run.append(messages=[user("late")])

    with pytest.raises(RunFenced) as fenced:
        await first()
    assert (await session.get_run(fenced.value.run_id)).worker == "first"
    assert await statuses(session) == [("second", SUCCEEDED), ("first", SUPERSEDED)]
    assert [message async for message in session.messages()] == []


async def test_a_fenced_write_stores_nothing_before_the_holder_knows(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    async def first() -> None:
        async with session.run(worker="first") as run:
            await interrupt(elsewhere)
            assert not run.is_lost
            await run.append(messages=[user("late")])

    with pytest.raises(RunFenced):
        await first()
    assert [message async for message in session.messages()] == []


async def test_a_fenced_run_does_not_hide_what_its_body_raises(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    async def first() -> None:
        async with session.run(worker="first") as run:
            await interrupt(elsewhere)
            with pytest.raises(RunFenced):
                await run.append(messages=[user("late")])
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await first()
    assert await statuses(session) == [("interrupter", SUCCEEDED), ("first", SUPERSEDED)]


async def test_a_body_that_only_ends_is_told_that_its_run_was_fenced(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    async def first() -> None:
        async with session.run():
            await interrupt(elsewhere)

    with pytest.raises(RunFenced):
        await first()


async def test_an_end_that_fails_after_an_exception_is_a_note_on_it(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    async def first() -> None:
        async with session.run():
            await interrupt(elsewhere)
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError) as raised:
        await first()
    assert "could not be ended" in raised.value.__notes__[0]


async def test_a_run_that_was_cancelled_at_once_is_fenced(session: SessionHandle, elsewhere: SessionHandle) -> None:
    async def first() -> None:
        async with session.run() as run:
            assert (await elsewhere.cancel_run(run.run_id, now=True)).run.status == CANCELLED
            await run.append(messages=[user("late")])

    with pytest.raises(RunFenced) as fenced:
        await first()
    with pytest.raises(RunEnded):
        await session.cancel_run(fenced.value.run_id)


async def test_a_holder_sees_that_it_is_asked_to_end(client: Client, user_client: Client) -> None:
    session = await user_client.create()
    held = client.session(session.session_id)
    async with held.run(lease=SHORT) as run:
        assert not run.cancel_requested
        asked = await session.cancel_run(run.run_id)
        assert asked.run.cancel_requested
        assert (await session.cancel_run(run.run_id)).receipt.version == asked.receipt.version
        await until(lambda: run.cancel_requested, "a holder that is asked to end")
        await run.finish(status="cancelled")
    assert await statuses(held) == [("", CANCELLED)]


async def test_a_joined_run_is_left_to_who_started_it(session: SessionHandle, elsewhere: SessionHandle) -> None:
    async def failing() -> None:
        async with elsewhere.run(on_busy="join"):
            _ = 1 / 0

    async with session.run(worker="first") as first:
        async with elsewhere.run(worker="second", on_busy="join") as second:
            assert second.is_joined
            assert (second.run_id, second.fencing_token) == (first.run_id, first.fencing_token)
            await second.append(messages=[assistant("from the second")])
        with pytest.raises(ZeroDivisionError):
            await failing()
        assert await statuses(session) == [("first", RUNNING)]
        await first.append(messages=[assistant("from the first")])
    assert await statuses(session) == [("first", SUCCEEDED)]
    assert {message.run_id async for message in session.messages()} == {first.run_id}


async def test_a_joined_run_is_renewed_by_both(session: SessionHandle, elsewhere: SessionHandle) -> None:
    async with session.run(lease=SHORT) as first, elsewhere.run(on_busy="join", lease=SHORT) as second:
        seen = first.lease_expire_time, second.lease_expire_time
        await until(lambda: first.lease_expire_time > seen[0], "the starter's renewal")
        await until(lambda: second.lease_expire_time > seen[1], "the joiner's renewal")


async def test_joining_moves_no_version(session: SessionHandle, elsewhere: SessionHandle) -> None:
    async with session.run():
        version = session.version
        async with elsewhere.run(on_busy="join"):
            assert elsewhere.version == 0
        assert (await session.get()).session.version == version


async def test_joining_where_nobody_runs_starts_a_run(session: SessionHandle) -> None:
    async with session.run(worker="first", on_busy="join") as run:
        assert not run.is_joined
    assert await statuses(session) == [("first", SUCCEEDED)]


async def test_a_joined_run_that_is_interrupted_says_so_where_the_body_ends(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    async def joiner() -> None:
        async with elsewhere.run(on_busy="join", lease=SHORT) as run:
            await interrupt(session)
            await until(lambda: run.is_lost, "a joiner that learns of it")

    async def starter() -> None:
        async with session.run():
            with pytest.raises(RunFenced):
                await joiner()

    with pytest.raises(RunFenced):
        await starter()


async def test_a_joiner_whose_work_is_done_minds_no_end_of_the_run(
    session: SessionHandle, elsewhere: SessionHandle
) -> None:
    async with session.run() as first, elsewhere.run(on_busy="join", lease=SHORT) as second:
        await second.append(messages=[assistant("My part is done.")])
        await first.finish()
        await until(lambda: second.is_lost, "a joiner that learns of the end")


async def test_a_run_of_ones_own_name_is_taken_up_again(session: SessionHandle, elsewhere: SessionHandle) -> None:
    async def before() -> None:
        async with session.run(run_id="job-1") as run:
            await after(run)

    async def after(taken_up: RunHandle) -> None:
        async with elsewhere.run(run_id="job-1", on_busy="join") as run:
            assert (run.fencing_token, run.is_joined) == (taken_up.fencing_token, False)
            await run.append(messages=[assistant("Done.")], finish=run_end())

    with pytest.raises(RunEnded) as ended:
        await before()
    assert ended.value.run_id == "job-1"
    with pytest.raises(RunEnded):
        await before()
