"""CONTRACT 7: expiry is computed, by the database's clock, in writes, reads and lists alike."""

from collections.abc import Awaitable, Callable

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from factories import said
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, SESSION_STATUS_EXPIRED
from support.databases import Database
from support.every_change import CHANGES, UNDER_RUN, UPDATES, ready_for
from support.rpc import Create, Rpc, field_refused, refusal
from support.statuses import status_everywhere

EXPIRED = (grpc.StatusCode.FAILED_PRECONDITION, "SESSION_EXPIRED")
Age = Callable[[float], Awaitable[None]]


@pytest.fixture
def age(shared_database: Database, tenant: str) -> Age:
    """Let time pass for the sessions of the test's tenant: move all that they remember back."""

    async def passed(seconds: float) -> None:
        await shared_database.as_superuser(
            f"""
            with details as (
                update lockstitch.session_details set expire_time = expire_time - interval '{seconds} s'
                where tenant_id = '{tenant}'
            )
            update lockstitch.sessions set
                expire_time = expire_time - interval '{seconds} s',
                last_activity_time = last_activity_time - interval '{seconds} s'
            where tenant_id = '{tenant}'
            """
        )

    return passed


@pytest.mark.parametrize("name", [*CHANGES, "CloseSession"])
async def test_an_expired_session_takes_no_change_and_is_read_like_any_other(
    engine: Rpc, create: Create, age: Age, name: str
) -> None:
    session_id = await ready_for(name, engine, create, ttl={"seconds": 100})
    await age(60)
    assert await status_everywhere(engine, session_id) == [SESSION_STATUS_ACTIVE] * 4
    await age(41)
    refused = await refusal(engine.send(UPDATES[name].on(session_id)))
    assert refused.what == EXPIRED
    assert await status_everywhere(engine, session_id) == [SESSION_STATUS_EXPIRED] * 4
    assert len((await engine.ListMessages(session_id=session_id)).messages) == 3
    assert (await engine.GetMemory(session_id=session_id)).memory.goal == "g"
    assert len((await engine.ListCommits(session_id=session_id)).commits) == 1 + (name in UNDER_RUN)


async def test_a_life_unused_ends_after_its_last_use_and_reads_are_no_use(
    engine: Rpc, create: Create, age: Age
) -> None:
    session_id = await create(idle_ttl={"seconds": 100}, messages=[said("hi")])
    for _ in range(3):
        await age(60)
        await engine.Append(session_id=session_id, messages=[said("still here")])
    await age(60)
    for method in ("GetSession", "GetContext", "ListMessages", "ListCommits"):
        await getattr(engine, method)(session_id=session_id)
    await engine.UpdateSession(session={"session_id": session_id, "title": "t"}, update_mask={"paths": ["title"]})
    await age(41)
    assert (await engine.GetSession(session_id=session_id)).session.status == SESSION_STATUS_EXPIRED


@pytest.mark.parametrize(("ttl", "idle_ttl"), [(100, 1000), (1000, 100)])
async def test_the_sooner_of_two_ends_counts(engine: Rpc, create: Create, age: Age, ttl: int, idle_ttl: int) -> None:
    session_id = await create(ttl={"seconds": ttl}, idle_ttl={"seconds": idle_ttl})
    await age(60)
    assert (await engine.GetSession(session_id=session_id)).session.status == SESSION_STATUS_ACTIVE
    await age(41)
    assert (await engine.GetSession(session_id=session_id)).session.status == SESSION_STATUS_EXPIRED


async def test_an_expired_session_needs_a_new_life(engine: Rpc, create: Create, age: Age) -> None:
    session_id = await create(ttl={"seconds": 100})
    await age(101)
    assert (await refusal(engine.RestoreSession(session_id=session_id))).what == EXPIRED
    past = Timestamp(seconds=1)
    assert await field_refused(engine.RestoreSession(session_id=session_id, expire_time=past)) == "expire_time"
    restored = (await engine.RestoreSession(session_id=session_id, ttl={"seconds": 50})).session
    assert (restored.status, restored.version) == (SESSION_STATUS_ACTIVE, 2)
    assert restored.expire_time.ToNanoseconds() == restored.update_time.ToNanoseconds() + 50 * 10**9
    await engine.Append(session_id=session_id, messages=[said("hi")])
    await age(51)
    assert (await engine.GetSession(session_id=session_id)).session.status == SESSION_STATUS_EXPIRED


async def test_a_life_unused_that_ran_out_is_gone_and_one_that_did_not_stays(
    engine: Rpc, create: Create, age: Age
) -> None:
    idle = await create(idle_ttl={"seconds": 100})
    both = await create(ttl={"seconds": 50}, idle_ttl={"seconds": 1000})
    await age(101)
    restored = (await engine.RestoreSession(session_id=idle, ttl={"seconds": 500})).session
    assert not restored.HasField("idle_ttl")
    kept = (await engine.RestoreSession(session_id=both, ttl={"seconds": 500})).session
    assert kept.idle_ttl.seconds == 1000


async def test_a_closed_session_stays_closed_when_its_time_passes(engine: Rpc, create: Create, age: Age) -> None:
    session_id = await create(ttl={"seconds": 100})
    await engine.CloseSession(session_id=session_id)
    await age(101)
    assert await status_everywhere(engine, session_id) == [SESSION_STATUS_CLOSED] * 4
    assert (await refusal(engine.Append(session_id=session_id, messages=[said("x")]))).reason == "SESSION_CLOSED"
    assert (await engine.CloseSession(session_id=session_id)).receipt.version == 2
    assert (await refusal(engine.RestoreSession(session_id=session_id))).what == EXPIRED
    restored = (await engine.RestoreSession(session_id=session_id, ttl={"seconds": 50})).session
    assert restored.status == SESSION_STATUS_ACTIVE


async def test_an_expired_session_is_not_closed_but_a_retry_of_its_close_is_told(
    engine: Rpc, create: Create, age: Age
) -> None:
    session_id = await create(ttl={"seconds": 100})
    first = await engine.Append(session_id=session_id, request_id="r", messages=[said("hi")])
    await age(101)
    assert (await refusal(engine.CloseSession(session_id=session_id))).what == EXPIRED
    again = await engine.Append(session_id=session_id, request_id="r", messages=[said("hi")])
    assert (again.receipt.replayed, again.receipt.version) == (True, first.receipt.version)


@pytest.mark.parametrize("field", ["ttl", "idle_ttl"])
@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [
        (0, 0),
        (0, 999_999_999),
        (-1, 0),
        (2**62, 0),
        (-(2**62), 0),
        (100 * 366 * 86_400, 0),
        (1, -1),
        (1, 2_000_000_000),
    ],
)
async def test_a_life_is_1_second_to_100_years(
    engine: Rpc, create: Create, field: str, seconds: int, nanos: int
) -> None:
    life = {field: Duration(seconds=seconds, nanos=nanos)}
    assert await field_refused(engine.CreateSession(**life)) == field
    if field == "ttl":
        session_id = await create()
        await engine.CloseSession(session_id=session_id)
        assert await field_refused(engine.RestoreSession(session_id=session_id, **life)) == field


@pytest.mark.parametrize(
    "when",
    [Timestamp(seconds=1), Timestamp(seconds=2**62), Timestamp(seconds=-(2**62)), Timestamp(nanos=-1), Timestamp()],
)
async def test_an_end_lies_ahead(engine: Rpc, when: Timestamp) -> None:
    assert await field_refused(engine.CreateSession(expire_time=when)) == "expire_time"


@pytest.mark.parametrize("seconds", [1_900_000_000, 200_000_000_000, 253_402_300_799])
async def test_an_end_may_be_very_far(engine: Rpc, create: Create, seconds: int) -> None:
    end = Timestamp(seconds=seconds, nanos=999_999_000)
    session_id = await create(expire_time=end)
    assert (await engine.GetSession(session_id=session_id)).session.expire_time == end
    assert (await engine.ListSessions(statuses=[SESSION_STATUS_ACTIVE])).sessions[0].expire_time == end
    await engine.Append(session_id=session_id, messages=[said("hi")])
    await engine.CloseSession(session_id=session_id)
    restored = (await engine.RestoreSession(session_id=session_id)).session
    assert restored.expire_time == end


async def test_lives_come_back_as_given_and_run_from_the_databases_clock(engine: Rpc, create: Create) -> None:
    session_id = await create(ttl={"seconds": 90}, idle_ttl={"seconds": 3, "nanos": 500_000_000})
    session = (await engine.GetSession(session_id=session_id)).session
    assert session.expire_time.ToNanoseconds() == session.create_time.ToNanoseconds() + 90 * 10**9
    assert (session.idle_ttl.seconds, session.idle_ttl.nanos) == (3, 500_000_000)
    years = await create(idle_ttl={"seconds": 99 * 365 * 86_400})
    assert (await engine.GetSession(session_id=years)).session.idle_ttl.seconds == 99 * 365 * 86_400
