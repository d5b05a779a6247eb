"""LangGraph's own conformance suite, through a saver on the client, against a real server."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES, Capability

from adapters.langgraph_saver import LockstitchSaver
from factories import fresh
from lockstitch import Client
from lockstitch_server.server_process import ServerProcess


@pytest.mark.parametrize("capability", sorted(ALL_CAPABILITIES))
async def test_every_capability_conforms(server: ServerProcess, capability: Capability) -> None:
    async def stores() -> AsyncGenerator[Any, None]:
        token = server.token(tenant=fresh("tenant"), user="engine", role="engine")
        async with Client(server.target, token=token) as client:
            yield LockstitchSaver(client)

    report = await validate(checkpointer_test(name="lockstitch")(stores), capabilities={capability.value})
    result = report.results[capability.value]
    assert result.failures in ([], None)
    assert result.passed
    assert result.tests_passed > 0
