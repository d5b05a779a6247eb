"""What was erased is shown as erased, in its place, by every read and every replay, and none of them fails."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from factories import RUNNING, answered, called, fresh, keyed, patched, said, texts_of
from lockstitch.v1.session_pb2 import Session
from support.histories import paged, whole
from support.rpc import Create, Rpc, as_replayed, refusal


class Asked:
    """Makes changes with request_ids of their own, and can make each again."""

    def __init__(self, engine: Rpc) -> None:
        self.engine = engine
        self.made: list[tuple[str, dict[str, Any], Any]] = []

    async def change(self, method: str, **fields: Any) -> Any:
        fields["request_id"] = fresh("request")
        answer = await getattr(self.engine, method)(**fields)
        self.made.append((method, fields, answer))
        return answer

    async def again(self) -> AsyncIterator[tuple[str, Any, Any]]:
        for method, fields, first in self.made:
            yield method, first, await getattr(self.engine, method)(**fields)


async def test_replays_give_the_same_receipts_and_erased_content(engine: Rpc) -> None:
    asked = Asked(engine)
    session_id = fresh("session")
    title = FieldMask(paths=["title", "labels"])
    await asked.change("CreateSession", session_id=session_id, user_id="u1", title="t", messages=[said("m1")])
    await asked.change("Append", session_id=session_id, messages=[called("c1"), said("m3", message_id="mine")])
    await asked.change("UpdateToolCall", session_id=session_id, call_id="c1", status=RUNNING, resources=[{"uri": "u"}])
    await asked.change("CompleteToolCall", session_id=session_id, call_id="c1", result_json='"plain"')
    await asked.change("UpdateMessage", session_id=session_id, message_id="mine", message=said("m3 changed"))
    await asked.change("RemoveMessages", session_id=session_id, last=1)
    await asked.change("UpdateMemory", session_id=session_id, change=patched('{"goal":"secret"}'))
    new = Session(session_id=session_id, title="secret", labels={"k": "secret"})
    await asked.change("UpdateSession", session=new, update_mask=title, force=True)
    await asked.change("RemoveMessages", session_id=session_id, from_seq=1, erase_history=True)
    await asked.change("UpdateMemory", session_id=session_id, change=keyed("goal"), erase_history=True)
    clean = Session(session_id=session_id, title="clean")
    await asked.change("UpdateSession", session=clean, update_mask=title, force=True, erase_history=True)

    head = (await engine.GetSession(session_id=session_id)).session
    async for method, first, again in asked.again():
        assert again.receipt == as_replayed(first.receipt), method
        assert b"secret" not in again.SerializeToString(), method
    assert (await engine.GetSession(session_id=session_id)).session == head
    by_method = [(method, again) async for method, _, again in asked.again()]
    (updated,) = [again.message for method, again in by_method if method == "UpdateMessage"]
    assert (updated.erased, updated.seq, list(updated.parts)) == (True, 3, [])
    memories = [again.memory for method, again in by_method if method == "UpdateMemory"]
    assert [(memory.goal, memory.erased) for memory in memories] == [("", True), ("", False)]
    # Seq 4, the result, was removed first, and not for good.
    removed = [again.removed for method, again in by_method if method == "RemoveMessages"]
    assert [[(message.seq, message.erased) for message in messages] for messages in removed] == [
        [(4, False)],
        [(1, True), (2, True), (3, True)],
    ]


@pytest.fixture
async def redacted(engine: Rpc, create: Create) -> str:
    """Seqs 1 to 4 of which 2 was redacted for good and 3, 4 taken back for good; memory and a title erased, too."""
    first = [
        said("m1"),
        said("secret", message_id="mine"),
        called("c1", arguments='"secret"'),
        answered("c1", '"secret"'),
    ]
    session_id = await create(messages=first, memory={"goal": "secret", "next_action": "go"}, title="secret")
    clean = said("…")
    await engine.UpdateMessage(session_id=session_id, message_id="mine", message=clean, erase_history=True)
    answer = await engine.RemoveMessages(session_id=session_id, last=2, erase_history=True)
    assert [(message.seq, message.erased, len(message.parts)) for message in answer.removed] == [
        (3, True, 0),
        (4, True, 0),
    ]
    assert answer.removed_count == 2
    await engine.UpdateMemory(session_id=session_id, change=patched('{"goal":"clean"}'), erase_history=True)
    title = {"session": Session(session_id=session_id, title="clean"), "update_mask": FieldMask(paths=["title"])}
    await engine.UpdateSession(erase_history=True, **title)
    return session_id


async def test_past_versions_show_what_is_gone_in_its_place(engine: Rpc, redacted: str) -> None:
    shown = [await whole(engine, redacted, version) for version in range(1, 6)]
    assert all(b"secret" not in then.SerializeToString() for then in shown)
    assert [[(message.seq, message.erased) for message in then.messages] for then in shown] == [
        [(1, False), (2, True), (3, True), (4, True)],
        [(1, False), (2, False), (3, True), (4, True)],
        *[[(1, False), (2, False)]] * 3,
    ]
    assert [message.role for message in shown[0].messages] == [1, 1, 2, 3]
    assert shown[0].messages[1].message_id == "mine"
    assert [(then.memory.goal, then.memory.next_action, then.memory.erased) for then in shown] == [
        *[("", "go", True)] * 3,
        *[("clean", "go", False)] * 2,
    ]
    assert [then.session.title for then in shown] == ["", "", "", "", "clean"]


async def test_lists_show_it_too(engine: Rpc, redacted: str) -> None:
    for descending in (False, True):
        listed = await paged(
            engine.ListMessages, "messages", page_size=1, session_id=redacted, show_removed=True, descending=descending
        )
        found = listed[::-1] if descending else listed
        assert [(message.seq, message.removed_version, message.erased) for message in found] == [
            (1, 0, False),
            (2, 0, False),
            (3, 3, True),
            (4, 3, True),
        ]
    memories = (await engine.ListMemoryVersions(session_id=redacted)).memories
    assert [(memory.version, memory.goal, memory.erased) for memory in memories] == [(4, "clean", False), (1, "", True)]
    commits = (await engine.ListCommits(session_id=redacted)).commits
    assert [commit.erased for commit in commits] == [True, False, False, False, False]
    assert b"secret" not in b"".join(commit.SerializeToString() for commit in commits)
    assert [(message.seq, message.erased) for message in commits[0].messages] == [
        (1, False),
        (2, True),
        (3, True),
        (4, True),
    ]
    assert not commits[0].HasField("memory")
    assert [(call.call_id, call.arguments_digest) for call in commits[0].tool_calls] == [("c1", "")]
    assert [(removed.first_seq, removed.last_seq) for removed in commits[2].removed] == [(3, 4)]
    context = await engine.GetContext(session_id=redacted)
    assert (texts_of(context.messages), context.truncated) == (["m1", "…"], False)
    assert not (await engine.ListToolCalls(session_id=redacted)).tool_calls


async def test_erasing_again_finds_nothing_to_fail_on(engine: Rpc, redacted: str) -> None:
    again = await engine.UpdateMessage(
        session_id=redacted, message_id="mine", message=said("…!"), erase_history=True, request_id="again"
    )
    await engine.UpdateMemory(session_id=redacted, change=patched('{"goal":"cleaner"}'), erase_history=True)
    await engine.RemoveMessages(session_id=redacted, from_seq=1, erase_history=True)
    replayed = await engine.UpdateMessage(
        session_id=redacted, message_id="mine", message=said("…!"), erase_history=True, request_id="again"
    )
    assert (replayed.message.erased, replayed.receipt) == (True, as_replayed(again.receipt))
    for version in range(1, 9):
        then = await whole(engine, redacted, version)
        assert [message.erased for message in then.messages] == [True] * then.session.message_count


async def test_only_what_a_change_replaces_is_erased(engine: Rpc, create: Create) -> None:
    session_id = await create(title="first", labels={"k": "1"}, messages=[said("a"), said("b")], memory={"goal": "g"})
    title = FieldMask(paths=["title"])
    await engine.UpdateSession(session=Session(session_id=session_id, title="second"), update_mask=title)
    await engine.UpdateMemory(session_id=session_id, change=keyed(a="1"))
    labels = FieldMask(paths=["title", "labels"])
    same_title = Session(session_id=session_id, title="second", labels={"k": "2"})
    await engine.UpdateSession(session=same_title, update_mask=labels, force=True, erase_history=True)
    await engine.UpdateMemory(session_id=session_id, change=keyed(a="2"), erase_history=True)
    await engine.RemoveMessages(session_id=session_id, last=1, erase_history=True)
    shown = [await whole(engine, session_id, version) for version in range(1, 5)]
    assert [(then.session.title, dict(then.session.labels)) for then in shown] == [
        ("first", {}),
        ("second", {}),
        ("second", {}),
        ("second", {"k": "2"}),
    ]
    assert [(then.memory.goal, then.memory.erased) for then in shown] == [
        ("g", False),
        ("g", False),
        ("g", True),
        ("g", True),
    ]
    assert [message.erased for message in shown[0].messages] == [False, True]
    commits = (await engine.ListCommits(session_id=session_id)).commits
    assert [commit.erased for commit in commits] == [True, True, True, False, False, False]
    assert commits[0].memory.replace.goal == "g"


async def test_a_request_id_of_erased_content_is_taken_all_the_same(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await engine.Append(session_id=session_id, messages=[said("secret")], request_id="one")
    await engine.RemoveMessages(session_id=session_id, last=1, erase_history=True)
    # Nothing is left to compare the content with; the method still is.
    answer = await engine.Append(session_id=session_id, messages=[said("other")], request_id="one")
    assert (answer.receipt.version, answer.receipt.replayed) == (2, True)
    assert not (await whole(engine, session_id)).messages
    reused = await refusal(engine.UpdateMemory(session_id=session_id, change=keyed(a="1"), request_id="one"))
    assert reused.reason == "REQUEST_ID_REUSED"


async def test_redacting_a_calls_message_for_good_keeps_what_the_ledger_knows_beside_it(
    engine: Rpc, create: Create
) -> None:
    session_id = await create(messages=[called("c1", arguments='"secret"')])
    resources = [{"uri": "file:a", "before": "1"}]
    await engine.UpdateToolCall(session_id=session_id, call_id="c1", status=RUNNING, resources=resources)
    (before,) = (await whole(engine, session_id)).open_tool_calls
    message_id = (await whole(engine, session_id)).messages[0].message_id
    redacted = called("c1", arguments='"…"')
    await engine.UpdateMessage(session_id=session_id, message_id=message_id, message=redacted, erase_history=True)
    (then,) = (await whole(engine, session_id, 2)).open_tool_calls
    assert (then.status, list(then.resources)) == (RUNNING, list(before.resources))
    assert (then.arguments_json, then.arguments_digest) == ("", "")
    # Its result, taken back later, leaves the call as it stood: with its resources.
    (now,) = (await whole(engine, session_id)).open_tool_calls
    await engine.Append(session_id=session_id, messages=[answered("c1")])
    await engine.RemoveMessages(session_id=session_id, last=1, erase_history=True)
    assert list((await whole(engine, session_id)).open_tool_calls) == [now]


async def test_erasing_a_result_keeps_the_arguments_of_a_call_without_a_message(engine: Rpc, create: Create) -> None:
    session_id = await create()
    own = {"call_id": "own", "name": "t", "arguments_json": '{"kept":1}'}
    await engine.Append(session_id=session_id, tool_calls=[own])
    await engine.Append(session_id=session_id, messages=[answered("own", '"secret"')])
    await engine.RemoveMessages(session_id=session_id, last=1, erase_history=True)
    (now,) = (await whole(engine, session_id)).open_tool_calls
    (then,) = (await whole(engine, session_id, 2)).open_tool_calls
    assert now.arguments_json == then.arguments_json == '{"kept":1}'
    commits = (await engine.ListCommits(session_id=session_id)).commits
    assert commits[1].tool_calls[0].arguments_json == '{"kept":1}'
