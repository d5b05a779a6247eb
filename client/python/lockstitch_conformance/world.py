"""Who calls in a run of the suite, and what they know of the target."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from grpc import aio

from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest, GetServerInfoResponse, Limits
from lockstitch_conformance.caller import Caller
from lockstitch_conformance.target import Target

FIRST_ANSWER_SECONDS_MAX = 10.0


@dataclass(frozen=True, slots=True)
class World:
    """The callers of a run. What checks make in it has names of its own, so that they don't meet."""

    engine: Caller
    admin: Caller
    user: Caller
    neighbour: Caller
    """Another user of the same tenant."""
    stranger: Caller
    """An engine of another tenant."""
    user_id: str
    neighbour_id: str
    info: GetServerInfoResponse
    token: str
    """The user's, for those who tamper with it."""
    channel: aio.Channel
    run: str = field(default_factory=lambda: uuid4().hex[:12])

    @property
    def limits(self) -> Limits:
        return self.info.limits

    def fresh(self, word: str) -> str:
        """Give a name that nobody used."""
        return f"{word}-{self.run}-{uuid4().hex[:12]}"

    def bearing(self, token: str) -> Caller:
        """Give whoever calls with this token; none where it is empty."""
        return Caller(self.channel, token)


@asynccontextmanager
async def world_of(target: Target) -> AsyncIterator[World]:
    """Connect to a target. Its users are new ones in every run, so that their lists begin empty."""
    run = uuid4().hex[:12]
    user_id, neighbour_id = f"user-{run}", f"neighbour-{run}"
    tenant, other = target.tenants
    async with AsyncExitStack() as undo:
        # A channel for all: many callers over one connection are what a gateway is.
        channel = target.channel()
        undo.push_async_callback(channel.close)
        # One after the other: who signs them may be slow, or count how many ask.
        tokens = [
            await target.tokens(*claims)
            for claims in (
                (tenant, f"engine-{run}", "engine"),
                (tenant, f"admin-{run}", "admin"),
                (tenant, user_id, "user"),
                (tenant, neighbour_id, "user"),
                (other, f"stranger-{run}", "engine"),
            )
        ]
        engine, admin, user, neighbour, stranger = (Caller(channel, token) for token in tokens)
        yield World(
            engine=engine,
            admin=admin,
            user=user,
            neighbour=neighbour,
            stranger=stranger,
            user_id=user_id,
            neighbour_id=neighbour_id,
            info=await engine.send(GetServerInfoRequest(), seconds_max=FIRST_ANSWER_SECONDS_MAX),
            token=tokens[2],
            channel=channel,
            run=run,
        )
