import json
from datetime import UTC, datetime
from typing import Any

import pytest

from lockstitch import (
    Client,
    InvalidField,
    JsonText,
    assistant,
    blob,
    call,
    call_change,
    developer,
    json_part,
    merge_patch,
    new_call,
    replace,
    resource,
    set_fields,
    set_keys,
    system,
    tool,
    user,
    working_memory,
)
from lockstitch.types import Message, Part, Role, ToolCallPart, ToolCallStatus, ToolResultPart, Usage

LONE = "caf\udc88"
EXACT = {"order": 7203685477580123457, "neg": -9007199254740993, "n": 3, "f": 0.1, "s": "7203685477580123457"}


def test_a_user_says_text_json_and_blobs_in_order() -> None:
    message = user(
        "a", json_part({"z": 1, "a": [None, True]}), blob("image/png", data=b"\x00"), blob("a/b", uri="u:x"), ""
    )
    assert message.role == Role.ROLE_USER
    assert [part.WhichOneof("content") for part in message.parts] == ["text", "json", "blob", "blob", "text"]
    assert message.parts[1].json == '{"z":1,"a":[null,true]}'
    assert (message.parts[2].blob.data, message.parts[3].blob.uri) == (b"\x00", "u:x")


def test_an_assistants_calls_stand_behind_its_words_and_its_reasoning_before_them() -> None:
    usage = Usage(model="m", input_tokens=1, output_tokens=2)
    message = assistant("Let me look.", tool_calls=[call("c1", "f", {})], reasoning="Hm.", usage=usage, incomplete=True)
    assert list(message.parts) == [
        Part(reasoning="Hm."),
        Part(text="Let me look."),
        Part(tool_call=ToolCallPart(call_id="c1", name="f", arguments_json="{}")),
    ]
    assert (message.role, message.usage, message.incomplete) == (Role.ROLE_ASSISTANT, usage, True)


# Case A15
def test_integers_stay_exact_and_keys_in_order() -> None:
    text = '{"order":7203685477580123457,"neg":-9007199254740993,"n":3,"f":0.1,"s":"7203685477580123457"}'
    assert call("c", "f", EXACT).arguments_json == text
    assert tool("c", EXACT).parts[0].tool_result.json == text
    assert user("x", metadata=EXACT).metadata_json == text
    assert working_memory(extra=EXACT).extra_json == text
    assert merge_patch(EXACT).merge_patch_json == text
    assert new_call("c", "f", EXACT).arguments_json == text
    assert call_change(call_id="c", result=EXACT).result_json == text


# Case A16
def test_json_text_is_sent_byte_for_byte() -> None:
    text = '{ "zebra": 1e3, "alpha": -0.0, "alpha": "\\u0000" }'
    assert call("c", "f", text).arguments_json == text
    assert call("c", "f", JsonText(text)).arguments_json == text
    assert tool("c", JsonText(text)).parts[0].tool_result.json == text
    assert json_part(JsonText(text)).json == text
    assert set_keys({"k": JsonText(text)}).keys.set == {"k": text}


def test_text_beyond_ascii_is_sent_as_it_is() -> None:
    assert tool("c", {"ok": "\U0001f600 é"}).parts[0].tool_result.json == '{"ok":"\U0001f600 é"}'


def test_a_tools_result_is_text_json_or_nothing() -> None:
    assert tool("c", "4 degrees").parts[0].tool_result == ToolResultPart(call_id="c", text="4 degrees")
    assert tool("c", ["a"], is_error=True).parts[0].tool_result == ToolResultPart(
        call_id="c", json='["a"]', is_error=True
    )
    assert tool("c").parts[0].tool_result.WhichOneof("output") is None
    assert tool("c", JsonText("null")).parts[0].tool_result.json == "null"
    assert tool("c", "").parts[0].tool_result.WhichOneof("output") == "text"
    assert (tool("c").role, tool("c").call_id) == (Role.ROLE_TOOL, "c")


def test_ids_authors_and_times_are_kept() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
    message = user("x", message_id="m1", author="ann", event_time=at)
    assert (message.message_id, message.author, message.event_time.ToDatetime(UTC)) == ("m1", "ann", at)
    assert (system("s").role, developer("d").role) == (Role.ROLE_SYSTEM, Role.ROLE_DEVELOPER)


# Case A14, step 3
@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: user("fine", LONE), "user message: parts[1].text"),
        (lambda: assistant(LONE), "assistant message: parts[0].text"),
        (lambda: assistant(reasoning=LONE), "assistant message: reasoning"),
        (lambda: system(LONE), "system message: parts[0].text"),
        (lambda: tool("c1", LONE), "tool 'c1' message: result"),
        (lambda: tool("c1", {"out": [LONE]}), "tool 'c1' message: result"),
        (lambda: tool(LONE), "tool message: call_id"),
        (lambda: call("c1", "f", {"a": LONE}), "tool call 'c1': arguments"),
        (lambda: user("x", author=LONE), "user message: author"),
        (lambda: json_part(LONE), "json part"),
        (lambda: working_memory(plan=["ok", LONE]), "memory.plan[1]"),
        (lambda: merge_patch({LONE: 1}), "memory patch"),
        (lambda: set_keys({"k": LONE}), "memory.k"),
        (lambda: resource(LONE), "resource"),
        (lambda: call_change(call_id="c", error=LONE), "tool call"),
    ],
)
def test_a_lone_surrogate_is_refused_by_name(make: Any, named: str) -> None:
    with pytest.raises(InvalidField) as caught:
        make()
    assert "lone surrogate (U+DC88" in caught.value.message
    assert caught.value.field_violations[0].field == named
    assert caught.value.reason == "INVALID_FIELD"


async def test_a_lone_surrogate_in_any_text_of_a_call_is_refused_before_it_is_sent(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        for refused in (
            client.create(title=LONE),
            client.create(labels={"a": LONE}),
            client.create(metadata={"a": LONE}),
            session.close(reason=LONE),
            session.complete_tool_call(call_id="c", error=LONE),
            session.append(messages=[user("x")], request_id=LONE),
        ):
            with pytest.raises(InvalidField, match="lone surrogate"):
                await refused
        with pytest.raises(InvalidField, match="lone surrogate"):
            client.session(LONE)
        await session.append(messages=[user("the session stays usable")])
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}])
def test_what_json_has_no_word_for_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidField, match="tool 'c' message: result"):
        tool("c", value)


def test_what_json_has_no_form_for_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        tool("c", {"a": {1, 2}})


def test_an_instant_without_a_time_zone_is_refused() -> None:
    with pytest.raises(InvalidField, match="time zone"):
        user("x", event_time=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


def test_memory_keeps_absent_and_empty_apart() -> None:
    assert not working_memory().HasField("goal")
    assert working_memory(goal="").HasField("goal")
    full = working_memory(goal="g", plan=["p"], completed=["c"], errors=["e"], important_files=["f"], next_action="n")
    assert (full.goal, full.next_action) == ("g", "n")
    lists = (full.plan, full.completed, full.errors, full.important_files)
    assert [list(texts) for texts in lists] == [["p"], ["c"], ["e"], ["f"]]
    assert full.extra_json == ""


def test_changes_of_memory_are_what_they_say() -> None:
    memory = working_memory(goal="g")
    assert replace(memory).replace == memory
    change = set_fields(memory, "goal", "plan")
    assert (change.set.memory, list(change.set.update_mask.paths)) == (memory, ["goal", "plan"])
    keys = set_keys({"a": None, "b": [1]}, delete=["c"]).keys
    assert (dict(keys.set), list(keys.delete)) == ({"a": "null", "b": "[1]"}, ["c"])
    assert json.loads(merge_patch({"a": None}).merge_patch_json) == {"a": None}


def test_changes_of_the_ledger_name_their_call() -> None:
    pending = ToolCallStatus.TOOL_CALL_STATUS_PENDING
    recorded = new_call("c1", "f", '{"raw": 1.0}', resources=[resource("file:a", before="1", after="2")])
    assert (recorded.call_id, recorded.name, recorded.arguments_json) == ("c1", "f", '{"raw": 1.0}')
    assert (recorded.status, recorded.resources[0].after) == (pending, "2")
    assert call_change(tool_call_id="t1", result="done").WhichOneof("target") == "tool_call_id"
    assert call_change(call_id="c1", result="done").result_json == '"done"'
    assert call_change(call_id="c1").result_json == ""


async def test_plain_proto_messages_are_taken_too(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        await client.session("s").append(messages=[Message(role=Role.ROLE_USER, parts=[Part(text="hi")])])
    assert scripted.requests[0].messages[0] == user("hi")
