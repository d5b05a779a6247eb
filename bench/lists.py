"""What lists cost: a user's sessions a page at a time, and the newest messages where many were taken back."""

from collections.abc import Awaitable, Callable
from statistics import median

import grpc.aio

import load
from lockstitch import SessionHandle
from lockstitch.v1.session_service_pb2 import GetSessionRequest, ListSessionsRequest, ListSessionsResponse
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from results import Figure, Target
from stage import CREATES_IN_FLIGHT, Stage, message

PAGE = 100
LAST_PAGE = 100
DAYS = 30
RECENT = 50
BATCH = 100


async def sessions_and_removals(
    stage: Stage, *, sessions: int, removals: int, rounds: int, calls: int
) -> list[Target | Figure]:
    """List many sessions of one user, and read what is left of a session that lost many messages."""
    return [
        *await _session_pages(stage, sessions, rounds, calls),
        *await _after_removals(stage, removals, rounds, calls),
    ]


async def _session_pages(stage: Stage, sessions: int, rounds: int, calls: int) -> list[Target | Figure]:
    made: list[SessionHandle] = []

    async def create(_number: int) -> None:
        made.append(await stage.client.create(user_id="lists"))

    await load.run(create, calls=sessions, in_flight=CREATES_IN_FLIGHT)
    await stage.database.spread_activity("lists", DAYS)
    headers = (("authorization", f"Bearer {stage.server.token(tenant='bench', user='bench')}"),)
    async with grpc.aio.insecure_channel(stage.server.target) as channel:
        stub = SessionServiceStub(channel)

        async def page(token: str) -> ListSessionsResponse:
            request = ListSessionsRequest(user_id="lists", page_size=PAGE, page_token=token)
            return await stub.ListSessions(request, metadata=headers)

        async def read(number: int) -> object:
            request = GetSessionRequest(session_id=made[number % len(made)].session_id)
            return await stub.GetSession(request, metadata=headers)

        return await _compared(stage, page, read, rounds, calls)


async def _compared(
    stage: Stage, page: Callable[[str], Awaitable[ListSessionsResponse]], read: load.Call, rounds: int, calls: int
) -> list[Target | Figure]:
    tokens = [""]
    while len(tokens) < LAST_PAGE and (token := (await page(tokens[-1])).next_page_token):
        tokens.append(token)

    async def first_page(_number: int) -> object:
        return await page("")

    async def last_page(_number: int) -> object:
        return await page(tokens[-1])

    first: list[float] = []
    last: list[float] = []
    for turn in range(-1, rounds):
        one = await load.run(read, calls=calls, in_flight=1, first=max(turn, 0) * calls)
        near = await load.run(first_page, calls=calls, in_flight=1)
        far = await load.run(last_page, calls=calls, in_flight=1)
        if turn >= 0:  # the first turn warms all up
            first.append(near.p50_ms / one.p50_ms)
            last.append(far.p50_ms / near.p50_ms)
    await stage.database.gather_activity("lists")
    together = await load.run(first_page, calls=calls, in_flight=1)
    return [
        Target("list_sessions_10000", median(first)),
        Target("list_sessions_page_100_vs_1", median(last)),
        Figure(f"ListSessions, {PAGE} of all, used within one minute, p50 at 1 in flight", f"{together.p50_ms:.1f} ms"),
    ]


async def _after_removals(stage: Stage, removals: int, rounds: int, calls: int) -> list[Target | Figure]:
    worn, fresh = await stage.sessions(2)
    for _ in range(removals // BATCH):
        await worn.append(messages=[message()] * BATCH)
        await worn.remove(last=BATCH)
    for session in (worn, fresh):
        await session.append(messages=[message()] * RECENT)

    async def read_worn(_number: int) -> object:
        return await worn.get(recent_messages=RECENT)

    async def read_fresh(_number: int) -> object:
        return await fresh.get(recent_messages=RECENT)

    ratios: list[float] = []
    for turn in range(-1, rounds):
        short = await load.run(read_fresh, calls=calls, in_flight=1)
        after = await load.run(read_worn, calls=calls, in_flight=1)
        if turn >= 0:
            ratios.append(after.p50_ms / short.p50_ms)
    return [Target("newest_50_after_10000_removals", median(ratios))]
