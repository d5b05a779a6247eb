"""Runs through the client: held, renewed, and ended with their body."""

import asyncio
from datetime import timedelta

import pytest

from lockstitch import (
    Client,
    ExpectedVersionRequired,
    RunActive,
    RunEnded,
    RunNotFound,
    SessionHandle,
    assistant,
    call,
    replace,
    run_end,
    user,
    working_memory,
)
from lockstitch.errors import InvalidField
from lockstitch.types import Run, RunStatus, ToolCallStatus
from lockstitch_server.server_process import ServerProcess
from support.waiting import until

RUNNING = RunStatus.RUN_STATUS_RUNNING
SUCCEEDED = RunStatus.RUN_STATUS_SUCCEEDED
FAILED = RunStatus.RUN_STATUS_FAILED
CANCELLED = RunStatus.RUN_STATUS_CANCELLED
SHORT = timedelta(seconds=1)


async def last_run(session: SessionHandle) -> Run:
    return (await session.context()).last_run


async def test_a_run_begins_and_ends_with_its_body(client: Client) -> None:
    session = await client.create()
    async with session.run(worker="engine-1", labels={"turn": "1"}) as run:
        held = await session.get_run(run.run_id)
        assert (held.status, held.worker, dict(held.labels)) == (RUNNING, "engine-1", {"turn": "1"})
        assert (held.fencing_token, held.lease_expire_time.ToDatetime()) == (
            run.fencing_token,
            run.lease_expire_time.replace(tzinfo=None),
        )
        assert (await session.get()).session.active_run_id == run.run_id
        assert not run.is_joined
    ended = await session.get_run(run.run_id)
    assert (ended.status, ended.error) == (SUCCEEDED, "")
    assert (await session.get()).session.active_run_id == ""
    assert [one.run_id async for one in session.runs()] == [run.run_id]
    assert await last_run(session) == ended


async def test_everything_made_through_a_run_is_made_under_it(client: Client) -> None:
    session = await client.create(memory=working_memory(goal="a"))
    async with session.run() as run:
        receipt = await run.append(messages=[user("do"), assistant(tool_calls=[call("c1", "act", {})])])
        await run.update_tool_call(call_id="c1", status=ToolCallStatus.TOOL_CALL_STATUS_RUNNING)
        await run.complete_tool_call(call_id="c1", result="done")
        await run.append(messages=[assistant("It is done.")])
        await run.remove(last=1)
        await run.update_message(message_id=receipt.message_ids[0], message=user("[redacted]"))
        await run.update_memory(change=replace(working_memory(goal="b")))  # the fence is its guard
        await run.update(labels={"a": "b"})
    made = [commit async for commit in session.commits(after_version=1)]
    assert [(commit.run_id, commit.run.run_id) for commit in made] == [
        ("", run.run_id),
        *[(run.run_id, "")] * 8,
        (run.run_id, run.run_id),
    ]
    assert {message.run_id async for message in session.messages()} == {run.run_id}
    assert [entry.call_id async for entry in session.tool_calls(run_id=run.run_id)] == ["c1"]
    assert [entry async for entry in session.tool_calls(run_id="another")] == []


async def test_what_a_run_makes_its_session_has_seen(client: Client) -> None:
    session = await client.create()
    async with session.run() as run:
        await run.append(messages=[user("a")], memory_change={"goal": "g"})
        assert (session.version, session.memory_version) == (run.version, run.memory_version) == (3, 3)
        await session.append(messages=[user("b")], expected_version=session.version)
        await run.append(messages=[assistant("c")], expected_version=run.version)
    await session.append(messages=[user("d")], expected_version=session.version)


async def test_without_the_fence_a_value_computed_from_an_old_one_needs_another_guard(client: Client) -> None:
    session = await client.create(memory=working_memory(goal="a"))
    async with session.run():
        with pytest.raises(ExpectedVersionRequired):
            await session.update_memory(change=replace(working_memory(goal="b")))


async def test_a_run_has_memory_of_its_own(client: Client) -> None:
    session = await client.create(memory=working_memory(goal="the session's"))
    async with session.run() as run:
        first = await run.update_own_memory(change={"goal": "the run's"})
        await run.update_own_memory(change={"plan": ["a"]}, expected_memory_version=first.memory.version)
        assert (await run.own_memory()).goal == "the run's"
        assert (await run.memory()).goal == "the session's"
        assert session.memory_version == 1
    kept = await session.memory(run_id=run.run_id)
    assert (kept.goal, list(kept.plan)) == ("the run's", ["a"])
    versions = [memory.version async for memory in session.memory_versions(run_id=run.run_id)]
    assert versions == [kept.version, first.memory.version]
    with pytest.raises(RunEnded):
        await session.update_memory(run_id=run.run_id, change={"goal": "late"})


async def test_a_lease_is_renewed_for_longer_than_it_is(client: Client) -> None:
    session = await client.create()
    async with session.run(lease=SHORT) as run:
        granted = run.lease_expire_time
        await until(lambda: run.lease_expire_time > granted + 3 * SHORT, "three leases")
        with pytest.raises(RunActive) as busy:
            async with client.session(session.session_id).run():
                pytest.fail("two runs at once")
        assert busy.value.run_id == run.run_id
        assert busy.value.lease_expire_time is not None
        assert busy.value.lease_expire_time > granted + 3 * SHORT
        await run.append(messages=[user("still here")])
    assert (await last_run(session)).status == SUCCEEDED


async def test_a_run_can_be_renewed_at_will(client: Client) -> None:
    session = await client.create()
    async with session.run(lease=timedelta(hours=1)) as run:
        granted = run.lease_expire_time
        renewed = await run.renew()
        assert renewed.lease_expire_time.ToDatetime() > granted.replace(tzinfo=None)


async def test_an_exception_in_the_body_ends_the_run_as_failed_and_is_raised(client: Client) -> None:
    session = await client.create()
    with pytest.raises(ZeroDivisionError):
        async with session.run():
            _ = 1 / 0
    ended = await last_run(session)
    assert (ended.status, ended.error) == (FAILED, "ZeroDivisionError: division by zero")


async def test_a_long_text_of_an_exception_is_cut(client: Client) -> None:
    session = await client.create()
    with pytest.raises(ValueError, match="é"):
        async with session.run():
            raise ValueError("é" * 100_000 + "\udc88")
    ended = await last_run(session)
    assert ended.status == FAILED
    assert ended.error.startswith("ValueError: éé")
    assert len(ended.error.encode()) <= 8192


async def test_a_cancelled_body_ends_the_run_as_cancelled(client: Client) -> None:
    session = await client.create()
    started = asyncio.Event()

    async def work() -> None:
        async with session.run():
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ended = await last_run(session)
    assert (ended.status, ended.error) == (CANCELLED, "CancelledError")


async def test_a_body_may_say_how_its_run_ends(client: Client) -> None:
    session = await client.create()
    async with session.run() as run:
        await run.finish(status="failed", error="The disk is full.")
        with pytest.raises(RunEnded):
            await run.append(messages=[user("late")])
    ended = await last_run(session)
    assert (ended.status, ended.error) == (FAILED, "The disk is full.")


async def test_the_last_messages_and_the_end_are_one_commit(client: Client) -> None:
    session = await client.create()
    async with session.run() as run:
        receipt = await run.append(messages=[assistant("Done.")], finish=run_end("cancelled", error="Enough."))
    ended = await last_run(session)
    assert (ended.status, ended.error, ended.ended_version) == (CANCELLED, "Enough.", receipt.version)
    assert session.version == receipt.version


async def test_an_end_that_is_refused_leaves_the_run_running(client: Client) -> None:
    session = await client.create()
    async with session.run() as run:
        with pytest.raises(InvalidField):
            await run.append(messages=[assistant("Done.")], finish=run_end("succeeded", error="but why"))
        await run.append(messages=[assistant("Go on.")])
    assert (await last_run(session)).status == SUCCEEDED


async def test_a_session_has_no_run_to_finish(client: Client) -> None:
    session = await client.create()
    with pytest.raises(InvalidField, match="fence"):
        await session.append(messages=[user("hi")], finish=run_end())
    with pytest.raises(InvalidField, match="must be one of"):
        run_end("done")  # type: ignore[arg-type]
    with pytest.raises(RunNotFound):
        await session.get_run("none")


def test_a_run_can_be_held_from_any_loop(server: ServerProcess) -> None:
    client = Client(server.target, token=server.token(tenant="client-tests"))
    session = client.run(client.create())

    async def work() -> None:
        async with session.run(lease=SHORT) as run:
            granted = run.lease_expire_time
            await until(lambda: run.lease_expire_time > granted, "a renewal")
            await run.append(messages=[user("hi")])

    asyncio.run(work())  # a loop of its own, which is not the connection's
    client.run(work())  # the connection's own
    assert [run.status for run in client.iterate(session.runs())] == [SUCCEEDED, SUCCEEDED]
    asyncio.run(client.close())
