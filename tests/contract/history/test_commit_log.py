"""The log says what each commit stored, as it stored it, whatever became of it since."""

from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from factories import FAILED, INTERRUPTED, RUNNING, SUCCEEDED, answered, called, keyed, patched, said, texts_of
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.session_pb2 import Session
from support.histories import paged
from support.rpc import Create, Rpc, as_replayed


async def log(engine: Rpc, session_id: str, **asked: Any) -> list[Commit]:
    return await paged(engine.ListCommits, "commits", session_id=session_id, **asked)


def ranges(commit: Commit) -> list[tuple[int, int]]:
    return [(removed.first_seq, removed.last_seq) for removed in commit.removed]


async def test_a_message_stands_in_each_commit_as_that_commit_left_it(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a"), said("b", message_id="mine")])
    await engine.UpdateMessage(session_id=session_id, message_id="mine", message=said("b2"))
    await engine.Append(session_id=session_id, messages=[said("c")])
    await engine.UpdateMessage(session_id=session_id, message_id="mine", message=said("b3"))
    await engine.RemoveMessages(session_id=session_id, last=2)
    commits = await log(engine, session_id)
    assert [texts_of(commit.messages) for commit in commits] == [["a", "b"], ["b2"], ["c"], ["b3"], []]
    assert [ranges(commit) for commit in commits] == [[], [], [], [], [(2, 3)]]
    assert {(message.version, message.removed_version) for commit in commits for message in commit.messages} == {
        (version, 0) for version in range(1, 5)
    }
    for size in (1, 2, 3):
        assert await log(engine, session_id, page_size=size) == commits
        assert await log(engine, session_id, page_size=size, descending=True) == commits[::-1]
    for after in range(6):
        assert await log(engine, session_id, after_version=after, page_size=2) == commits[after:]


async def test_a_removal_names_the_seqs_that_were_there(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("1"), said("2"), said("3")])
    await engine.RemoveMessages(session_id=session_id, from_seq=3, replacement=[said("4"), said("5")])
    await engine.RemoveMessages(session_id=session_id, last=3)
    first, second, third = await log(engine, session_id)
    assert (ranges(first), ranges(second), texts_of(second.messages)) == ([], [(3, 3)], ["4", "5"])
    # Seq 3 was gone before.
    assert ranges(third) == [(2, 5)]


async def test_a_commit_carries_what_no_message_holds_of_its_calls(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("by-message", arguments='{"in":"message"}')])
    own = {"call_id": "own", "name": "tool", "arguments_json": '{ "own" : 1.0 }'}
    await engine.Append(session_id=session_id, tool_calls=[own])
    await engine.UpdateToolCall(session_id=session_id, call_id="own", status=RUNNING)
    await engine.CompleteToolCall(
        session_id=session_id, call_id="own", result_json='{ "r" : 1e3 }', error="half", status=5
    )
    await engine.CompleteToolCall(session_id=session_id, call_id="by-message", status=INTERRUPTED, error="lost")
    await engine.CompleteToolCall(session_id=session_id, call_id="by-message", result_json='"told"')
    said_of = [
        [(call.arguments_json, call.result_json, call.error, call.status) for call in commit.tool_calls]
        for commit in await log(engine, session_id)
    ]
    assert said_of == [
        [("", "", "", 1)],
        [('{ "own" : 1.0 }', "", "", 1)],
        [("", "", "", 2)],
        [("", '{ "r" : 1e3 }', "half", FAILED)],
        [("", "", "lost", INTERRUPTED)],
        [("", "", "", SUCCEEDED)],
    ]
    assert (await log(engine, session_id))[5].messages[0].parts[0].tool_result.json == '"told"'


async def test_a_removed_result_reopens_its_call_in_the_log(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c1")])
    await engine.Append(session_id=session_id, messages=[answered("c1")])
    await engine.RemoveMessages(session_id=session_id, last=1)
    await engine.RemoveMessages(session_id=session_id, last=1)
    statuses = [[call.status for call in commit.tool_calls] for commit in await log(engine, session_id)]
    assert statuses == [[1], [SUCCEEDED], [1], []]


async def test_the_change_of_memory_is_the_one_asked_for(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g", "extra_json": '{"k": 1.0}'})
    changes = [patched(' {"a" : {"b":null, "c": 1e3}} '), keyed("k", a="[ 1 ]")]
    for change in changes:
        await engine.UpdateMemory(session_id=session_id, change=change)
    await engine.UpdateMemory(session_id=session_id, change=keyed("not-there"))
    first, *rest = await log(engine, session_id)
    assert (first.memory.replace.goal, first.memory.replace.extra_json) == ("g", '{"k": 1.0}')
    assert [commit.memory for commit in rest] == changes


async def test_state_changes_carry_the_session_as_it_became(engine: Rpc, create: Create) -> None:
    session_id = await create(title="first", labels={"k": "1"})
    asked = [Session(session_id=session_id, title=title) for title in ("second", "third")]
    told = [await engine.UpdateSession(session=given, update_mask=FieldMask(paths=["title"])) for given in asked]
    told.append(await engine.CloseSession(session_id=session_id, reason="done"))
    told.append(await engine.RestoreSession(session_id=session_id))
    first, *rest = await log(engine, session_id)
    assert (first.session.title, first.session.version) == ("first", 1)
    assert [commit.session for commit in rest] == [answer.session for answer in told]
    assert [commit.session.title for commit in rest] == ["second", "third", "third", "third"]


async def test_a_replay_makes_no_commit(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a"), said("b")])
    request: dict[str, Any] = {"session_id": session_id, "last": 1, "request_id": "once"}
    first = await engine.RemoveMessages(**request)
    for _ in range(3):
        assert (await engine.RemoveMessages(**request)).receipt == as_replayed(first.receipt)
    assert [commit.version for commit in await log(engine, session_id)] == [1, 2]
