import pytest

from lockstitch import Client, ContextBuilder, assistant, call, call_change, new_call, resource, tool, user
from lockstitch.errors import ToolCallAmbiguous, ToolCallEnded, ToolCallNotFound, ToolCallStatusRefused
from lockstitch.types import Approval, GetContextResponse, ToolCallStatus

PENDING = ToolCallStatus.TOOL_CALL_STATUS_PENDING
RUNNING = ToolCallStatus.TOOL_CALL_STATUS_RUNNING
AWAITING = ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL
SUCCEEDED = ToolCallStatus.TOOL_CALL_STATUS_SUCCEEDED
FAILED = ToolCallStatus.TOOL_CALL_STATUS_FAILED


def chat(context: GetContextResponse) -> list[str]:
    """The model's view as words, without the state."""
    builder = ContextBuilder(context)
    words = []
    for stored, message in zip(builder.messages, builder.openai_chat(), strict=True):
        if "session-state" in str(message["content"]):
            continue
        asked = "+".join(one.call_id for one in stored.calls)
        words.append(f"{message['role']}:{asked or message['content']}")
    return words


# Case A09
async def test_a_call_without_result_stays_open_and_its_late_result_finds_it(client: Client) -> None:
    session = await client.create(messages=[user("weather?")])
    await session.append(messages=[assistant("looking", tool_calls=[call("c1", "weather", {"city": "Oslo"})])])
    assert [(entry.call_id, entry.status) async for entry in session.tool_calls()] == [("c1", PENDING)]
    await session.append(messages=[user("hello again")])
    assert chat(await session.context()) == [
        "user:weather?",
        "assistant:c1",
        "tool:No result recorded for this call.",
        "user:hello again",
    ]
    assert len([message async for message in session.messages()]) == 3
    done = await session.complete_tool_call(call_id="c1", result="4 degrees")
    assert (done.tool_call.status, done.tool_call.result_json) == (SUCCEEDED, '"4 degrees"')
    assert chat(await session.context()) == ["user:weather?", "assistant:c1", 'tool:"4 degrees"', "user:hello again"]
    with pytest.raises(ToolCallEnded):
        await session.complete_tool_call(call_id="c1", result="5 degrees")


# Case A10
async def test_a_call_that_waits_for_approval_is_left_waiting(client: Client) -> None:
    session = await client.create(messages=[assistant("may I?", tool_calls=[call("c9", "wire", {"eur": 40})])])
    await session.update_tool_call(call_id="c9", status=AWAITING)
    version = session.version
    for _ in range(3):
        assert chat(await session.context()) == ["assistant:c9"]
        assert [entry.status async for entry in session.tool_calls()] == [AWAITING]
    await session.append(messages=[user("well?")])
    assert chat(await session.context()) == ["assistant:c9", "user:well?"]
    await session.update_tool_call(call_id="c9", approval=Approval(granted=True, note="go"))
    await session.complete_tool_call(call_id="c9", result={"approved": True})
    await session.append(messages=[assistant("sent")])
    assert chat(await session.context()) == [
        "assistant:c9",
        'tool:{"approved":true}',
        "user:well?",
        "assistant:sent",
    ]
    assert session.version == version + 4


# Case A11
@pytest.mark.parametrize("limit", range(1, 8))
async def test_no_limit_splits_a_call_from_its_results(client: Client, limit: int) -> None:
    calls = [call("k1", "f", {}), call("k2", "f", {})]
    history = [user("A"), assistant(tool_calls=calls), tool("k1", "1"), tool("k2", "2"), assistant("ok"), user("B")]
    session = await client.create(messages=history)
    seen = chat(await session.context(max_messages=limit))
    assert seen[-1] == "user:B"
    assert ("assistant:k1+k2" in seen) == ("tool:1" in seen) == ("tool:2" in seen)
    assert "No result" not in str(seen)


# Case A12
async def test_a_call_id_may_be_used_again(client: Client) -> None:
    session = await client.create()
    for query, result in (("a", "ra"), ("b", "rb")):
        await session.append(messages=[assistant(tool_calls=[call("search:0", "search", {"q": query})])])
        await session.append(messages=[tool("search:0", result)])
    assert chat(await session.context()) == ["assistant:search:0", "tool:ra", "assistant:search:0", "tool:rb"]
    again = [call("search:0", "search", {}), call("search:0", "search", {})]
    await session.append(messages=[assistant(tool_calls=again)])
    with pytest.raises(ToolCallAmbiguous):
        await session.complete_tool_call(call_id="search:0", result="rc")
    one, two = [entry async for entry in session.tool_calls(statuses=[PENDING])]
    await session.complete_tool_call(tool_call_id=two.tool_call_id, result="second")
    await session.complete_tool_call(tool_call_id=one.tool_call_id, result="first")
    assert chat(await session.context())[-2:] == ['tool:"first"', 'tool:"second"']


async def test_what_does_not_fit_the_ledger_is_told_by_class(client: Client) -> None:
    session = await client.create(messages=[assistant(tool_calls=[call("c1", "f", {})])])
    with pytest.raises(ToolCallNotFound):
        await session.append(messages=[tool("nobody", "asked")])
    await session.update_tool_call(call_id="c1", status=RUNNING)
    with pytest.raises(ToolCallStatusRefused) as caught:
        await session.update_tool_call(call_id="c1", status=PENDING)
    assert caught.value.status == "RUNNING"


async def test_changes_of_the_ledger_ride_on_an_append(client: Client) -> None:
    session = await client.create()
    file = resource("file:///a", before="1", after="2")
    recorded = new_call("job", "index", {"path": "/a"}, status=RUNNING, resources=[file])
    receipt = await session.append(messages=[user("index it")], tool_calls=[recorded])
    ended = call_change(tool_call_id=receipt.tool_call_ids[0], error="disk full")
    await session.append(tool_calls=[ended], memory_change={"errors": ["disk full"]})
    (entry,) = [entry async for entry in session.tool_calls(name="index")]
    assert (entry.status, entry.error, entry.resources[0]) == (FAILED, "disk full", file)
    assert [entry async for entry in session.tool_calls(arguments_digest=entry.arguments_digest)] == [entry]


async def test_a_context_has_what_the_next_turn_needs(client: Client) -> None:
    session = await client.create()
    await session.append(
        messages=[user("mend it"), assistant(tool_calls=[call("c1", "read", {"path": "/a"})]), tool("c1", "text")],
        memory_change={"goal": "mend it", "next_action": "write /a", "branch": "main"},
    )
    context = await session.context()
    assert (session.version, session.memory_version) == (context.as_of_version, context.memory.version)
    state = ContextBuilder(context).messages[0].parts[0].text
    for line in ('goal: "mend it"', 'next action: "write /a"', '- read({"path":"/a"}) SUCCEEDED: "text"'):
        assert line in state.splitlines()
    assert 'other: {"branch":"main"}' in state
