"""CONTRACT 10: a run is ended by its holder, with its last messages or alone; others ask, or end it at once."""

from typing import Any

import grpc
import pytest

from factories import patched, said
from support.rpc import As, Create, Rpc, as_replayed, field_refused, refusal
from support.running import (
    ACTIVE,
    CANCELLED,
    DONE,
    ENDED,
    EXPIRED,
    FAILED,
    FENCED,
    NO_RUN,
    SUPERSEDED,
    fence_of,
    run_of,
    started,
    version_of,
)


async def test_a_run_is_asked_to_end_and_its_holder_reads_that_when_it_renews(
    engines: tuple[Rpc, Rpc], user: Rpc, create: Create
) -> None:
    session_id = await create()
    run = await started(engines[0], session_id)
    asked = await user.CancelRun(session_id=session_id, run_id=run.run_id)
    assert (asked.run.cancel_requested, asked.run.status, asked.receipt.version) == (True, ACTIVE, 3)
    again = await engines[1].CancelRun(session_id=session_id, run_id=run.run_id)
    assert (again.run.cancel_requested, again.receipt.version, again.receipt.replayed) == (True, 3, False)
    (commit,) = (await user.ListCommits(session_id=session_id, after_version=2)).commits
    assert commit.run == asked.run
    for seen in (
        (await engines[0].RenewRun(session_id=session_id, fence=fence_of(run))).run,
        await run_of(user, session_id, run.run_id),
        (await user.GetContext(session_id=session_id)).last_run,
    ):
        assert seen.cancel_requested
    # It is asked, not fenced: what it has goes in, and it says how it ended.
    await engines[0].Append(session_id=session_id, fence=fence_of(run), messages=[said("what I have")])
    end = await engines[0].FinishRun(session_id=session_id, fence=fence_of(run), status=CANCELLED, error="as you wish")
    assert (end.run.status, end.run.cancel_requested, end.run.error) == (CANCELLED, True, "as you wish")
    refused = await refusal(user.CancelRun(session_id=session_id, run_id=run.run_id))
    assert refused.what == ENDED


@pytest.mark.parametrize("role", ["engine", "admin"])
@pytest.mark.parametrize("asked_before", [False, True])
async def test_a_run_is_ended_at_once_and_its_holder_is_fenced(
    call_as: As, engine: Rpc, create: Create, role: str, *, asked_before: bool
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    if asked_before:
        await engine.CancelRun(session_id=session_id, run_id=run.run_id)
    answer = await call_as("x", role).CancelRun(session_id=session_id, run_id=run.run_id, now=True)
    assert (answer.run.status, answer.run.ended_version) == (CANCELLED, answer.receipt.version)
    session = (await engine.GetSession(session_id=session_id)).session
    assert (session.active_run_id, session.version) == ("", answer.receipt.version)
    for call in (
        engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("late")]),
        engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE),
        engine.RenewRun(session_id=session_id, fence=fence_of(run)),
    ):
        assert (await refusal(call)).what == FENCED
    assert (await refusal(engine.CancelRun(session_id=session_id, run_id=run.run_id, now=True))).what == ENDED


async def test_a_user_asks_and_does_not_end(user: Rpc, engine: Rpc, create: Create) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    refused = await refusal(user.CancelRun(session_id=session_id, run_id=run.run_id, now=True))
    assert refused.what == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
    assert (await run_of(engine, session_id, run.run_id)) == run


async def test_what_is_asked_of_no_run_is_not_found(engine: Rpc, create: Create) -> None:
    session_id, other = await create(), await create()
    run = await started(engine, other)
    for run_id in ("never-was", run.run_id):
        for call in (
            engine.CancelRun(session_id=session_id, run_id=run_id),
            engine.CancelRun(session_id=session_id, run_id=run_id, now=True, expected_version=77),
            engine.GetRun(session_id=session_id, run_id=run_id),
            engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE),
            engine.RenewRun(session_id=session_id, fence=fence_of(run)),
        ):
            assert (await refusal(call)).what == NO_RUN


@pytest.mark.parametrize("status", [DONE, FAILED, CANCELLED])
async def test_a_holder_ends_its_run(engine: Rpc, create: Create, status: int) -> None:
    session_id = await create()
    run = await started(engine, session_id, labels={"a": "b"})
    error = "" if status == DONE else "why"
    answer = await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=status, error=error)
    end = answer.run
    assert (end.status, end.error, end.ended_version, end.end_time) == (status, error, 3, answer.receipt.commit_time)
    assert await run_of(engine, session_id, run.run_id) == end
    (commit,) = (await engine.ListCommits(session_id=session_id, after_version=2)).commits
    assert (commit.run, commit.run_id) == (end, run.run_id)
    assert (await engine.GetSession(session_id=session_id)).session.active_run_id == ""
    for call in (
        engine.FinishRun(session_id=session_id, fence=fence_of(run), status=status, error=error),
        engine.RenewRun(session_id=session_id, fence=fence_of(run)),
        engine.CancelRun(session_id=session_id, run_id=run.run_id),
    ):
        refused = await refusal(call)
        assert (refused.what, refused.metadata) == (ENDED, {"run_id": run.run_id})


async def test_a_run_ends_with_its_last_messages_in_one_commit(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    run = await started(engines[0], session_id)
    last: dict[str, Any] = {
        "session_id": session_id,
        "request_id": "last",
        "fence": fence_of(run),
        "messages": [said("bye")],
        "memory_change": patched('{"goal":null,"next_action":"rest"}'),
        "finish_run": {"status": FAILED, "error": "out of words"},
    }
    receipt = (await engines[0].Append(**last)).receipt
    (commit,) = (await engines[0].ListCommits(session_id=session_id, after_version=2)).commits
    assert (receipt.version, commit.run.status, commit.run.error) == (3, FAILED, "out of words")
    assert [message.run_id for message in commit.messages] == [run.run_id]
    assert (await run_of(engines[0], session_id, run.run_id)) == commit.run
    assert (await engines[0].GetSession(session_id=session_id)).session.active_run_id == ""
    # Its end does not stand in the way of its retry, nor does the next run.
    await started(engines[0], session_id)
    assert (await engines[1].Append(**last)).receipt == as_replayed(receipt)
    assert (await refusal(engines[1].Append(**last | {"request_id": "other"}))).what == ENDED


async def test_an_end_alone_is_an_append_and_needs_the_fence(engine: Rpc, create: Create) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    alone = {"session_id": session_id, "finish_run": {"status": DONE}}
    assert await field_refused(engine.Append(**alone)) == "finish_run"
    receipt = (await engine.Append(**alone, fence=fence_of(run))).receipt
    assert (receipt.version, receipt.first_seq, list(receipt.message_ids)) == (3, 0, [])
    assert (await run_of(engine, session_id, run.run_id)).status == DONE


async def test_a_refused_append_ends_no_run(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("x", message_id="taken")])
    run = await started(engine, session_id)
    refused = await refusal(
        engine.Append(
            session_id=session_id,
            fence=fence_of(run),
            messages=[said("y", message_id="taken")],
            finish_run={"status": DONE},
        )
    )
    assert refused.reason == "MESSAGE_ID_EXISTS"
    assert await run_of(engine, session_id, run.run_id) == run
    assert (await engine.GetSession(session_id=session_id)).session.active_run_id == run.run_id


@pytest.mark.parametrize("error", ["a\x00b", "two\nlines\t\x7f", "\U0001f600" * 16_384, "x" * 65_536])
async def test_an_error_is_any_text(engine: Rpc, create: Create, error: str) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    end = (await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=FAILED, error=error)).run
    assert end.error == error
    assert (await run_of(engine, session_id, run.run_id)).error == error
    assert (await engine.GetContext(session_id=session_id)).last_run.error == error
    again = await started(engine, session_id)
    await engine.Append(session_id=session_id, fence=fence_of(again), finish_run={"status": CANCELLED, "error": error})
    assert (await run_of(engine, session_id, again.run_id)).error == error


@pytest.mark.parametrize(
    ("field", "end"),
    [
        ("status", {}),
        ("status", {"status": ACTIVE}),
        ("status", {"status": SUPERSEDED}),
        ("status", {"status": EXPIRED}),
        ("status", {"status": 77}),
        ("status", {"status": -1}),
        ("error", {"status": DONE, "error": "e"}),
        ("error", {"status": FAILED, "error": "x" * 65_537}),
        ("error", {"status": CANCELLED, "error": "\U0001f600" * 16_385}),
    ],
)
async def test_an_end_that_is_none_is_refused_by_name(
    engine: Rpc, create: Create, field: str, end: dict[str, Any]
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    alone = engine.FinishRun(session_id=session_id, fence=fence_of(run), **end)
    assert await field_refused(alone) == field
    with_it = engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("x")], finish_run=end)
    assert await field_refused(with_it) == f"finish_run.{field}"
    assert await version_of(engine, session_id) == 2
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
