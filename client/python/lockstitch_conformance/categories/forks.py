"""A fork begins with what its source held, and goes its own way."""

from lockstitch.v1.run_service_pb2 import ListRunsRequest
from lockstitch.v1.session_service_pb2 import (
    CloseSessionRequest,
    ForkSessionRequest,
    GetSessionRequest,
    ListSessionsRequest,
    UpdateMemoryRequest,
)
from lockstitch_conformance.contents import calling, gave, patch
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, same
from lockstitch_conformance.world import World

CATEGORY = Category("forks", "a fork begins with what its source held, and goes its own way")


@CATEGORY.promise(
    "A fork at a version has the messages and the memory of then, under the same seqs, at its own version 1."
)
async def at_a_version(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", "b")
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"then"}')))
    await engine.append(session_id, "c", memory_change=patch('{"goal":"later"}'))
    fork = (await engine(ForkSessionRequest(session_id=session_id, at_version=2))).session
    same((fork.version, fork.last_seq), (1, 2), "version and last_seq")
    found = [(one.seq, one.parts[0].text) for one in await engine.messages(fork.session_id)]
    same(found, [(1, "a"), (2, "b")], "the messages")
    same((await engine.memory(fork.session_id)).goal, "then", "the goal")


@CATEGORY.promise("What happens to one does not reach the other.")
async def each_its_own_way(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    fork = (await engine(ForkSessionRequest(session_id=session_id))).session.session_id
    await engine.append(fork, "of the fork")
    await engine.append(session_id, "of the source")
    await engine(CloseSessionRequest(session_id=session_id))
    same(await engine.texts(fork), ["a", "of the fork"], "the fork's messages")
    same(await engine.texts(session_id), ["a", "of the source"], "the source's messages")


@CATEGORY.promise("No call is split from its result: such a version is refused, with the nearest that are not.")
async def calls_are_not_split(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine.append(session_id, calling("c1"))
    await engine.append(session_id, gave("c1"))
    split = engine(ForkSessionRequest(session_id=session_id, at_version=2))
    await refused(split, "INVALID_FIELD", field="at_version", nearest_below=1, nearest_above=3)
    whole = (await engine(ForkSessionRequest(session_id=session_id, at_version=3))).session.session_id
    same(len(await engine.tool_calls(whole)), 1, "the tool calls of the fork")


@CATEGORY.promise("Open calls come along open; runs do not come along.")
async def open_calls_and_runs(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    await engine.run(session_id)
    fork = (await engine(ForkSessionRequest(session_id=session_id))).session
    answer = await engine(GetSessionRequest(session_id=fork.session_id, include_open_tool_calls=True))
    same([call.call_id for call in answer.open_tool_calls], ["c1"], "the open calls")
    same((fork.active_run_id, len((await engine(ListRunsRequest(session_id=fork.session_id))).runs)), ("", 0), "runs")
    await engine.run(fork.session_id)


@CATEGORY.promise("The lineage is told both ways.")
async def lineage(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    fork = (await engine(ForkSessionRequest(session_id=session_id, at_version=1))).session
    same((fork.forked_from.session_id, fork.forked_from.version), (session_id, 1), "forked_from")
    page = await engine(ListSessionsRequest(forked_from=session_id))
    same([one.session_id for one in page.sessions], [fork.session_id], "the forks")


@CATEGORY.promise("A version ahead of the source is CURSOR_AHEAD.")
async def ahead(world: World) -> None:
    session_id = await world.engine.create()
    await refused(world.engine(ForkSessionRequest(session_id=session_id, at_version=9)), "CURSOR_AHEAD")
