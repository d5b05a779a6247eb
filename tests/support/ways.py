"""Walks over states: how each is made, and the calls that leave it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from support.databases import Database
from support.rpc import Create, Rpc

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class World:
    """What states are made with."""

    engine: Rpc
    create: Create
    database: Database
    tenant: str

    async def age(self, session_id: str) -> None:
        """Let the session's time be over."""
        await self.database.as_superuser(
            "update lockstitch.sessions set expire_time = clock_timestamp() where tenant_id = $1 and session_id = $2",
            self.tenant,
            session_id,
        )

    async def lapse(self, session_id: str) -> None:
        """Let the lease of its run be over."""
        await self.database.as_superuser(
            "update lockstitch.run_leases l set lease_expire_time = clock_timestamp() from lockstitch.sessions s"
            " where s.session_key = l.session_key and s.tenant_id = $1 and s.session_id = $2",
            self.tenant,
            session_id,
        )


Build = Callable[[World], Awaitable[str]]
State = tuple[str, Build, int, list[Call]]
"""What it is called, how it is made, its status, what leaves it."""


def ways(states: list[State]) -> pytest.MarkDecorator:
    """Walk over every way out of every state."""
    found = [(build, left, call) for _, build, left, calls in states for call in calls]
    names = [f"{name}, {call[0]}" for name, _, __, calls in states for call in calls]
    return pytest.mark.parametrize(("build", "left", "call"), found, ids=names)
