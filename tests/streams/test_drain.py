"""A server that is told to stop: who is told what, in which order, and that nobody's call fails."""

import asyncio
import time
from itertools import pairwise
from typing import Any

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from factories import fresh, said
from lockstitch.service_config import SERVICE_CONFIG
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.guarantees import check_guarantees
from support.journal import Journal
from support.proxy import proxy_to, to_socket
from support.rpc import Refusal
from support.stage import MakeStage
from support.traffic import traffic
from support.waiting import until

DRAINING = (grpc.StatusCode.UNAVAILABLE, "DRAINING")
STREAMS = 20
CALLERS = 16
CALL_SECONDS_MAX = 20
GRACE_SECONDS = 10
RECONNECT_SECONDS_MAX = 3


async def stopped(server: ServerProcess) -> float:
    """Stop a server and give how long it took."""
    started = time.monotonic()
    assert await asyncio.to_thread(server.stop) == 0
    return time.monotonic() - started


async def test_streams_are_told_to_go_at_different_times_and_end_as_draining(make_stage: MakeStage) -> None:
    stage = await make_stage()
    session_id, journal = await stage.session(), Journal()
    readers = [await stage.follow(session_id, resume=False) for _ in range(STREAMS)]
    for reader in readers:
        await reader.caught_up()
    await stage.writer(session_id, journal).write(3)
    assert await stopped(stage.servers[0]) < GRACE_SECONDS / 2
    delays = set()
    for reader in readers:
        end = (await reader.ended()).end
        assert isinstance(end, Refusal)
        assert end.what == DRAINING
        last = reader.stream.frames[-1]
        assert last.draining.version == reader.cursor == journal.last_version
        delays.add(last.draining.reconnect_after.ToTimedelta().total_seconds())
    check_guarantees(journal, readers)
    assert len(delays) > STREAMS / 2
    assert all(0 <= delay < RECONNECT_SECONDS_MAX for delay in delays)


async def test_health_says_not_serving_before_streams_are_told_to_go(make_stage: MakeStage) -> None:
    stage = await make_stage()
    session_id = await stage.session()
    heard: list[str] = []
    async with aio.insecure_channel(stage.servers[0].target) as channel:
        watching = asyncio.create_task(_watch(channel, heard))
        reader = await stage.follow(session_id, resume=False)
        await reader.caught_up()
        await until(lambda: heard == ["SERVING"], "health")
        stopping = asyncio.create_task(stopped(stage.servers[0]))
        await reader.ended()
        heard.append("stream ended")
        assert await stopping < GRACE_SECONDS / 2, "a watch of its health kept the server from stopping"
        await asyncio.wait([watching])
    assert heard == ["SERVING", "NOT_SERVING", "stream ended"]


async def _watch(channel: aio.Channel, heard: list[str]) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    name = health_pb2.HealthCheckResponse.ServingStatus.Name
    async for answer in stub.Watch(health_pb2.HealthCheckRequest()):
        heard.append(name(answer.status))  # noqa: PERF401 - others look at it meanwhile


async def test_health_answers_for_each_service_and_the_server_and_knows_no_other(server: ServerProcess) -> None:
    async with aio.insecure_channel(server.target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        for service in ("", "lockstitch.v1.SessionService", "lockstitch.v1.AdminService"):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(aio.AioRpcError, match="NOT_FOUND"):
            await stub.Check(health_pb2.HealthCheckRequest(service="another"))
        first = await stub.Watch(health_pb2.HealthCheckRequest(service="another")).read()
        assert first.status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


async def test_no_call_fails_for_who_comes_again_when_one_of_two_servers_stops(
    make_stage: MakeStage, server: ServerProcess
) -> None:
    stage = await make_stage()
    leaving = stage.servers[0]
    stage.servers.append(server)
    session_id, journal = await stage.session(server.target), Journal()
    readers = [await stage.follow(session_id) for _ in range(4)]
    writers = [stage.writer(session_id, journal) for _ in range(8)]
    async with traffic(journal, writers, readers):
        assert await stopped(leaving) < GRACE_SECONDS
    for reader in readers:
        for before, _ in pairwise(reader.streams):
            assert before.end == grpc.StatusCode.UNAVAILABLE or _what(before.end) == DRAINING


def _what(end: object) -> object:
    return end.what if isinstance(end, Refusal) else end


async def test_no_call_of_a_caller_with_the_shipped_service_config_fails(
    make_stage: MakeStage, server: ServerProcess
) -> None:
    """Plain gRPC, which retries as it was told, and knows both servers."""
    stage = await make_stage()
    leaving = stage.servers[0]
    session_ids = [await stage.session(server.target) for _ in range(CALLERS)]
    stop, answered = asyncio.Event(), [0] * CALLERS
    headers = [("authorization", f"Bearer {stage.token()}")]
    options = [("grpc.service_config", SERVICE_CONFIG), ("grpc.use_local_subchannel_pool", 1)]
    async with aio.insecure_channel(f"ipv4:{leaving.target},{server.target}", options=options) as channel:
        stub: Any = SessionServiceStub(channel)

        async def call_on(place: int) -> None:
            while not stop.is_set():
                request = pb.AppendRequest(
                    session_id=session_ids[place], request_id=fresh("request"), messages=[said("hello")]
                )
                await stub.Append(request, metadata=headers, timeout=CALL_SECONDS_MAX)
                answered[place] += 1

        calling = [asyncio.create_task(call_on(place)) for place in range(CALLERS)]
        await until(lambda: all(answered), "answers of the first server")
        assert await stopped(leaving) < GRACE_SECONDS
        before = list(answered)
        await until(lambda: all(now > then for now, then in zip(answered, before, strict=True)), "answers of the other")
        stop.set()
        await asyncio.gather(*calling)
    for session_id, count in zip(session_ids, answered, strict=True):
        session = (await stage.rpc(server.target).GetSession(session_id=session_id)).session
        assert session.message_count == count, "a retry was a second write"


async def test_what_is_inside_is_finished_and_what_is_before_the_door_is_told_to_come_again(
    database: Database, make_stage: MakeStage
) -> None:
    stage = await make_stage()
    session_ids = [await stage.session() for _ in range(20)]
    caller = stage.caller()
    requests = [
        pb.AppendRequest(session_id=session_id, request_id=fresh("request"), messages=[said("x" * 100_000)])
        for session_id in session_ids
        for _ in range(5)
    ]
    calls = [asyncio.create_task(_outcome(caller.sessions.Append(request))) for request in requests]
    await until(lambda: any(call.done() for call in calls), "the first answer")
    assert await stopped(stage.servers[0]) < GRACE_SECONDS
    codes = [await call for call in calls]
    assert set(codes) <= {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    (row,) = await database.as_superuser(
        "select sum(version - 1) as commits from lockstitch.sessions where session_id = any($1)", session_ids
    )
    assert row["commits"] == codes.count(grpc.StatusCode.OK), "what was not answered was done all the same"


async def _outcome(call: Any) -> grpc.StatusCode:
    try:
        await call
    except aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_the_last_commits_of_a_stopping_server_are_heard_of(make_stage: MakeStage) -> None:
    listening = await make_stage(LOCKSTITCH_SUBSCRIPTION_POLL_INTERVAL="2")
    stage = await make_stage()
    stage.servers += listening.servers
    session_id, journal = await stage.session(), Journal()
    reader = await stage.follow(session_id, targets=[listening.servers[0].target])
    await reader.caught_up()
    writer = stage.writer(session_id, journal, [stage.servers[0].target])
    for _ in range(3):
        await writer.write(1)
    await stopped(stage.servers[0])
    await reader.reached(journal.last_version, seconds=2)


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_stalled_readers_do_not_keep_a_server_from_stopping(make_stage: MakeStage, workers: str) -> None:
    stage = await make_stage(LOCKSTITCH_SHUTDOWN_GRACE="2", LOCKSTITCH_WORKERS=workers)
    session_id, journal = await stage.session(), Journal()
    for _ in range(10):
        await stage.writer(session_id, journal).write(1, padding="x" * 1_000_000)
    stalled = [stage.open(session_id) for _ in range(3)]
    for call in stalled:
        await call.read()
    assert await stopped(stage.servers[0]) < 2 + 3


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_server_stops_cleanly_though_its_database_says_nothing_any_more(
    database: Database, make_stage: MakeStage, workers: str
) -> None:
    async with proxy_to(to_socket(database.socket_path)) as network:
        stage = await make_stage(
            LOCKSTITCH_DATABASE_URL=database.url_at(network.target),
            LOCKSTITCH_SHUTDOWN_GRACE="0.5",
            LOCKSTITCH_WORKERS=workers,
        )
        session_id = await stage.session()
        network.stall()
        request = pb.AppendRequest(session_id=session_id, request_id=fresh("request"), messages=[said("hello")])
        calls = [asyncio.create_task(_outcome(stage.caller().sessions.Append(request))) for _ in range(3)]
        await until(lambda: network.held_up > 0, "statements that go nowhere")
        await stopped(stage.servers[0])
        assert grpc.StatusCode.OK not in [await call for call in calls]
