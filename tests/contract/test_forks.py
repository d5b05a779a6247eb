"""A fork is its source as it was, splits no call from its result, and goes on by itself."""

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import grpc
import pytest

from factories import (
    AWAITING_APPROVAL,
    CANCELLED,
    INTERRUPTED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    answered,
    called,
    fresh,
    patched,
    replaced,
    said,
    texts_of,
)
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import ForkSessionResponse, StreamDraftRequest
from support.databases import Database
from support.forking import Life, is_a_copy, ledger, own
from support.histories import whole
from support.rpc import Create, Refusal, Rpc, field_refused, outcome, refusal
from support.waiting import POLL_SECONDS

SEEDS = (1, 2, 31)
CHANGES = 40
INVALID = (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


async def lived(engines: tuple[Rpc, Rpc], create: Create, seed: int) -> Life:
    session_id = await create(messages=[said("first")], memory={"goal": "g"}, title="t", agent="a")
    life = Life(engines, session_id, Random(seed))
    await life.make(CHANGES)
    assert life.changes > CHANGES / 3, life.refused
    return life


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_fork_at_any_version_is_the_session_as_it_was(
    engines: tuple[Rpc, Rpc], create: Create, seed: int
) -> None:
    life = await lived(engines, create, seed)
    accepted = life.whole_versions()
    assert accepted[-1] == max(life.seen)
    for version, source in sorted(life.seen.items()):
        forker, reader = engines[version % 2], engines[1 - version % 2]
        forked = await outcome(forker.ForkSession(session_id=life.session_id, at_version=version))
        if version in accepted:
            assert isinstance(forked, ForkSessionResponse), (version, forked)
            assert (forked.session.forked_from.session_id, forked.session.forked_from.version) == (
                life.session_id,
                version,
            )
            await is_a_copy(reader, forked, source, life.ledgers[version])
            continue
        below = max((whole for whole in accepted if whole < version), default=0)
        above = min(whole for whole in accepted if whole > version)
        assert isinstance(forked, Refusal), (version, forked)
        assert (*forked.what, forked.field) == (*INVALID, "at_version")
        nearest = {"nearest_below": str(below)} if below else {}
        assert forked.metadata == {**nearest, "nearest_above": str(above)}
        assert forked.text.endswith(f": {below} and {above}" if below else f": {above}")
    assert await whole(engines[0], life.session_id) == life.seen[max(life.seen)]


async def test_a_fork_and_its_source_go_on_apart(engines: tuple[Rpc, Rpc], create: Create) -> None:
    life = await lived(engines, create, 7)
    await outcome(engines[0].RestoreSession(session_id=life.session_id))
    fork_id = (await engines[0].ForkSession(session_id=life.session_id)).session.session_id
    source_then, fork_then = await whole(engines[0], life.session_id), await whole(engines[1], fork_id)

    fork = Life(engines, fork_id, Random(8))
    await fork.make(CHANGES)
    assert fork.changes > CHANGES / 3, fork.refused
    assert await whole(engines[0], life.session_id) == source_then

    source = Life(engines, life.session_id, Random(9), seen={**life.seen})
    fork_now = await whole(engines[1], fork_id)
    for _ in range(CHANGES):
        await outcome(engines[0].Append(session_id=life.session_id, messages=[said("on")]))
    await engines[0].RemoveMessages(session_id=life.session_id, last=10)
    await source.look()
    assert await whole(engines[1], fork_id) == fork_now
    # Of its own past, the fork reads every version, the first as it was forked.
    for version, then in fork.seen.items():
        assert await whole(engines[0], fork_id, version) == then
    assert await whole(engines[0], fork_id, 1) == fork_then


async def test_calls_that_came_along_open_end_in_the_fork(engine: Rpc, create: Create) -> None:
    source = await create(messages=[called("a", "b", "c", "d", "e", text="t"), called("own")])
    await engine.UpdateToolCall(session_id=source, call_id="b", status=RUNNING, resources=[{"uri": "u", "before": "1"}])
    await engine.UpdateToolCall(session_id=source, call_id="c", status=AWAITING_APPROVAL)
    await engine.UpdateToolCall(session_id=source, call_id="d", status=AWAITING_APPROVAL)
    await engine.CompleteToolCall(session_id=source, call_id="e", status=INTERRUPTED, error="lost")
    await engine.Append(session_id=source, tool_calls=[{"call_id": "bare", "name": "n", "arguments_json": "[1]"}])
    before = await ledger(engine, source)
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    statuses = {call.call_id: call.status for call in await ledger(engine, fork)}
    assert statuses == {call.call_id: call.status for call in before}
    assert [statuses[name] for name in "abce"] == [PENDING, RUNNING, AWAITING_APPROVAL, INTERRUPTED]

    await engine.Append(session_id=fork, messages=[answered("a")])
    ended = await engine.CompleteToolCall(session_id=fork, call_id="b", result_json="1")
    assert [(r.uri, r.before) for r in ended.tool_call.resources] == [("u", "1")]
    await engine.UpdateToolCall(session_id=fork, call_id="c", approval={"granted": True})
    await engine.UpdateToolCall(session_id=fork, call_id="d", approval={"granted": False, "note": "no"})
    await engine.CompleteToolCall(session_id=fork, call_id="e", result_json='"found out"')
    await engine.CompleteToolCall(session_id=fork, call_id="bare", result_json="2")
    after = {call.call_id: call.status for call in await ledger(engine, fork)}
    assert [after[name] for name in ("a", "b", "c", "d", "e", "bare", "own")] == [
        SUCCEEDED,
        SUCCEEDED,
        PENDING,
        CANCELLED,
        SUCCEEDED,
        SUCCEEDED,
        PENDING,
    ]
    assert await ledger(engine, source) == before


async def test_a_result_taken_back_in_a_fork_leaves_a_call_that_was_begun_running(engine: Rpc, create: Create) -> None:
    source = await create(messages=[called("begun", "new")])
    await engine.UpdateToolCall(session_id=source, call_id="begun", status=RUNNING)
    await engine.Append(session_id=source, messages=[answered("begun"), answered("new")])
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    await engine.RemoveMessages(session_id=fork, last=2)
    assert {call.call_id: call.status for call in await ledger(engine, fork)} == {"begun": RUNNING, "new": PENDING}


async def test_messages_changed_and_removed_in_a_fork_are_its_own(engine: Rpc, create: Create) -> None:
    source = await create(messages=[said("one", message_id="mine"), said("two"), said("three")])
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    await engine.UpdateMessage(session_id=fork, message_id="mine", message=said("uno"))
    removed = await engine.RemoveMessages(session_id=fork, last=1)
    assert texts_of(removed.removed) == ["three"]
    assert (await engine.Append(session_id=fork, messages=[said("four")])).receipt.first_seq == 4
    assert texts_of((await whole(engine, fork)).messages) == ["uno", "two", "four"]
    assert texts_of((await whole(engine, fork, 1)).messages) == ["one", "two", "three"]
    assert texts_of((await whole(engine, source)).messages) == ["one", "two", "three"]
    taken = await refusal(engine.Append(session_id=fork, messages=[said("x", message_id="mine")]))
    assert taken.reason == "MESSAGE_ID_EXISTS"


async def test_what_was_removed_stays_out_of_a_fork_and_its_seq_stays_used(engine: Rpc, create: Create) -> None:
    source = await create(messages=[said("one"), said("two", message_id="gone")])
    await engine.RemoveMessages(session_id=source, last=1)
    fork = await engine.ForkSession(session_id=source)
    assert (fork.session.last_seq, fork.session.message_count) == (2, 1)
    fork_id = fork.session.session_id
    assert not (await engine.ListMessages(session_id=fork_id, show_removed=True, after_seq=1)).messages
    # What the fork never held does not take the id.
    assert (await engine.Append(session_id=fork_id, messages=[said("x", message_id="gone")])).receipt.first_seq == 3


async def test_runs_checkpoints_and_request_ids_are_not_copied(engine: Rpc, create: Create) -> None:
    source = await create()
    run = (await engine.StartRun(session_id=source, worker="w")).run
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    await engine.Append(session_id=source, fence=fence, request_id="once", messages=[called("c")])
    await engine.UpdateToolCall(session_id=source, call_id="c", status=RUNNING, fence=fence)
    await engine.UpdateMemory(session_id=source, run_id=run.run_id, fence=fence, change=replaced(goal="the run's"))
    await engine.PutCheckpoint(
        session_id=source, fence=fence, checkpoint={"checkpoint_id": "cp", "format": "f", "data": b"d"}
    )
    forked = await engine.ForkSession(session_id=source)
    fork = forked.session.session_id
    assert not forked.session.active_run_id
    assert not (await engine.ListRuns(session_id=fork)).runs
    assert not (await engine.ListCheckpoints(session_id=fork)).checkpoints
    assert (await refusal(engine.GetRun(session_id=fork, run_id=run.run_id))).reason == "RUN_NOT_FOUND"
    assert (await refusal(engine.GetMemory(session_id=fork, run_id=run.run_id))).reason == "RUN_NOT_FOUND"
    assert (await refusal(engine.Append(session_id=fork, fence=fence, messages=[said("x")]))).reason == "RUN_NOT_FOUND"
    (message,) = (await engine.ListMessages(session_id=fork)).messages
    (call,) = await ledger(engine, fork)
    assert (message.run_id, call.run_id, call.status) == ("", "", RUNNING)

    # The end of the source's run interrupts what it ran there, and nothing in the fork.
    await engine.CancelRun(session_id=source, run_id=run.run_id, now=True)
    assert [call.status for call in await ledger(engine, source)] == [INTERRUPTED]
    assert [call.status for call in await ledger(engine, fork)] == [RUNNING]
    own_run = (await engine.StartRun(session_id=fork, run_id=run.run_id)).run
    assert own_run.fencing_token == 1

    again = await engine.Append(session_id=fork, request_id="once", messages=[said("another")])
    assert not again.receipt.replayed


async def test_a_draft_that_is_being_written_stays_with_its_session(
    engine: Rpc, create: Create, shared_database: Database
) -> None:
    source = await create(messages=[said("one")])
    go_on = asyncio.Event()

    async def steps() -> AsyncIterator[StreamDraftRequest]:
        yield StreamDraftRequest(request_id="draft", session_id=source, text="half")
        await go_on.wait()
        yield StreamDraftRequest(offset=4, text=" and half")

    writing = asyncio.ensure_future(
        engine.caller.sessions.StreamDraft(steps(), metadata=engine.caller.headers, timeout=20)
    )
    stored = "select count(*) from lockstitch.draft_steps t join lockstitch.sessions s using (session_key)"
    async with asyncio.timeout(20):
        while not (await shared_database.as_superuser(f"{stored} where s.session_id = $1", source))[0][0]:
            await asyncio.sleep(POLL_SECONDS)
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    go_on.set()
    await writing
    assert texts_of((await whole(engine, source)).messages) == ["one", "half and half"]
    assert texts_of((await whole(engine, fork)).messages) == ["one"]
    assert not (await engine.Append(session_id=fork, request_id="draft", messages=[said("own")])).receipt.replayed


async def test_a_version_that_never_was_is_refused(engine: Rpc, create: Create) -> None:
    source = await create(messages=[said("one")])
    for never in (0, -1, -(2**63)):
        assert await field_refused(engine.ForkSession(session_id=source, at_version=never)) == "at_version"
    for ahead in (2, 2**63 - 1):
        refused = await refusal(engine.ForkSession(session_id=source, at_version=ahead))
        assert refused.what == (grpc.StatusCode.OUT_OF_RANGE, "CURSOR_AHEAD")
        assert refused.metadata["current_version"] == "1"


async def test_title_and_the_rest_come_along_unless_they_are_given(engine: Rpc, create: Create) -> None:
    source = await create(title="t", labels={"l": "v"}, metadata_json='{"m": 1e3}', agent="a")
    plain = (await engine.ForkSession(session_id=source)).session
    assert (plain.title, plain.metadata_json, plain.agent, plain.user_id) == ("t", '{"m": 1e3}', "a", "u1")
    assert dict(plain.labels) == {}
    given = (await engine.ForkSession(session_id=source, title="mine", labels={"x": "y"})).session
    assert (given.title, dict(given.labels)) == ("mine", {"x": "y"})
    own_id = fresh("fork")
    assert (await engine.ForkSession(session_id=source, new_session_id=own_id)).session.session_id == own_id
    assert await field_refused(engine.ForkSession(session_id=source, new_session_id="sess_x")) == "new_session_id"
    assert await field_refused(engine.ForkSession(session_id=source, title="a\nb")) == "title"
    assert await field_refused(engine.ForkSession(session_id="")) == "session_id"


async def settled(call: Any) -> ForkSessionResponse:
    answer: ForkSessionResponse = await call
    return answer


async def test_many_forkers_with_one_request_id_make_one_session(engines: tuple[Rpc, Rpc], create: Create) -> None:
    for _ in range(5):
        source = await create(messages=[said("one")] * 50)
        asked = {"session_id": source, "request_id": fresh("request")}
        answers = await asyncio.gather(*(settled(engines[i % 2].ForkSession(**asked)) for i in range(8)))
        assert len({answer.session.session_id for answer in answers}) == 1
        assert [answer.receipt.replayed for answer in answers].count(False) == 1
        for answer in answers:
            answer.receipt.replayed = False
        assert all(answer == answers[0] for answer in answers)
        assert len((await engines[0].ListSessions(forked_from=source)).sessions) == 1


async def test_a_fork_amid_writers_is_a_prefix(engines: tuple[Rpc, Rpc], create: Create) -> None:
    source = await create(memory={"extra_json": '{"n": 0}'})
    going = True

    async def write(number: int) -> None:
        count = 0
        while going:
            count += 1
            call_id = f"{number}-{count}"
            messages: list[Message] = [said(call_id), called(call_id)]
            await engines[number % 2].Append(
                session_id=source, messages=messages, memory_change=patched(f'{{"w{number}": {count}}}')
            )
            await engines[number % 2].Append(session_id=source, messages=[answered(call_id)])

    writers = [asyncio.create_task(write(number)) for number in range(8)]
    forks = [await settled(engines[number % 2].ForkSession(session_id=source)) for number in range(12)]
    ids = [fork.session.session_id for fork in forks]
    second = await asyncio.gather(*(settled(engines[0].ForkSession(session_id=fork)) for fork in ids))
    going = False
    await asyncio.gather(*writers)
    versions = [fork.session.forked_from.version for fork in forks]
    assert versions == sorted(versions)
    assert versions[0] < versions[-1]
    for fork, again in zip(forks, second, strict=True):
        version = fork.session.forked_from.version
        then = await whole(engines[0], source, version)
        copy = await whole(engines[1], fork.session.session_id)
        assert own(copy.messages) == own(then.messages)
        assert copy.memory.extra_json == then.memory.extra_json
        assert [call.call_id for call in copy.open_tool_calls] == [call.call_id for call in then.open_tool_calls]
        assert again.session.last_seq == fork.session.last_seq


async def test_sessions_forked_into_each_others_ids_at_once(engines: tuple[Rpc, Rpc], create: Create) -> None:
    for _ in range(5):
        one, two = fresh("one"), fresh("two")
        await create(session_id=one, messages=[said("1")] * 20)
        await create(session_id=two, messages=[said("2")] * 20)
        told = await asyncio.gather(
            refusal(engines[0].ForkSession(session_id=one, new_session_id=two)),
            refusal(engines[1].ForkSession(session_id=two, new_session_id=one)),
        )
        assert {one.reason for one in told} == {"SESSION_EXISTS"}
        new = fresh("new")
        both = await asyncio.gather(
            *(
                outcome(engines[i % 2].ForkSession(session_id=source, new_session_id=new))
                for i, source in enumerate((one, two, one, two))
            )
        )
        # Under an id of the caller's, who says the same finds the same session.
        made = [answer for answer in both if not isinstance(answer, Refusal)]
        assert len(made) == 2
        assert made[0].session == made[1].session
        assert sorted(answer.receipt.replayed for answer in made) == [False, True]
        assert {answer.reason for answer in both if isinstance(answer, Refusal)} == {"SESSION_EXISTS"}
