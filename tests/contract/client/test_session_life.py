"""The end of sessions, and of users, through the client."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from factories import fresh
from lockstitch import (
    Client,
    RoleNotAllowed,
    RunActive,
    RunFenced,
    SessionClosed,
    SessionDeleted,
    SessionExists,
    SessionHandle,
    SessionNotFound,
    user,
)
from lockstitch.types import RunStatus, SessionStatus
from lockstitch_server.server_process import ServerProcess

ACTIVE = SessionStatus.SESSION_STATUS_ACTIVE
CLOSED = SessionStatus.SESSION_STATUS_CLOSED
DELETED = SessionStatus.SESSION_STATUS_DELETED


@pytest.fixture
async def admin(server: ServerProcess) -> AsyncIterator[Client]:
    token = server.token(tenant="client-tests", user="operator", role="admin")
    async with Client(server.target, token=token) as made:
        yield made


async def test_a_deleted_session_is_shown_to_who_asks_until_it_is_undeleted(client: Client) -> None:
    owner = fresh("owner")
    session = await client.create(user_id=owner, messages=[user("hi")])
    deleted = await session.delete()
    assert deleted.session.status == DELETED
    assert deleted.session.purge_time.ToDatetime() > deleted.session.delete_time.ToDatetime()
    assert session.info == deleted.session
    with pytest.raises(SessionNotFound):
        await client.get(session.session_id)
    found = await client.get(session.session_id, show_deleted=True)
    assert found.info == deleted.session
    assert [one.session_id async for one in client.list(user_id=owner)] == []
    listed = [one.session_id async for one in client.list(user_id=owner, show_deleted=True)]
    assert listed == [session.session_id]
    with pytest.raises(SessionDeleted):
        await session.append(messages=[user("late")])
    undeleted = await session.undelete(expected_version=session.version)
    assert (undeleted.session.status, undeleted.receipt.version) == (ACTIVE, 3)
    assert not undeleted.session.HasField("delete_time")
    await session.append(messages=[user("on")], expected_version=session.version)


@pytest.mark.parametrize("ending", ["close", "delete"])
async def test_a_session_with_an_active_run_ends_by_force_alone(client: Client, ending: str) -> None:
    session = await client.create()

    async def end(handle: SessionHandle, *, force: bool = False) -> None:
        await getattr(handle, ending)(force=force)

    async def hold() -> None:
        async with session.run() as run:
            elsewhere = client.session(session.session_id)
            with pytest.raises(RunActive) as active:
                await end(elsewhere)
            assert active.value.run_id == run.run_id
            await end(elsewhere, force=True)
            await run.append(messages=[user("late")])

    with pytest.raises((RunFenced, SessionClosed, SessionDeleted)):
        await hold()
    after = (await session.get(show_deleted=True)).session
    assert (after.status, after.active_run_id) == (CLOSED if ending == "close" else DELETED, "")
    if ending == "delete":
        await session.undelete()
    assert [run.status async for run in session.runs()] == [RunStatus.RUN_STATUS_CANCELLED]


async def test_a_purged_session_is_gone_and_its_id_stays_taken(client: Client, admin: Client) -> None:
    session = await client.create(session_id=fresh("mine"), messages=[user("secret")])
    before = datetime.now(tz=UTC)
    purged = await admin.purge(session.session_id, request_id="p1")
    assert abs((purged - before).total_seconds()) < 3600
    assert await admin.purge(session.session_id, request_id="p1") == purged
    with pytest.raises(SessionNotFound):
        await client.get(session.session_id, show_deleted=True)
    with pytest.raises(SessionNotFound):
        await session.append(messages=[user("late")])
    with pytest.raises(SessionExists):
        await client.create(session_id=session.session_id)


async def test_a_session_with_an_active_run_is_purged_by_force_alone(client: Client, admin: Client) -> None:
    session = await client.create()

    async def hold() -> None:
        async with session.run() as run:
            with pytest.raises(RunActive):
                await admin.purge(session.session_id)
            await admin.purge(session.session_id, force=True)
            await run.append(messages=[user("late")])

    with pytest.raises(SessionNotFound):
        await hold()


async def test_a_user_is_erased_whole_and_nobody_else(client: Client, admin: Client) -> None:
    owner, other = fresh("owner"), fresh("owner")
    sessions = [await client.create(user_id=owner) for _ in range(5)]
    kept = await client.create(user_id=other)
    await sessions[0].delete()
    await sessions[1].close()
    assert await admin.erase_user(owner) == 5
    assert [one async for one in client.list(user_id=owner, show_deleted=True)] == []
    assert await admin.erase_user(owner) == 0
    assert (await kept.get()).session.status == ACTIVE


async def test_administration_is_for_admins(client: Client) -> None:
    with pytest.raises(RoleNotAllowed):
        await client.purge("s")
    with pytest.raises(RoleNotAllowed):
        await client.erase_user("u1")
