"""Case A11: a window never cuts through calls and their results; a group that would be cut is left out."""

import pytest

from factories import ASSISTANT, answered, called, said
from lockstitch.v1.message_pb2 import ROLE_SYSTEM
from support.rpc import Create, Rpc

SEVEN = [
    said("be brief", role=ROLE_SYSTEM),
    said("A"),
    called("k1", "k2"),
    answered("k1"),
    answered("k2"),
    said("ok", role=ASSISTANT),
    said("B"),
]
WINDOWS = {1: [7], 2: [6, 7], 3: [6, 7], 4: [6, 7], 5: [3, 4, 5, 6, 7], 6: [2, 3, 4, 5, 6, 7], 7: [1, 2, 3, 4, 5, 6, 7]}


@pytest.mark.parametrize(("limit", "window"), WINDOWS.items())
async def test_a_context_takes_a_group_whole_or_leaves_it_out(
    engine: Rpc, create: Create, limit: int, window: list[int]
) -> None:
    session_id = await create(messages=SEVEN)
    context = await engine.GetContext(session_id=session_id, max_messages=limit)
    assert [message.seq for message in context.messages] == window
    assert context.truncated is (limit < 7)


@pytest.mark.parametrize("limit", [3, 4, 5])
async def test_raw_lists_hide_nothing(engine: Rpc, create: Create, limit: int) -> None:
    session_id = await create(messages=SEVEN)
    newest = (await engine.ListMessages(session_id=session_id, descending=True, page_size=limit)).messages
    assert [message.seq for message in newest] == list(range(7, 7 - limit, -1))
    recent = (await engine.GetSession(session_id=session_id, recent_messages=limit)).messages
    assert [message.seq for message in recent] == list(range(8 - limit, 8))


@pytest.mark.parametrize("field", ["max_bytes", "max_tokens"])
async def test_bytes_and_tokens_cut_by_the_same_rule(engine: Rpc, create: Create, field: str) -> None:
    session_id = await create(messages=SEVEN)
    seen = set()
    for limit in range(1, 300):
        context = await engine.GetContext(session_id=session_id, **{field: limit})
        seqs = [message.seq for message in context.messages]
        assert seqs == list(range(8 - len(seqs), 8))
        assert set(seqs) & {3, 4, 5} in ({3, 4, 5}, set())
        seen.add(len(seqs))
    assert {5, 6, 7} <= seen


async def test_a_result_that_came_late_stays_with_its_call(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("k1", "k2"), *(said(str(number)) for number in range(5))])
    await engine.Append(session_id=session_id, messages=[answered("k2"), said("5"), answered("k1")])
    for limit in range(1, 10):
        seqs = [
            message.seq for message in (await engine.GetContext(session_id=session_id, max_messages=limit)).messages
        ]
        # 9 and 7 are the results of message 1: they are in no window that message 1 is not in, and take no room there.
        assert seqs == ([1, 9, 7, 2, 3, 4, 5, 6, 8] if limit == 9 else [2, 3, 4, 5, 6, 8][-limit:])


async def test_open_calls_are_told_of_though_their_message_has_no_room(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("k1"), said("one"), said("two")])
    context = await engine.GetContext(session_id=session_id, max_messages=1)
    assert [message.seq for message in context.messages] == [3]
    assert [call.call_id for call in context.open_tool_calls] == ["k1"]
