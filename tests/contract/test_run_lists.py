"""CONTRACT 10 and 14: a run and its session never disagree, and runs are listed newest first."""

import asyncio
from typing import Any

import grpc
import pytest

from factories import said
from lockstitch.v1.session_pb2 import SESSION_STATUS_CLOSED, SESSION_STATUS_DELETED
from support.rpc import As, Create, Refusal, Rpc, field_refused, outcome, refusal
from support.running import (
    ACTIVE,
    BUSY,
    CANCELLED,
    DONE,
    EXPIRED,
    FAILED,
    FENCED,
    INTERRUPT,
    SUPERSEDED,
    Lapse,
    fence_of,
    run_of,
    started,
)


async def _every_end(engine: Rpc, create: Create, lapse: Lapse) -> str:
    """Make a session with a run of every status; the newest is active."""
    session_id = await create()
    for status in (DONE, FAILED, CANCELLED):
        run = await started(engine, session_id, run_id=f"run {status}")
        await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=status)
    await started(engine, session_id, run_id=f"run {SUPERSEDED}")
    await started(engine, session_id, run_id=f"run {EXPIRED}", on_busy=INTERRUPT)
    await lapse(session_id)
    await started(engine, session_id, run_id=f"run {ACTIVE}", labels={"a": "b"}, worker="w")
    return session_id


async def test_runs_are_listed_newest_first_and_each_is_what_get_gives(
    engine: Rpc, user: Rpc, create: Create, lapse: Lapse
) -> None:
    session_id = await _every_end(engine, create, lapse)
    runs = (await user.ListRuns(session_id=session_id)).runs
    assert [run.status for run in runs] == [ACTIVE, EXPIRED, SUPERSEDED, CANCELLED, FAILED, DONE]
    assert [run.fencing_token for run in runs] == [6, 5, 4, 3, 2, 1]
    for run in runs:
        assert run == await run_of(user, session_id, run.run_id)
        assert run.run_id == f"run {run.status}"
        assert bool(run.ended_version) is run.HasField("end_time") is (run.status != ACTIVE)
    assert not (await user.ListRuns(session_id=await create())).runs


async def test_runs_are_listed_by_status_and_in_pages(engine: Rpc, create: Create, lapse: Lapse) -> None:
    session_id = await _every_end(engine, create, lapse)

    async def pages(**fields: Any) -> list[list[int]]:
        found, token = [], ""
        while True:
            page = await engine.ListRuns(session_id=session_id, page_token=token, **fields)
            found.append([run.status for run in page.runs])
            if not (token := page.next_page_token):
                return found

    assert await pages(statuses=[DONE, EXPIRED]) == [[EXPIRED, DONE]]
    assert await pages(page_size=4) == [[ACTIVE, EXPIRED, SUPERSEDED, CANCELLED], [FAILED, DONE]]
    assert await pages(page_size=6) == [[ACTIVE, EXPIRED, SUPERSEDED, CANCELLED, FAILED, DONE]]
    assert await pages(page_size=1, statuses=[ACTIVE, FAILED]) == [[ACTIVE], [FAILED]]
    assert await pages(page_size=1_000_000) == await pages()
    # What begins while paging is not mixed in; what ends meanwhile is told as it is then.
    first = await engine.ListRuns(session_id=session_id, page_size=2)
    await started(engine, session_id, on_busy=INTERRUPT)
    second = await engine.ListRuns(session_id=session_id, page_size=9, page_token=first.next_page_token)
    assert [run.fencing_token for run in (*first.runs, *second.runs)] == [6, 5, 4, 3, 2, 1]


async def test_a_list_of_runs_that_is_none_is_refused_by_name(engine: Rpc, create: Create, lapse: Lapse) -> None:
    session_id = await _every_end(engine, create, lapse)
    assert await field_refused(engine.ListRuns(session_id=session_id, page_size=-1)) == "page_size"
    for status in (0, 77, -1):
        told = await field_refused(engine.ListRuns(session_id=session_id, statuses=[ACTIVE, status]))
        assert told == "statuses[1]"
    token = (await engine.ListRuns(session_id=session_id, page_size=1)).next_page_token
    other = await _every_end(engine, create, lapse)
    for call in (
        engine.ListRuns(session_id=other, page_token=token),
        engine.ListRuns(session_id=session_id, page_token=token, statuses=[ACTIVE]),
        engine.ListRuns(session_id=session_id, page_token=token[:-1]),
        engine.ListRuns(session_id=session_id, page_token="x"),
        engine.ListCommits(session_id=session_id, page_token=token),
    ):
        assert (await refusal(call)).reason == "PAGE_TOKEN_INVALID"
    assert await field_refused(engine.GetRun(session_id=session_id)) == "run_id"


async def test_runs_with_the_largest_errors_are_listed_in_pages_that_a_client_takes(
    engine: Rpc, create: Create
) -> None:
    session_id = await create()
    error = "x" * 65_536
    for _ in range(60):
        run = await started(engine, session_id)
        await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=FAILED, error=error)
    tokens, token = [], ""
    while True:
        page = await engine.ListRuns(session_id=session_id, page_size=1000, page_token=token)
        assert page.ByteSize() <= 3 * 1024 * 1024
        tokens += [run.fencing_token for run in page.runs]
        if not (token := page.next_page_token):
            break
    assert tokens == list(range(60, 0, -1))
    commits, token = [], ""
    while True:
        listed = await engine.ListCommits(session_id=session_id, page_size=1000, page_token=token)
        assert listed.ByteSize() <= 4 * 1024 * 1024 - 64 * 1024
        commits += listed.commits
        if not (token := listed.next_page_token):
            break
    assert sum(len(commit.run.error) for commit in commits) == 60 * 65_536


async def test_a_session_names_its_active_run_now_and_at_every_version(
    engine: Rpc, create: Create, lapse: Lapse
) -> None:
    session_id = await _every_end(engine, create, lapse)
    runs = (await engine.ListRuns(session_id=session_id)).runs
    version = (await engine.GetSession(session_id=session_id)).session.version
    for at in range(1, version + 1):
        active = [run.run_id for run in runs if run.started_version <= at and not 0 < run.ended_version <= at]
        seen = (await engine.GetSession(session_id=session_id, at_version=at)).session
        assert [seen.active_run_id] == (active or [""])
    (listed,) = (await engine.ListSessions()).sessions
    context = await engine.GetContext(session_id=session_id)
    assert listed.active_run_id == context.session.active_run_id == context.last_run.run_id == runs[0].run_id
    assert context.last_run == runs[0]


async def test_the_last_run_is_in_the_context_ended_or_not(engine: Rpc, create: Create) -> None:
    session_id = await create()
    assert not (await engine.GetContext(session_id=session_id)).HasField("last_run")
    run = await started(engine, session_id)
    assert (await engine.GetContext(session_id=session_id)).last_run == run
    end = (await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=FAILED, error="e")).run
    context = await engine.GetContext(session_id=session_id)
    assert (context.last_run, context.session.active_run_id) == (end, "")


async def test_no_read_sees_a_run_and_its_session_disagree(engines: tuple[Rpc, Rpc], create: Create) -> None:
    """Read contexts while runs begin and end: what one answer says of both is of one version."""
    session_id = await create()
    done = asyncio.Event()

    async def turns() -> None:
        for _ in range(15):
            run = await started(engines[0], session_id)
            await engines[0].Append(
                session_id=session_id, fence=fence_of(run), messages=[said("x")], finish_run={"status": DONE}
            )
        done.set()

    async def watch() -> int:
        seen = 0
        while not done.is_set():
            context = await engines[1].GetContext(session_id=session_id)
            running = context.last_run.status == ACTIVE
            assert context.session.active_run_id == (context.last_run.run_id if running else "")
            assert max(context.last_run.ended_version, context.last_run.started_version) in {0, context.as_of_version}
            seen += 1
        return seen

    _, seen = await asyncio.gather(turns(), watch())
    assert seen > 5


SHUT = {"CloseSession": SESSION_STATUS_CLOSED, "DeleteSession": SESSION_STATUS_DELETED}


@pytest.mark.parametrize("method", SHUT)
async def test_a_session_with_an_active_run_is_not_closed_or_deleted_without_force(
    engine: Rpc, user: Rpc, create: Create, method: str
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    before = (await engine.GetSession(session_id=session_id)).session
    for caller, fields in ((engine, {}), (user, {}), (engine, {"expected_version": 77})):
        refused = await refusal(getattr(caller, method)(session_id=session_id, **fields))
        assert (refused.what, refused.metadata["run_id"]) == (BUSY, run.run_id)
        assert set(refused.metadata) == {"run_id", "lease_expire_time"}
    refused = await refusal(getattr(user, method)(session_id=session_id, force=True))
    assert refused.what == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
    assert (await engine.GetSession(session_id=session_id)).session == before
    await engine.FinishRun(session_id=session_id, fence=fence_of(run), status=DONE)
    await getattr(user, method)(session_id=session_id)


@pytest.mark.parametrize("role", ["engine", "admin"])
@pytest.mark.parametrize("method", SHUT)
async def test_force_ends_and_fences_the_run_in_the_same_commit(
    call_as: As, engine: Rpc, create: Create, method: str, role: str
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    answer = await getattr(call_as("x", role), method)(session_id=session_id, force=True)
    assert (answer.session.status, answer.session.active_run_id, answer.receipt.version) == (SHUT[method], "", 3)
    seen = (await engine.GetSession(session_id=session_id, show_deleted=True)).session
    assert seen == answer.session
    if method == "DeleteSession":
        assert (await refusal(engine.GetRun(session_id=session_id, run_id=run.run_id))).reason == "SESSION_NOT_FOUND"
        await engine.UndeleteSession(session_id=session_id)
    else:
        await engine.RestoreSession(session_id=session_id)
    ended = await run_of(engine, session_id, run.run_id)
    assert (ended.status, ended.ended_version, bool(ended.error)) == (CANCELLED, 3, True)
    commit = (await engine.ListCommits(session_id=session_id, after_version=2)).commits[0]
    assert (commit.run, commit.session.status) == (ended, SHUT[method])
    late = engine.Append(session_id=session_id, fence=fence_of(run), messages=[said("late")])
    assert (await refusal(late)).what == FENCED


@pytest.mark.parametrize("method", SHUT)
async def test_a_lapsed_run_is_ended_by_a_close_or_a_deletion_without_force(
    engine: Rpc, user: Rpc, create: Create, lapse: Lapse, method: str
) -> None:
    session_id = await create()
    run = await started(engine, session_id)
    await lapse(session_id)
    answer = await getattr(user, method)(session_id=session_id)
    assert (answer.session.active_run_id, answer.receipt.version) == ("", 3)
    await engine.UndeleteSession(session_id=session_id)
    ended = await run_of(engine, session_id, run.run_id)
    assert (ended.status, ended.ended_version) == (EXPIRED, 3)


async def test_closes_that_race_with_starts_leave_no_run_on_a_closed_session(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    for _ in range(10):
        session_id = await create()
        closing, starting = await asyncio.gather(
            outcome(engines[0].CloseSession(session_id=session_id)),
            outcome(engines[1].StartRun(session_id=session_id)),
        )
        session = (await engines[0].GetSession(session_id=session_id)).session
        assert isinstance(closing, Refusal) != isinstance(starting, Refusal)
        if isinstance(closing, Refusal):
            assert (closing.reason, session.active_run_id) == ("RUN_ACTIVE", starting.run.run_id)
        else:
            assert (starting.reason, session.active_run_id) == ("SESSION_CLOSED", "")
