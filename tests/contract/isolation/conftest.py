"""Callers with tokens of every kind, and servers with one wall."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from lockstitch_server.server_process import ServerProcess
from support.matrix import Asker

Ask = Callable[..., Asker]


@pytest.fixture
async def asker() -> AsyncIterator[Ask]:
    """Make callers: `asker(server, tenant="t", user="u", role="user")`, or `authorization=` as it is."""
    async with AsyncExitStack() as open_askers:

        def made(
            server: ServerProcess,
            *,
            tenant: str = "",
            user: str = "e",
            role: str = "engine",
            authorization: str | None = None,
        ) -> Asker:
            if tenant:
                authorization = f"Bearer {server.token(tenant=tenant, user=user, role=role)}"
            new = Asker(server.target, authorization)
            open_askers.push_async_callback(new.close)
            return new

        yield made
