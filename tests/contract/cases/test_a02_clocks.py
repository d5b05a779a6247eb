"""Case A02: no clock makes a session look stale.

libfaketime is rarely there, so the clock is stepped the other way round: every time that the store has kept is moved
ahead of the database's clock, which is what a session looks like to a database whose clock was set back.
"""

from factories import fresh, said
from support.databases import Database
from support.rpc import Create, Rpc, refusal

TIMES = {
    "sessions": ("create_time", "update_time", "last_activity_time"),
    "commits": ("commit_time", "last_activity_time"),
    "messages": ("create_time",),
}


async def _step_back(database: Database, tenant: str, seconds: int) -> None:
    for table, columns in TIMES.items():
        moved = ", ".join(f"{column} = {column} + interval '{seconds} s'" for column in columns)
        await database.as_superuser(f"update lockstitch.{table} set {moved} where tenant_id = $1", tenant)


async def test_five_hundred_guarded_appends_are_never_stale_though_the_clock_steps_back(
    engines: tuple[Rpc, Rpc], create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    writer, other = engines
    versions = [1]
    for number in range(500):
        if number == 250:
            await _step_back(shared_database, tenant, 2)
        answer = await writer.Append(session_id=session_id, expected_version=versions[-1], messages=[said(str(number))])
        versions.append(answer.receipt.version)
        if number % 100 == 0:
            for reader in engines:
                assert (await reader.GetSession(session_id=session_id)).session.version == versions[-1]
    assert versions == list(range(1, 502))

    stale = await refusal(other.Append(session_id=session_id, expected_version=versions[498], messages=[said("late")]))
    assert (stale.reason, stale.metadata["current_version"]) == ("VERSION_CONFLICT", "501")
    session = (await other.GetSession(session_id=session_id)).session
    assert (session.version, session.message_count, session.last_seq) == (501, 500, 500)


async def test_order_and_expiry_do_not_follow_a_clock_that_stepped_back(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create(idle_ttl={"seconds": 3600})
    await engine.Append(session_id=session_id, messages=[said("first")])
    await _step_back(shared_database, tenant, 600)
    await engine.Append(session_id=session_id, messages=[said("second")])

    messages = (await engine.ListMessages(session_id=session_id)).messages
    assert [message.parts[0].text for message in messages] == ["first", "second"]
    assert messages[0].create_time.seconds > messages[1].create_time.seconds
    commits = (await engine.ListCommits(session_id=session_id)).commits
    assert [commit.version for commit in commits] == [1, 2, 3]


async def test_a_version_is_read_straight_after_its_write_from_every_process(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    for number in range(50):
        writer, reader = engines[number % 2], engines[1 - number % 2]
        receipt = (await writer.Append(session_id=session_id, messages=[said(fresh())])).receipt
        assert (await reader.GetSession(session_id=session_id)).session.version == receipt.version == number + 2
