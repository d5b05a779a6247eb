"""Clients of a real server."""

from collections.abc import AsyncIterator

import pytest

from lockstitch import Client
from lockstitch_server.server_process import ServerProcess


@pytest.fixture
async def client(server: ServerProcess) -> AsyncIterator[Client]:
    """An engine's client."""
    async with Client(server.target, token=server.token(tenant="client-tests")) as made:
        yield made


@pytest.fixture
async def user_client(server: ServerProcess) -> AsyncIterator[Client]:
    """The client of the user u1, of the same tenant."""
    token = server.token(tenant="client-tests", user="u1", role="user")
    async with Client(server.target, token=token) as made:
        yield made
