"""Case A03: the retry of a request that had landed.

The log stands for a subscriber here; step 7 is in test_a03_a14_a16_a17_subscribed.py.
"""

import asyncio
from collections.abc import Callable

from factories import fresh, said
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Create, Rpc, as_replayed, refusal


async def test_a_retry_gives_the_first_answer_though_the_session_moved_on_and_the_server_was_killed(
    call_as: As, engine: Rpc, create: Create, shared_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    session_id = await create()
    doomed = start_server(shared_database)
    paying = AppendRequest(
        session_id=session_id, request_id="r-77", expected_version=1, messages=[said("pay invoice 12")]
    )
    writer = call_as("engine-1", "engine", to=doomed)
    first = (await writer.send(paying)).receipt
    at_once = (await writer.send(paying)).receipt
    await writer.Append(session_id=session_id, request_id="r-78", expected_version=2, messages=[said("thanks")])
    later = (await writer.send(paying)).receipt
    doomed.kill()
    after_the_kill = (await call_as("engine-1", "engine", to=start_server(shared_database)).send(paying)).receipt

    assert at_once == later == after_the_kill == as_replayed(first)
    stored = await engine.ListMessages(session_id=session_id)
    assert [message.parts[0].text for message in stored.messages] == ["pay invoice 12", "thanks"]
    assert stored.as_of_version == 3
    commits = (await engine.ListCommits(session_id=session_id)).commits
    assert [len(commit.messages) for commit in commits] == [0, 1, 1]


async def test_duplicates_in_flight_on_two_servers_are_one_write(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    request = AppendRequest(session_id=session_id, request_id="once", messages=[said("hello")])
    answers = await asyncio.gather(*(engines[number % 2].send(request) for number in range(20)))
    receipts = [answer.receipt for answer in answers]
    (first,) = [receipt for receipt in receipts if not receipt.replayed]
    assert all(receipt == as_replayed(first) for receipt in receipts if receipt.replayed)
    assert (await engines[0].GetSession(session_id=session_id)).session.message_count == 1


async def test_the_same_text_twice_is_two_messages(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for _ in range(2):
        await engine.Append(session_id=session_id, messages=[said("yes")])
    assert (await engine.GetSession(session_id=session_id)).session.message_count == 2


async def test_a_request_id_belongs_to_its_session(engine: Rpc, create: Create) -> None:
    request_id = fresh("request")
    first, second = await create(), await create()
    for session_id in (first, second):
        receipt = (await engine.Append(session_id=session_id, request_id=request_id, messages=[said("hi")])).receipt
        assert not receipt.replayed


async def test_a_refused_request_id_is_not_burnt(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await engine.CloseSession(session_id=session_id)
    request = AppendRequest(session_id=session_id, request_id="again", messages=[said("hi")])
    for _ in range(2):
        assert (await refusal(engine.send(request))).reason == "SESSION_CLOSED"
    await engine.RestoreSession(session_id=session_id)
    request.messages[0].parts[0].text = "other words"
    assert not (await engine.send(request)).receipt.replayed
