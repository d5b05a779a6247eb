"""Two servers of one database, for calls that wait."""

from collections.abc import Iterator
from typing import Any, cast

import grpc
import pytest

from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch_server.server_process import ServerProcess
from support.lockstep import Servers


@pytest.fixture(scope="module")
def servers(server_pair: tuple[ServerProcess, ServerProcess]) -> Iterator[Servers]:
    channels = [grpc.insecure_channel(server.target) for server in server_pair]
    # The stubs' types are those of asyncio; on such a channel they wait instead.
    stubs = [SessionServiceStub(cast("Any", channel)) for channel in channels]
    yield list(zip(server_pair, stubs, strict=True))
    for channel in channels:
        channel.close()
