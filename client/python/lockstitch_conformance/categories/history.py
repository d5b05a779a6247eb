"""A session can be read as it was, until that is erased."""

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.commit_pb2 import CALLER_ROLE_ENGINE, CALLER_ROLE_USER
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    CloseSessionRequest,
    GetSessionRequest,
    ListMemoryVersionsRequest,
    RemoveMessagesRequest,
    UpdateMemoryRequest,
    UpdateMessageRequest,
    UpdateSessionRequest,
)
from lockstitch_conformance.contents import calling, gave, patch, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("history", "a session can be read as it was, until that is erased")


@CATEGORY.promise("at_version gives fields, messages and memory as of that commit.")
async def as_it_was(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a", title="one")
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"old"}')))
    titled = Session(session_id=session_id, title="two")
    await engine(UpdateSessionRequest(session=titled, update_mask=FieldMask(paths=["title"])))
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"new"}')))
    await engine(RemoveMessagesRequest(session_id=session_id, last=1, replacement=[said("b")]))
    then = await engine(GetSessionRequest(session_id=session_id, at_version=2, recent_messages=10, include_memory=True))
    same((then.session.version, then.session.title), (2, "one"), "version and title then")
    same(then.memory.goal, "old", "the goal then")
    same([message.parts[0].text for message in then.messages], ["a"], "the messages then")
    same((await engine.memory(session_id, at_version=3)).goal, "old", "the goal at 3")
    same((await engine.memory(session_id)).goal, "new", "the goal now")


@CATEGORY.promise("at_version gives tool calls as they stood.")
async def tool_calls_as_they_stood(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    await engine.append(session_id, gave("c1"))
    request = GetSessionRequest(session_id=session_id, include_open_tool_calls=True)
    same(len((await engine(request)).open_tool_calls), 0, "the open calls now")
    request.at_version = 1
    same([call.call_id for call in (await engine(request)).open_tool_calls], ["c1"], "the open calls then")


@CATEGORY.promise("A version ahead of the session is CURSOR_AHEAD.")
async def no_future(world: World) -> None:
    session_id = await world.engine.create()
    await refused(world.engine.get(session_id, at_version=2), "CURSOR_AHEAD", current_version=1)


@CATEGORY.promise("The log has every commit once, without a gap, with what it changed and who made it.")
async def the_log_is_whole(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(user_id=world.user_id)
    await engine.append(session_id, "a", "b")
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}')))
    await world.user(CloseSessionRequest(session_id=session_id))
    commits = await engine.commits(session_id, page_size=1)
    same([commit.version for commit in commits], [1, 2, 3, 4], "the versions")
    same([message.parts[0].text for message in commits[1].messages], ["a", "b"], "the messages of 2")
    same(commits[2].memory, patch('{"goal":"g"}'), "the change of memory")
    roles = [commit.principal.role for commit in commits]
    same(roles, [CALLER_ROLE_ENGINE] * 3 + [CALLER_ROLE_USER], "the roles")
    same(commits[3].principal.subject, world.user_id, "who closed it")
    behind = await engine.commits(session_id, after_version=2, descending=True)
    same([commit.version for commit in behind], [4, 3], "those behind 2, backwards")


@CATEGORY.promise("The memory's versions are listed, the newest first, each with the version of its commit.")
async def memory_versions(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    for goal in ("a", "b", "c"):
        await engine(UpdateMemoryRequest(session_id=session_id, change=patch(f'{{"goal":"{goal}"}}')))
        await engine.append(session_id, "between")
    memories = (await engine(ListMemoryVersionsRequest(session_id=session_id))).memories
    same([(memory.goal, memory.version) for memory in memories], [("c", 6), ("b", 4), ("a", 2)], "the memories")


@CATEGORY.promise("What is erased with its message is nowhere any more: not in lists, not in the past, not in the log.")
async def erased_messages(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("kept", said("secret", message_id="m1"))
    request = UpdateMessageRequest(session_id=session_id, message_id="m1", message=said("-"), erase_history=True)
    await engine(request)
    await engine(RemoveMessagesRequest(session_id=session_id, last=1, erase_history=True))
    past = GetSessionRequest(session_id=session_id, at_version=1, recent_messages=9)
    found = [
        await engine(past),
        *await engine.messages(session_id, show_removed=True),
        *await engine.commits(session_id),
    ]
    async with engine.subscribe(session_id) as stream:
        found += await stream.up_to(3)
    holds(all(b"secret" not in one.SerializeToString() for one in found), "the content is still there")
    same(await engine.texts(session_id), ["kept"], "the messages")


@CATEGORY.promise("So is an erased memory; its versions stay, and say that they were erased.")
async def erased_memory(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"secret"}')))
    change = UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"-"}'), erase_history=True)
    await engine(change)
    memories = (await engine(ListMemoryVersionsRequest(session_id=session_id))).memories
    same([memory.erased for memory in memories], [False, True], "which are erased")
    found = [*memories, *await engine.commits(session_id), await engine.memory(session_id, at_version=2)]
    holds(all(b"secret" not in one.SerializeToString() for one in found), "the content is still there")


@CATEGORY.promise("A retry of what was erased since gives its receipt, and not the content.")
async def erased_replays(world: World) -> None:
    engine, request_id = world.engine, world.fresh("r")
    session_id = await engine.create()
    change = UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"secret"}'), request_id=request_id)
    first = await engine(change)
    await engine(UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"-"}'), erase_history=True))
    again = await engine(change)
    same((again.receipt.replayed, again.receipt.version), (True, first.receipt.version), "replayed and version")
    holds(b"secret" not in again.SerializeToString(), "the content is still there")
