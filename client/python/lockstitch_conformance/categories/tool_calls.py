"""The ledger knows every tool call, and each ends once."""

from typing import Any

from lockstitch.v1.run_service_pb2 import ON_BUSY_INTERRUPT
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CompleteToolCallRequest,
    GetContextRequest,
    RemoveMessagesRequest,
    UpdateToolCallRequest,
)
from lockstitch.v1.tool_call_pb2 import (
    TOOL_CALL_STATUS_AWAITING_APPROVAL,
    TOOL_CALL_STATUS_CANCELLED,
    TOOL_CALL_STATUS_FAILED,
    TOOL_CALL_STATUS_INTERRUPTED,
    TOOL_CALL_STATUS_PENDING,
    TOOL_CALL_STATUS_RUNNING,
    TOOL_CALL_STATUS_SUCCEEDED,
    Approval,
    ToolCall,
    ToolCallChange,
)
from lockstitch_conformance.contents import calling, fence, gave
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("tool-calls", "the ledger knows every tool call, and each ends once")


def _complete(session_id: str, call_id: str, **fields: Any) -> CompleteToolCallRequest:
    given: dict[str, Any] = {"status": TOOL_CALL_STATUS_SUCCEEDED, "result_json": "1"} | fields
    return CompleteToolCallRequest(session_id=session_id, call_id=call_id, **given)


async def _only(world: World, session_id: str) -> ToolCall:
    (call,) = await world.engine.tool_calls(session_id)
    return call


@CATEGORY.promise(
    "A call enters the ledger with the message that makes it, and ends with the message that has its result."
)
async def nobody_writes_twice(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    made = await engine.append(session_id, calling("c1", name="weather", arguments_json='{"city": "Oslo"}'))
    call = await _only(world, session_id)
    same((call.name, call.arguments_json), ("weather", '{"city": "Oslo"}'), "name and arguments")
    same((call.status, call.requested_version), (TOOL_CALL_STATUS_PENDING, made.version), "status and version")
    same(list(made.tool_call_ids), [call.tool_call_id], "the receipt's tool_call_ids")
    ended = await engine.append(session_id, gave("c1", '{"degrees": -3.0}'))
    call = await _only(world, session_id)
    same((call.status, call.result_json), (TOOL_CALL_STATUS_SUCCEEDED, '{"degrees": -3.0}'), "status and result")
    same(call.ended_version, ended.version, "ended_version")


@CATEGORY.promise("CompleteToolCall writes the TOOL message and the ledger together.")
async def completion_writes_both(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    answer = await engine(_complete(session_id, "c1"))
    message = (await engine.messages(session_id))[-1]
    same((message.call_id, message.parts[0].tool_result.json), ("c1", "1"), "the message")
    same(message.version, answer.receipt.version, "its version")
    same(answer.tool_call.result_message_id, message.message_id, "result_message_id")


@CATEGORY.promise(
    "A call ends once: a different second result is TOOL_CALL_ENDED and the first stays; an equal one changes nothing."
)
async def ends_once(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    first = await engine(_complete(session_id, "c1"))
    same((await engine(_complete(session_id, "c1"))).receipt.version, first.receipt.version, "the version")
    await refused(engine(_complete(session_id, "c1", result_json="2")), "TOOL_CALL_ENDED")
    failed = _complete(session_id, "c1", status=TOOL_CALL_STATUS_FAILED, result_json="", error="e")
    await refused(engine(failed), "TOOL_CALL_ENDED")
    await refused(engine.append(session_id, gave("c1", "2")), "TOOL_CALL_ENDED")
    same((await _only(world, session_id)).result_json, "1", "the result")


@CATEGORY.promise(
    "A result for a call that nobody made is TOOL_CALL_NOT_FOUND; as an orphan it stays outside the ledger."
)
async def results_without_calls(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await refused(engine.append(session_id, gave("nobody's")), "TOOL_CALL_NOT_FOUND")
    await refused(engine(_complete(session_id, "nobody's")), "TOOL_CALL_NOT_FOUND")
    await engine.append(session_id, gave("nobody's"), allow_orphans=True)
    same(await engine.tool_calls(session_id), [], "the ledger")
    context = await engine(GetContextRequest(session_id=session_id))
    same(len(context.messages), 1, "the messages of the context")


@CATEGORY.promise("A provider's id that is used again finds the open call, or the newest.")
async def ids_are_reused(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("search:0", arguments_json="1"))
    await engine.append(session_id, gave("search:0", '"first"'))
    await engine.append(session_id, calling("search:0", arguments_json="2"))
    await engine.append(session_id, gave("search:0", '"second"'))
    calls = await engine.tool_calls(session_id)
    found = [(call.arguments_json, call.result_json) for call in calls]
    same(found, [("1", '"first"'), ("2", '"second"')], "the calls and their results")
    holds(calls[0].tool_call_id != calls[1].tool_call_id, "two calls have one ledger id")


@CATEGORY.promise("If two open calls have an id, the answer is TOOL_CALL_AMBIGUOUS; the ledger's ids tell them apart.")
async def ids_are_ambiguous(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    await engine.append(session_id, calling("c1"))
    await refused(engine(_complete(session_id, "c1")), "TOOL_CALL_AMBIGUOUS")
    second = (await engine.tool_calls(session_id))[1]
    request = CompleteToolCallRequest(
        session_id=session_id, tool_call_id=second.tool_call_id, status=TOOL_CALL_STATUS_SUCCEEDED, result_json="1"
    )
    await engine(request)
    statuses = [call.status for call in await engine.tool_calls(session_id)]
    same(statuses, [TOOL_CALL_STATUS_PENDING, TOOL_CALL_STATUS_SUCCEEDED], "the statuses")


@CATEGORY.promise("A call waits for approval, and goes on when it is granted or ends when it is refused.")
async def approvals(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("yes", "no"))

    async def update(call_id: str, **fields: Any) -> Any:
        request = UpdateToolCallRequest(session_id=session_id, call_id=call_id, **fields)
        return (await engine(request)).tool_call.status

    for call_id in ("yes", "no"):
        await update(call_id, status=TOOL_CALL_STATUS_AWAITING_APPROVAL)
    granted = await update("yes", approval=Approval(granted=True, note="go"))
    refused_status = await update("no", approval=Approval(granted=False))
    same((granted, refused_status), (TOOL_CALL_STATUS_PENDING, TOOL_CALL_STATUS_CANCELLED), "the statuses")


@CATEGORY.promise("A step that the table of statuses does not have is TOOL_CALL_STATUS.")
async def no_way_between_statuses(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    running = UpdateToolCallRequest(session_id=session_id, call_id="c1", status=TOOL_CALL_STATUS_RUNNING)
    await engine(running)
    back = UpdateToolCallRequest(session_id=session_id, call_id="c1", status=TOOL_CALL_STATUS_PENDING)
    await refused(engine(back), "TOOL_CALL_STATUS")


@CATEGORY.promise(
    "When a run is taken over, its running calls become INTERRUPTED in that commit; others stay as they are."
)
async def interrupted(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    await engine.append(session_id, calling("begun", "waiting"), fence=fence(run))
    begin = UpdateToolCallRequest(
        session_id=session_id, call_id="begun", status=TOOL_CALL_STATUS_RUNNING, fence=fence(run)
    )
    await engine(begin)
    taken = await engine.run(session_id, on_busy=ON_BUSY_INTERRUPT)
    begun, waiting = await engine.tool_calls(session_id)
    same((begun.status, waiting.status), (TOOL_CALL_STATUS_INTERRUPTED, TOOL_CALL_STATUS_PENDING), "the statuses")
    same(begun.ended_version, taken.started_version, "the version at which it was interrupted")
    settled = await engine(_complete(session_id, "begun"))
    same(settled.tool_call.status, TOOL_CALL_STATUS_SUCCEEDED, "the status when it was settled")
    again = _complete(session_id, "begun", status=TOOL_CALL_STATUS_FAILED, result_json="", error="e")
    await refused(engine(again), "TOOL_CALL_ENDED")


@CATEGORY.promise("Removing a message takes its calls out of the live ledger; removing a result opens its call again.")
async def removals(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    await engine.append(session_id, gave("c1"))
    await engine(RemoveMessagesRequest(session_id=session_id, last=1))
    same((await _only(world, session_id)).status, TOOL_CALL_STATUS_PENDING, "the status without its result")
    await engine(RemoveMessagesRequest(session_id=session_id, last=1))
    same(await engine.tool_calls(session_id), [], "the ledger without the message")


@CATEGORY.promise("Calls without a message live in the ledger alone.")
async def without_messages(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    change = ToolCallChange(call_id="c1", name="probe", arguments_json="{}")
    await engine(AppendRequest(session_id=session_id, tool_calls=[change]))
    await engine(_complete(session_id, "c1"))
    same((await _only(world, session_id)).status, TOOL_CALL_STATUS_SUCCEEDED, "the status")
    same(await engine.messages(session_id), [], "the messages")


@CATEGORY.promise(
    "Equal arguments have equal digests, whatever their keys' order and blanks; numbers count as they are written."
)
async def digests(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    for number, arguments in enumerate(('{"a":1,"b":[2]}', '{ "b": [ 2 ], "a": 1 }', '{"a":1.0,"b":[2]}')):
        await engine.append(session_id, calling(f"c{number}", arguments_json=arguments))
    first, second, third = [call.arguments_digest for call in await engine.tool_calls(session_id)]
    same(second, first, "the digest of the same in another order")
    holds(third != first, "1 and 1.0 have one digest")
    found = await engine.tool_calls(session_id, arguments_digest=first)
    same([call.call_id for call in found], ["c0", "c1"], "the calls of this digest")


@CATEGORY.promise("A context never has a result without its call, and results stand behind it in call order.")
async def in_the_context(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("old", calling("c1", "c2"))
    await engine.append(session_id, gave("c2", "2"), "between", gave("c1", "1"))
    for most in range(1, 7):
        context = await engine(GetContextRequest(session_id=session_id, max_messages=most))
        made: list[str] = []
        for message in context.messages:
            made += [part.tool_call.call_id for part in message.parts if part.HasField("tool_call")]
            holds(not message.call_id or message.call_id in made, f"{message.call_id} comes without its call")
    whole = await engine(GetContextRequest(session_id=session_id))
    results = [message.call_id for message in whole.messages if message.call_id]
    same(results, ["c1", "c2"], "the results in order")
