"""Two servers of one database, for calls that wait."""

from collections.abc import Callable, Iterator

import grpc
import pytest

from lockstitch_server.server_process import ServerProcess
from support.blocking import UNSWEPT, methods_on
from support.databases import Database
from support.lockstep import Servers


@pytest.fixture(scope="module")
def servers(database: Database, start_server: Callable[..., ServerProcess]) -> Iterator[Servers]:
    pair = [start_server(database, **UNSWEPT) for _ in range(2)]
    channels = [grpc.insecure_channel(server.target) for server in pair]
    yield [(server, methods_on(channel)) for server, channel in zip(pair, channels, strict=True)]
    for channel in channels:
        channel.close()
