"""A session is active, closed, expired, deleted or purged, and each says what may be done."""

import asyncio
from typing import Any

from google.protobuf.duration_pb2 import Duration

from lockstitch.v1.admin_service_pb2 import EraseUserRequest, PurgeSessionRequest
from lockstitch.v1.session_pb2 import (
    SESSION_STATUS_ACTIVE,
    SESSION_STATUS_CLOSED,
    SESSION_STATUS_DELETED,
    SESSION_STATUS_EXPIRED,
)
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CreateIfMissing,
    CreateSessionRequest,
    DeleteSessionRequest,
    GetContextRequest,
    GetSessionRequest,
    RestoreSessionRequest,
    UndeleteSessionRequest,
    UpdateMemoryRequest,
)
from lockstitch_conformance.contents import patch, said
from lockstitch_conformance.refusals import refused
from lockstitch_conformance.suite import Broken, Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("lifecycle", "each status says what may be done, and how it is left")
LOOK_AGAIN_SECONDS = 0.1
LOOKS_MAX = 100


async def _becomes(world: World, session_id: str, status: Any) -> None:
    """Wait until a session has a status, which it takes by time."""
    for _ in range(LOOKS_MAX):
        if (await world.engine.get(session_id)).status == status:
            return
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    raise Broken(f"the session did not become {status} within {LOOKS_MAX * LOOK_AGAIN_SECONDS:.0f} s")


@CATEGORY.promise("A closed session is read as before, and takes no change.")
async def closed(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    answer = await engine(CloseSessionRequest(session_id=session_id, reason="done"))
    same((answer.session.status, answer.session.close_reason), (SESSION_STATUS_CLOSED, "done"), "status and reason")
    same(await engine.texts(session_id), ["a"], "the messages")
    await engine(GetContextRequest(session_id=session_id))
    await refused(engine.append(session_id, "b"), "SESSION_CLOSED")
    change = UpdateMemoryRequest(session_id=session_id, change=patch('{"goal":"g"}'))
    await refused(engine(change), "SESSION_CLOSED")
    await refused(engine.run(session_id), "SESSION_CLOSED")
    same((await engine.get(session_id)).version, 2, "the version")


@CATEGORY.promise("It is restored, and goes on where it was.")
async def restored(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine(CloseSessionRequest(session_id=session_id))
    again = await engine(RestoreSessionRequest(session_id=session_id))
    same((again.session.status, again.session.version), (SESSION_STATUS_ACTIVE, 3), "status and version")
    same((await engine.append(session_id, "b")).first_seq, 2, "the next seq")


@CATEGORY.promise("To close what is closed and to restore what is active is OK and changes nothing.")
async def said_twice(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    same((await engine(RestoreSessionRequest(session_id=session_id))).receipt.version, 1, "after restoring")
    await engine(CloseSessionRequest(session_id=session_id))
    same((await engine(CloseSessionRequest(session_id=session_id))).receipt.version, 2, "after closing twice")
    await engine(DeleteSessionRequest(session_id=session_id))
    same((await engine(DeleteSessionRequest(session_id=session_id))).receipt.version, 3, "after deleting twice")


@CATEGORY.promise("A session whose time has passed takes no change from that instant, and needs a new life.")
async def expired(world: World) -> None:
    engine = world.engine
    request = CreateSessionRequest(messages=[said("a")], ttl=Duration(seconds=1))
    session_id = (await engine(request)).session.session_id
    await _becomes(world, session_id, SESSION_STATUS_EXPIRED)
    await refused(engine.append(session_id, "b"), "SESSION_EXPIRED")
    same(await engine.texts(session_id), ["a"], "the messages")
    await refused(engine(RestoreSessionRequest(session_id=session_id)), "SESSION_EXPIRED")
    alive = await engine(RestoreSessionRequest(session_id=session_id, ttl=Duration(seconds=3600)))
    same(alive.session.status, SESSION_STATUS_ACTIVE, "the status")
    await engine.append(session_id, "b")


@CATEGORY.promise("A session that nobody used for its idle_ttl expires; reading it is not using it.")
async def idle(world: World) -> None:
    engine = world.engine
    request = CreateSessionRequest(idle_ttl=Duration(seconds=2))
    session_id = (await engine(request)).session.session_id
    await _becomes(world, session_id, SESSION_STATUS_EXPIRED)  # which reads it ten times a second
    await refused(engine.append(session_id, "a"), "SESSION_EXPIRED")


@CATEGORY.promise("A deleted session is found by nobody who does not ask for deleted ones, and takes no change.")
async def deleted(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine(DeleteSessionRequest(session_id=session_id))
    await refused(engine.get(session_id), "SESSION_NOT_FOUND")
    await refused(engine.messages(session_id), "SESSION_NOT_FOUND")
    await refused(engine.append(session_id, "b"), "SESSION_DELETED")
    shown = await engine.get(session_id, show_deleted=True)
    same(shown.status, SESSION_STATUS_DELETED, "the status")
    holds(shown.HasField("purge_time"), "it does not say when it is purged")


@CATEGORY.promise("Undeleted it is what it was, and its versions go on.")
async def undeleted(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("a")
    await engine(CloseSessionRequest(session_id=session_id))
    await engine(DeleteSessionRequest(session_id=session_id))
    answer = await engine(UndeleteSessionRequest(session_id=session_id))
    same((answer.session.status, answer.session.version), (SESSION_STATUS_CLOSED, 4), "status and version")
    same(await engine.texts(session_id), ["a"], "the messages")


@CATEGORY.promise("What is purged is gone for every call, retries too, and its id stays taken.")
async def purged(world: World) -> None:
    engine, session_id, request_id = world.engine, world.fresh("s"), world.fresh("r")
    never = await refused(engine.get(world.fresh("s")), "SESSION_NOT_FOUND")
    await engine(CreateSessionRequest(session_id=session_id))
    await engine.append(session_id, "a", request_id=request_id)
    await world.admin(PurgeSessionRequest(session_id=session_id))
    gone = await refused(engine.get(session_id, show_deleted=True), "SESSION_NOT_FOUND")
    same(gone.text, never.text, "the answer")
    await refused(engine.append(session_id, "a", request_id=request_id), "SESSION_NOT_FOUND")
    append = AppendRequest(session_id=session_id, messages=[said("b")], create_if_missing=CreateIfMissing())
    await refused(engine(append), "SESSION_NOT_FOUND")
    await refused(engine(CreateSessionRequest(session_id=session_id)), "SESSION_EXISTS")
    async with engine.subscribe(session_id) as stream:
        await stream.refused("SESSION_NOT_FOUND")


@CATEGORY.promise("A user's erasure purges all that is the user's, and nothing that is another's.")
async def erased_user(world: World) -> None:
    engine, user_id = world.engine, world.fresh("leaving")
    gone = [await engine.create("a", user_id=user_id) for _ in range(3)]
    kept = await engine.create("a", user_id=world.neighbour_id)
    await engine(DeleteSessionRequest(session_id=gone[0]))
    answer = await world.admin(EraseUserRequest(user_id=user_id))
    same((answer.sessions_purged, answer.sessions_remaining), (3, 0), "purged and remaining")
    for session_id in gone:
        await refused(engine.get(session_id, show_deleted=True), "SESSION_NOT_FOUND")
    same(await engine.texts(kept), ["a"], "another user's messages")


@CATEGORY.promise(
    "While a run is active, closing and deleting are RUN_ACTIVE; `force` ends the run in the same commit."
)
async def closing_under_a_run(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    for request in (CloseSessionRequest(session_id=session_id), DeleteSessionRequest(session_id=session_id)):
        await refused(engine(request), "RUN_ACTIVE", run_id=run.run_id)
    answer = await engine(CloseSessionRequest(session_id=session_id, force=True))
    same((answer.session.version, answer.session.active_run_id), (3, ""), "version and active run")


@CATEGORY.promise("Writing is activity; closing, restoring and reading are not.")
async def activity(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    before = (await engine.get(session_id)).last_activity_time
    await engine(CloseSessionRequest(session_id=session_id))
    await engine(RestoreSessionRequest(session_id=session_id))
    await engine(GetSessionRequest(session_id=session_id))
    after = await engine.get(session_id)
    same(after.last_activity_time, before, "last_activity_time")
    holds(after.update_time.ToNanoseconds() > before.ToNanoseconds(), "update_time did not move")
    await engine.append(session_id, "a")
    moved = (await engine.get(session_id)).last_activity_time
    holds(moved.ToNanoseconds() > before.ToNanoseconds(), "an append did not move last_activity_time")
