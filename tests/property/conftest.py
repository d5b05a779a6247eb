"""Two servers of one database, for calls that wait."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest

from lockstitch.v1.admin_service_pb2_grpc import AdminServiceStub
from lockstitch.v1.run_service_pb2_grpc import RunServiceStub
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.lockstep import Servers

# What time brings about is made to happen at chosen moments.
SELDOM = "86400"


@pytest.fixture(scope="module")
def servers(database: Database, start_server: Callable[..., ServerProcess]) -> Iterator[Servers]:
    pair = [start_server(database, LOCKSTITCH_SWEEP_INTERVAL=SELDOM) for _ in range(2)]
    channels = [grpc.insecure_channel(server.target) for server in pair]
    yield [(server, methods_on(channel)) for server, channel in zip(pair, channels, strict=True)]
    for channel in channels:
        channel.close()


def methods_on(channel: grpc.Channel) -> Any:
    """Give the methods of all services, by name."""
    # The stubs' types are those of asyncio; on such a channel they wait instead.
    stubs = [stub(cast("Any", channel)) for stub in (SessionServiceStub, RunServiceStub, AdminServiceStub)]
    return SimpleNamespace(**{name: method for stub in stubs for name, method in vars(stub).items()})
