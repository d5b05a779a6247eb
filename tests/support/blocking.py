"""Servers for calls that wait, whose sweepers leave it to the tests when time passes."""

from types import SimpleNamespace
from typing import Any, cast

import grpc

from lockstitch.v1.admin_service_pb2_grpc import AdminServiceStub
from lockstitch.v1.checkpoint_service_pb2_grpc import CheckpointServiceStub
from lockstitch.v1.run_service_pb2_grpc import RunServiceStub
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub

UNSWEPT = {"LOCKSTITCH_SWEEP_INTERVAL": "86400"}


def methods_on(channel: grpc.Channel) -> Any:
    """Give the methods of all services, by name."""
    # The stubs' types are those of asyncio; on such a channel they wait instead.
    stubs = [
        stub(cast("Any", channel))
        for stub in (SessionServiceStub, RunServiceStub, CheckpointServiceStub, AdminServiceStub)
    ]
    return SimpleNamespace(**{name: method for stub in stubs for name, method in vars(stub).items()})
