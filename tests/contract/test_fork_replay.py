"""A repeated fork is the same fork, and who may not see a session can't fork it."""

import asyncio
from typing import Any

import grpc

from factories import fresh, said
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED
from support.databases import Database
from support.histories import whole
from support.rpc import As, Create, Rpc, as_replayed, refusal
from support.stage import StartServer
from support.waiting import POLL_SECONDS

NOT_FOUND = (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
EXISTS = (grpc.StatusCode.ALREADY_EXISTS, "SESSION_EXISTS")
REUSED = (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")


async def test_a_repeated_fork_is_the_same_whatever_became_of_its_source(
    engine: Rpc, call_as: As, create: Create
) -> None:
    admin = call_as("admin", "admin", server=1)
    for own_id in ("", fresh("fork")):
        source = await create(messages=[said("one")])
        asked = {"session_id": source, "request_id": "r", "new_session_id": own_id, "title": "t"}
        first = await engine.ForkSession(**asked)

        async def is_repeated(first: Any = first, asked: dict[str, str] = asked) -> None:
            again = await admin.ForkSession(**asked)
            assert again.receipt == as_replayed(first.receipt)
            assert again.session == first.session

        await is_repeated()
        await engine.Append(session_id=source, messages=[said("two")])
        await is_repeated()
        await engine.Append(session_id=first.session.session_id, messages=[said("in the fork")])
        await is_repeated()
        await engine.CloseSession(session_id=source)
        await is_repeated()
        await engine.CloseSession(session_id=first.session.session_id)
        await is_repeated()
        await engine.DeleteSession(session_id=source)
        await is_repeated()
        await admin.PurgeSession(session_id=source)
        await is_repeated()
        # The fork itself: as long as there is one.
        await engine.DeleteSession(session_id=first.session.session_id)
        await is_repeated()
        await admin.PurgeSession(session_id=first.session.session_id)
        assert (await refusal(engine.ForkSession(**asked))).what == NOT_FOUND


async def test_the_id_of_a_purged_fork_stays_taken(engine: Rpc, call_as: As, create: Create) -> None:
    source, own_id = await create(), fresh("fork")
    made = [
        await engine.ForkSession(session_id=source, request_id="r"),
        await engine.ForkSession(session_id=source, new_session_id=own_id),
    ]
    for fork in made:
        await call_as("admin", "admin").PurgeSession(session_id=fork.session.session_id)
    late = await refusal(engine.ForkSession(session_id=source, request_id="r"))
    assert late.what == NOT_FOUND
    assert (await refusal(engine.ForkSession(session_id=source, new_session_id=own_id))).what == EXISTS


async def test_other_content_under_the_same_id_is_refused(engine: Rpc, create: Create) -> None:
    source = await create(session_id=fresh("source"), messages=[said("one")])
    other = await create(session_id=fresh("other"))
    await engine.Append(session_id=source, messages=[said("two")])
    first = await engine.ForkSession(session_id=source, request_id="r", title="t", labels={"a": "1", "b": "2"})
    equal = await engine.ForkSession(session_id=source, request_id="r", title="t", labels={"b": "2", "a": "1"})
    assert equal.receipt == as_replayed(first.receipt)
    for changed in ({"title": "u"}, {"at_version": 1}, {"at_version": 2}, {"labels": {"a": "1"}}):
        asked: dict[str, Any] = {"session_id": source, "request_id": "r", "title": "t"}
        asked |= {"labels": {"a": "1", "b": "2"}} | changed
        assert (await refusal(engine.ForkSession(**asked))).what == REUSED
    # Of another source, or for another id, it is another request.
    elsewhere = await engine.ForkSession(session_id=other, request_id="r")
    assert elsewhere.session.session_id != first.session.session_id

    own_id = fresh("fork")
    await engine.ForkSession(session_id=source, request_id="q", new_session_id=own_id)
    for changed in ({"session_id": other}, {"at_version": 1}, {"title": "u"}, {"request_id": "p", "title": "u"}):
        asked = {"session_id": source, "request_id": "q", "new_session_id": own_id} | changed
        assert (await refusal(engine.ForkSession(**asked))).what == EXISTS
    assert (await refusal(engine.ForkSession(session_id=source, new_session_id=other))).what == EXISTS
    assert (await refusal(engine.ForkSession(session_id=source, new_session_id=source))).what == EXISTS
    assert (await refusal(engine.CreateSession(session_id=own_id, user_id="u1"))).what == EXISTS
    # After an erasure nobody can tell what was said, but for the source and the version.
    await engine.UpdateMessage(
        session_id=own_id,
        message_id=(await whole(engine, own_id)).messages[0].message_id,
        message=said("uno"),
        erase_history=True,
    )
    assert (await engine.ForkSession(session_id=source, new_session_id=own_id)).receipt.replayed
    for changed in ({"session_id": other}, {"at_version": 1}):
        asked = {"session_id": source, "new_session_id": own_id, **changed}
        assert (await refusal(engine.ForkSession(**asked))).what == EXISTS


async def test_a_user_forks_its_own_and_what_it_may_not_see_was_never_there(
    engine: Rpc, user: Rpc, call_as: As, create: Create
) -> None:
    mine = await create(session_id=fresh("mine"), messages=[said("mine")])
    theirs = await create(session_id=fresh("theirs"), user_id="u2", messages=[said("theirs")])
    fork = await user.ForkSession(session_id=mine)
    assert fork.session.user_id == "u1"
    deleted = await create()
    await engine.DeleteSession(session_id=deleted)
    elsewhere = call_as("e", "engine", tenant=fresh("tenant"))
    theirs_forked = (await engine.ForkSession(session_id=theirs, request_id="r")).session.session_id
    for caller, session_id in ((user, theirs), (elsewhere, mine), (engine, deleted), (user, theirs_forked)):
        for at_version in (1, 9, None):
            at = {} if at_version is None else {"at_version": at_version}
            foreign = await refusal(caller.ForkSession(session_id=session_id, request_id="r", **at))
            assert foreign.what == NOT_FOUND
            assert foreign == await refusal(caller.ForkSession(session_id="never-was", request_id="r", **at))
    # An id that is taken says so to whoever may fork, and nothing else.
    assert (await refusal(user.ForkSession(session_id=mine, new_session_id=theirs))).what == EXISTS
    assert (await refusal(user.ForkSession(session_id=theirs, new_session_id=mine))).what == NOT_FOUND
    # An engine's fork stays the user's.
    assert (await engine.ForkSession(session_id=theirs)).session.user_id == "u2"


async def test_closed_and_expired_sessions_are_forked_and_their_forks_live(engine: Rpc, create: Create) -> None:
    closed = await create(messages=[said("one")], idle_ttl={"seconds": 3600}, ttl={"seconds": 7200})
    await engine.CloseSession(session_id=closed, reason="done")
    fork = (await engine.ForkSession(session_id=closed)).session
    source = (await engine.GetSession(session_id=closed)).session
    assert (fork.status, source.status) == (SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED)
    assert (fork.close_reason, fork.HasField("close_time")) == ("", False)
    assert (fork.expire_time, fork.idle_ttl) == (source.expire_time, source.idle_ttl)
    assert (await engine.Append(session_id=fork.session_id, messages=[said("on")])).receipt.version == 2

    expired = await create(messages=[said("one")], ttl={"seconds": 1}, idle_ttl={"seconds": 3600})
    async with asyncio.timeout(20):
        while (await engine.GetSession(session_id=expired)).session.status != SESSION_STATUS_EXPIRED:
            await asyncio.sleep(POLL_SECONDS)
    for at in ({}, {"at_version": 1}):
        fork = (await engine.ForkSession(session_id=expired, **at)).session
        assert fork.status == SESSION_STATUS_ACTIVE
        # A time that has passed is no life for a fork.
        assert not fork.HasField("expire_time")
        assert fork.idle_ttl.seconds == 3600
        assert (await engine.Append(session_id=fork.session_id, messages=[said("on")])).receipt.version == 2


async def test_the_life_that_came_along_ends_the_fork(engine: Rpc, create: Create) -> None:
    source = await create(messages=[said("one")], idle_ttl={"seconds": 3})
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    async with asyncio.timeout(20):
        while (await engine.GetSession(session_id=fork)).session.status != SESSION_STATUS_EXPIRED:
            await asyncio.sleep(POLL_SECONDS)
    assert (await refusal(engine.Append(session_id=fork, messages=[said("late")]))).reason == "SESSION_EXPIRED"


async def test_users_who_may_not_choose_ids_fork_under_the_servers(
    call_as: As, create: Create, shared_database: Database, start_server: StartServer
) -> None:
    source = await create(messages=[said("one")])
    strict = start_server(shared_database, LOCKSTITCH_USERS_CHOOSE_SESSION_IDS="false")
    user, engine = call_as(to=strict), call_as("e", "engine", to=strict)
    refused = await refusal(user.ForkSession(session_id=source, new_session_id=fresh("fork")))
    assert refused.what == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
    assert (await user.ForkSession(session_id=source)).session.session_id.startswith("sess_")
    own_id = fresh("fork")
    assert (await engine.ForkSession(session_id=source, new_session_id=own_id)).session.session_id == own_id
