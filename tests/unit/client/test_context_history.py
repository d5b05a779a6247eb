from collections.abc import Sequence

import pytest

from lockstitch import ContextBuilder, assistant, call, json_part, system, tool, user
from lockstitch.context import ModelMessage
from lockstitch.types import GetContextResponse, Message, Part, ToolCall, ToolCallStatus

PENDING = ToolCallStatus.TOOL_CALL_STATUS_PENDING
AWAITING = ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL
INTERRUPTED = ToolCallStatus.TOOL_CALL_STATUS_INTERRUPTED


def stored(*messages: Message) -> list[Message]:
    """Messages as a session gives them back."""
    for seq, message in enumerate(messages, 1):
        message.seq = seq
        message.message_id = f"msg_{seq}"
    return list(messages)


def context(*messages: Message, ledger: Sequence[ToolCall] = ()) -> GetContextResponse:
    return GetContextResponse(
        messages=stored(*messages),
        open_tool_calls=[entry for entry in ledger if entry.status != INTERRUPTED],
        recent_tool_calls=[entry for entry in ledger if entry.status == INTERRUPTED],
    )


def short(messages: Sequence[ModelMessage]) -> list[str]:
    """A list as words: `user:hi`, `assistant:c1+c2`, `tool:c1=4 degrees`."""
    return [_short(message) for message in messages if "session-state" not in message.parts[0].text]


def _short(message: ModelMessage) -> str:
    if message.role == "tool":
        result = message.parts[0].tool_result
        return f"tool:{result.call_id}={result.text or result.json}"
    calls = "+".join(one.call_id for one in message.calls)
    return f"{message.role}:{calls or ''.join(part.text for part in message.parts)}"


def calls(*ids: str) -> Message:
    return assistant(tool_calls=[call(one, "f", {}) for one in ids])


# Case A11
GROUP = (system("S"), user("A"), calls("k1", "k2"), tool("k1", "1"), tool("k2", "2"), assistant("ok"), user("B"))


def test_a_whole_history_comes_in_its_order() -> None:
    builder = ContextBuilder(context(*GROUP))
    assert short(builder.messages) == [
        "system:S",
        "user:A",
        "assistant:k1+k2",
        "tool:k1=1",
        "tool:k2=2",
        "assistant:ok",
        "user:B",
    ]
    assert [message.seq for message in builder.messages] == [1, 2, 3, 4, 5, 6, 7]
    assert not builder.truncated
    assert builder.open_calls == ()


def test_results_stand_behind_their_call_in_call_order() -> None:
    builder = ContextBuilder(context(calls("a", "b"), user("hello"), tool("b", "B"), tool("a", "A")))
    assert short(builder.messages) == ["assistant:a+b", "tool:a=A", "tool:b=B", "user:hello"]


# Case A09
def test_a_call_that_was_passed_over_gets_a_result_that_says_so() -> None:
    ledger = [ToolCall(message_id="msg_2", call_id="c1", name="weather", status=PENDING)]
    builder = ContextBuilder(context(user("weather?"), calls("c1"), user("hello again"), ledger=ledger))
    assert short(builder.messages) == [
        "user:weather?",
        "assistant:c1",
        "tool:c1=No result recorded for this call.",
        "user:hello again",
    ]
    made_up = builder.messages[-2]
    assert made_up.seq == 0
    assert made_up.parts[0].tool_result.is_error
    assert builder.open_calls == ()


def test_an_interrupted_call_is_said_to_be_one() -> None:
    ledger = [ToolCall(message_id="msg_1", call_id="c1", name="wire", status=INTERRUPTED)]
    builder = ContextBuilder(context(calls("c1"), user("and?"), ledger=ledger))
    assert "interrupted, and its outcome is unknown" in short(builder.messages)[1]


def test_a_late_result_takes_the_place_of_the_made_up_one() -> None:
    builder = ContextBuilder(context(user("weather?"), calls("c1"), user("hello again"), tool("c1", "4 degrees")))
    assert short(builder.messages) == ["user:weather?", "assistant:c1", "tool:c1=4 degrees", "user:hello again"]


# Case A10
def test_a_call_that_waits_for_approval_gets_no_result_though_messages_follow() -> None:
    ledger = [ToolCall(message_id="msg_1", call_id="c9", name="wire", status=AWAITING)]
    builder = ContextBuilder(context(calls("c9"), user("well?"), ledger=ledger))
    assert short(builder.messages) == ["assistant:c9", "user:well?"]
    assert [one.call_id for one in builder.open_calls] == ["c9"]


def test_the_calls_of_the_last_message_get_no_result() -> None:
    builder = ContextBuilder(context(user("go"), calls("a", "b"), tool("b", "B")))
    assert short(builder.messages) == ["user:go", "assistant:a+b", "tool:b=B"]
    assert [one.call_id for one in builder.open_calls] == ["a"]


# Case A12
def test_a_call_id_that_is_used_again_pairs_with_its_own_result() -> None:
    one, two = calls("search:0"), calls("search:0")
    builder = ContextBuilder(context(one, tool("search:0", "ra"), two, tool("search:0", "rb")))
    assert short(builder.messages) == [
        "assistant:search:0",
        "tool:search:0=ra",
        "assistant:search:0",
        "tool:search:0=rb",
    ]


def test_a_result_belongs_to_the_newest_open_call_of_its_id() -> None:
    builder = ContextBuilder(context(calls("x"), user("skip it"), calls("x"), tool("x", "new")))
    assert short(builder.messages) == [
        "assistant:x",
        "tool:x=No result recorded for this call.",
        "user:skip it",
        "assistant:x",
        "tool:x=new",
    ]


def test_one_id_twice_in_one_message_is_answered_in_order() -> None:
    builder = ContextBuilder(context(calls("x", "x"), tool("x", "first"), tool("x", "second")))
    assert short(builder.messages) == ["assistant:x+x", "tool:x=first", "tool:x=second"]


def test_a_result_without_a_call_is_left_out() -> None:
    builder = ContextBuilder(context(user("a"), tool("nobody", "made this"), user("b")))
    assert short(builder.messages) == ["user:a", "user:b"]


def test_a_result_sent_as_plain_parts_is_a_result() -> None:
    message = tool("c1")
    message.parts[0].CopyFrom(Part(text="plain"))
    message.parts.append(json_part({"and": "json"}))
    builder = ContextBuilder(context(calls("c1"), message))
    assert short(builder.messages) == ["assistant:c1", 'tool:c1=plain\n{"and":"json"}']


@pytest.mark.parametrize("max_tokens", range(1, 80))
def test_no_budget_splits_a_pair(max_tokens: int) -> None:
    builder = ContextBuilder(context(*GROUP), max_tokens=max_tokens)
    seen: list[str] = []
    for message in builder.messages:
        if message.role == "tool":
            assert message.parts[0].tool_result.call_id in seen
        seen += [one.call_id for one in message.calls]
    assert builder.open_calls == ()
    assert short(builder.messages)[-1] == "user:B"


def test_a_budget_keeps_the_newest_that_fit() -> None:
    # By the estimate 4 + bytes / 4, rounded up: S 5, A 5, the group 9 + 5 + 5 (each call has 3 bytes), ok 5, B 5.
    whole = ContextBuilder(context(*GROUP)).tokens
    assert whole == 5 + 5 + (4 + 2) + 5 + 5 + 5 + 5
    assert short(ContextBuilder(context(*GROUP), max_tokens=whole).messages)[0] == "system:S"
    for left_out, first in ((1, "user:A"), (6, "assistant:k1+k2"), (11, "assistant:ok")):
        builder = ContextBuilder(context(*GROUP), max_tokens=whole - left_out)
        assert short(builder.messages)[0] == first
        assert builder.truncated


def test_the_newest_group_stays_and_its_results_give_way_first() -> None:
    builder = ContextBuilder(
        context(user("go"), calls("a", "b"), tool("a", "x" * 4_000), tool("b", "y")), max_tokens=40
    )
    assert short(builder.messages) == ["assistant:a+b", "tool:a=[4000 bytes left out]", "tool:b=y"]
    assert builder.tokens <= 40


def test_a_message_too_large_alone_gives_way_to_a_note() -> None:
    builder = ContextBuilder(context(user("go"), user("é" * 2_000)), max_tokens=40)
    assert short(builder.messages) == ["user:[4000 bytes left out]"]


def test_what_the_server_left_out_is_said() -> None:
    cut, result = user(), tool("c1")
    cut.elided_bytes = 3_000_000
    result.elided_bytes = 70_000
    answer = context(cut, calls("c1"), result)
    answer.truncated = True
    builder = ContextBuilder(answer)
    assert short(builder.messages) == [
        "user:[3000000 bytes left out]",
        "assistant:c1",
        "tool:c1=[70000 bytes left out]",
    ]
    assert builder.truncated


def test_an_empty_session_gives_an_empty_list() -> None:
    assert ContextBuilder(GetContextResponse()).messages == ()
