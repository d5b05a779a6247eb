"""A list gives each thing once, by pages."""

from typing import Any

from lockstitch.v1.message_pb2 import ROLE_ASSISTANT
from lockstitch.v1.run_pb2 import RUN_STATUS_RUNNING, RUN_STATUS_SUCCEEDED
from lockstitch.v1.run_service_pb2 import FinishRunRequest, ListRunsRequest
from lockstitch.v1.session_pb2 import SESSION_STATUS_CLOSED
from lockstitch.v1.session_service_pb2 import (
    CloseSessionRequest,
    DeleteSessionRequest,
    ListCommitsRequest,
    ListMemoryVersionsRequest,
    ListMessagesRequest,
    ListSessionsRequest,
    ListToolCallsRequest,
)
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_SUCCEEDED
from lockstitch_conformance.contents import answered, calling, fence, gave
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("lists", "a list gives each thing once, by pages")


async def _listed(world: World, label: str, **fields: Any) -> list[str]:
    """All sessions with a label, over pages of two."""
    found: list[str] = []
    request = ListSessionsRequest(labels={"mark": label}, page_size=2, **fields)
    while True:
        page = await world.engine(request)
        holds(len(page.sessions) <= 2, f"a page of {len(page.sessions)}")
        found += [one.session_id for one in page.sessions]
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


@CATEGORY.promise("Pages of whatever size give each message once, in order.")
async def messages(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(*map(str, range(10)))
    for size in (1, 3, 10, 11, 0):
        texts = [one.parts[0].text for one in await engine.messages(session_id, page_size=size)]
        same(texts, list(map(str, range(10))), f"the messages by pages of {size}")


@CATEGORY.promise("What is appended while somebody pages is in no page twice, and what was there is in one.")
async def while_writing(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(*map(str, range(6)))
    request = ListMessagesRequest(session_id=session_id, page_size=2)
    seqs: list[int] = []
    while True:
        page = await engine(request)
        seqs += [one.seq for one in page.messages]
        if not page.next_page_token or len(seqs) > 40:
            break
        request.page_token = page.next_page_token
        if len(seqs) < 8:
            await engine.append(session_id, "more")
    same(seqs, list(range(1, len(seqs) + 1)), "the seqs")
    holds(len(seqs) >= 6, "what was there is missing")


@CATEGORY.promise("Sessions are listed by last use, the newest first, each once.")
async def sessions(world: World) -> None:
    label = world.fresh("l")
    made = [await world.engine.create(labels={"mark": label}) for _ in range(5)]
    same(await _listed(world, label), made[::-1], "the sessions")
    await world.engine.append(made[0], "used")
    used = await _listed(world, label)
    same(sorted(used), sorted(made), "the sessions after one was used")


@CATEGORY.promise("Sessions are narrowed by user, agent, status and labels.")
async def narrowed_sessions(world: World) -> None:
    engine, label = world.engine, world.fresh("l")
    mark = {"mark": label}
    first = await engine.create(labels=mark | {"x": "1"}, user_id=world.user_id)
    second = await engine.create(labels=mark | {"x": "2"}, user_id=world.neighbour_id, agent="planner")
    await engine(CloseSessionRequest(session_id=second))
    deleted = await engine.create(labels=mark)
    await engine(DeleteSessionRequest(session_id=deleted))
    same(await _listed(world, label, user_id=world.user_id), [first], "the user's")
    same(await _listed(world, label, agent="planner"), [second], "the agent's")
    same(await _listed(world, label, statuses=[SESSION_STATUS_CLOSED]), [second], "the closed ones")
    same(sorted(await _listed(world, label)), sorted([first, second]), "all that are not deleted")
    same(sorted(await _listed(world, label, show_deleted=True)), sorted([first, second, deleted]), "deleted ones too")
    both = await engine(ListSessionsRequest(labels=mark | {"x": "2"}))
    same([one.session_id for one in both.sessions], [second], "those with both labels")


@CATEGORY.promise("Messages are narrowed by role, tool calls by status and name, runs by status.")
async def narrowed_parts(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", answered("b"), calling("c1", name="one"), calling("c2", name="two"))
    await engine.append(session_id, gave("c1"))
    said_by_the_model = await engine.messages(session_id, roles=[ROLE_ASSISTANT], page_size=1)
    same([one.seq for one in said_by_the_model], [2, 3, 4], "the model's messages")
    ended = await engine.tool_calls(session_id, statuses=[TOOL_CALL_STATUS_SUCCEEDED])
    same([one.call_id for one in ended], ["c1"], "the calls that ended")
    named = await engine.tool_calls(session_id, name="two")
    same([one.call_id for one in named], ["c2"], "the calls of a tool")
    run = await engine.run(session_id)
    await engine(FinishRunRequest(session_id=session_id, fence=fence(run), status=RUN_STATUS_SUCCEEDED))
    second = await engine.run(session_id)
    page = await engine(ListRunsRequest(session_id=session_id))
    same([one.run_id for one in page.runs], [second.run_id, run.run_id], "the runs, newest first")
    active = await engine(ListRunsRequest(session_id=session_id, statuses=[RUN_STATUS_RUNNING]))
    same([one.run_id for one in active.runs], [second.run_id], "the active run")


@CATEGORY.promise("A negative page_size is refused, by every list.")
async def negative_sizes(world: World) -> None:
    session_id = await world.engine.create()
    for request in (
        ListSessionsRequest(page_size=-1),
        ListMessagesRequest(session_id=session_id, page_size=-1),
        ListCommitsRequest(session_id=session_id, page_size=-1),
        ListToolCallsRequest(session_id=session_id, page_size=-1),
        ListMemoryVersionsRequest(session_id=session_id, page_size=-1),
        ListRunsRequest(session_id=session_id, page_size=-1),
    ):
        await refused(world.engine(request), "INVALID_FIELD", field="page_size")


@CATEGORY.promise("page_size 0 is the default, and more than the most is the most.")
async def sizes(world: World) -> None:
    engine, default = world.engine, world.limits.page_size_default
    session_id = await engine.create(*["x"] * 100)
    page = await engine(ListMessagesRequest(session_id=session_id))
    same((len(page.messages), bool(page.next_page_token)), (min(default, 100), default < 100), "a page of no size")
    whole = await engine(ListMessagesRequest(session_id=session_id, page_size=2**31 - 1))
    same(len(whole.messages), min(world.limits.page_size_max, 100), "a page of the greatest size")
