"""A connection that died without a word is noticed by the call that waits on it, which succeeds on another one."""

from datetime import timedelta

import pytest

from lockstitch import Client, user
from lockstitch.connection import KEEPALIVE_MILLISECONDS
from lockstitch_server.api.server import PING_INTERVAL_MIN_MILLISECONDS
from lockstitch_server.server_process import ServerProcess
from support.proxy import proxy_to, to_tcp

# TCP itself would take a quarter of an hour.
PATIENCE = timedelta(seconds=60)


@pytest.mark.parametrize("loses", ["the way to the server", "the server's end"])
async def test_a_call_on_a_connection_that_fell_silent_is_made_on_another(server: ServerProcess, loses: str) -> None:
    async with (
        proxy_to(to_tcp(server.target)) as proxy,
        Client(proxy.target, token=server.token(), timeout=PATIENCE) as client,
    ):
        session = await client.create()
        if loses == "the way to the server":
            proxy.freeze()
        else:
            proxy.half_open("far")
        receipt = await session.append(messages=[user("heard after all")])
        texts = [message.parts[0].text async for message in session.messages()]
    assert receipt.version == 2
    assert texts == ["heard after all"]


def test_a_client_asks_no_more_often_than_a_server_lets_it() -> None:
    assert KEEPALIVE_MILLISECONDS > PING_INTERVAL_MIN_MILLISECONDS
