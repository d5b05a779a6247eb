"""A server to run the suite on."""

from collections.abc import Callable

import pytest

from lockstitch_conformance.target import Target
from lockstitch_server.server_process import ServerProcess

TargetOf = Callable[[str], Target]


@pytest.fixture
def target_of(server: ServerProcess) -> TargetOf:
    """Make a target of an address, whose tokens the server takes."""

    async def token(tenant: str, user: str, role: str) -> str:
        return server.token(tenant=tenant, user=user, role=role)

    return lambda address: Target(address, token)
