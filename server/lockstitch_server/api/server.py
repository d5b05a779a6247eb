"""The gRPC server: our services, health and reflection in one line, ours behind a guard."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from lockstitch.v1 import (
    admin_service_pb2,
    admin_service_pb2_grpc,
    checkpoint_service_pb2,
    checkpoint_service_pb2_grpc,
    run_service_pb2,
    run_service_pb2_grpc,
    session_service_pb2,
    session_service_pb2_grpc,
)
from lockstitch_server import failpoints
from lockstitch_server.api.admin_service import AdminServicer
from lockstitch_server.api.admission import Admission, queue_of
from lockstitch_server.api.backlog import Backlog
from lockstitch_server.api.checkpoint_service import CheckpointServicer
from lockstitch_server.api.grpc_log import tell_lost_callers_quietly
from lockstitch_server.api.guard import Guard
from lockstitch_server.api.health_service import Health
from lockstitch_server.api.line import Line
from lockstitch_server.api.rates import Rates
from lockstitch_server.api.requests import Requests
from lockstitch_server.api.run_service import RunServicer
from lockstitch_server.api.services import Services
from lockstitch_server.api.session_service import SessionServicer
from lockstitch_server.api.transport_security import TlsFiles
from lockstitch_server.auth.identity import Identity
from lockstitch_server.auth.policy import Policy
from lockstitch_server.config import Settings
from lockstitch_server.model import Durability
from lockstitch_server.startup import StartupError

_SERVICES = (
    session_service_pb2.DESCRIPTOR.services_by_name["SessionService"].full_name,
    run_service_pb2.DESCRIPTOR.services_by_name["RunService"].full_name,
    checkpoint_service_pb2.DESCRIPTOR.services_by_name["CheckpointService"].full_name,
    admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"].full_name,
)

_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name

PING_INTERVAL_MIN_MILLISECONDS = 5000
"""How often a caller may ask for a sign of life; gRPC's own answer to one within five minutes is to hang up."""

_PENDING_MAX = 1_000_000
"""How many calls may wait for the loop to take them over.

Beyond a thousand, gRPC left to itself ends some at random, as CANCELLED, which nobody retries.
"""


@asynccontextmanager
async def serving(
    settings: Settings,
    services: Services,
    durability: Durability,
    identity: Identity,
    *,
    listen: str,
    reuse_port: bool,
    drain: Callable[[], None],
) -> AsyncIterator[int]:
    """Take calls, on the port given. In the end tell streams by `drain`, and let running calls finish in the grace."""
    rates = Rates(
        tenant_rate=settings.tenant_calls_a_second,
        subject_rate=settings.subject_calls_a_second,
        burst=settings.rate_burst,
    )
    backlog = Backlog(line=queue_of(settings.calls_under_load))
    admission = Admission(
        backlog,
        calls_max=settings.calls_in_flight_max,
        calls_under_load=settings.calls_under_load,
        queue_max=settings.overload_after,
        bytes_max=settings.in_flight_bytes_max,
    )
    guard = Guard(
        identity, rates, admission, unary_deadline=settings.unary_deadline, stall_max=settings.stream_stall_max
    )
    tell_lost_callers_quietly()
    server = grpc.aio.server(
        options=[
            ("grpc.so_reuseport", int(reuse_port)),
            ("grpc.max_receive_message_length", settings.receive_bytes_max),
            ("grpc.max_send_message_length", -1),
            ("grpc.server.max_pending_requests", _PENDING_MAX),
            ("grpc.server.max_pending_requests_hard_limit", _PENDING_MAX),
            *_keepalive(settings),
        ],
    )
    requests = Requests(settings, Policy(users_choose_session_ids=settings.users_choose_session_ids))
    line = Line(backlog, guard.guarded)
    server.add_generic_rpc_handlers((line,))
    to = cast("grpc.aio.Server", line)
    session_service_pb2_grpc.add_SessionServiceServicer_to_server(SessionServicer(requests, services), to)
    admin = AdminServicer(requests, services.identity, services.epoch, durability, services.erasure)
    run_service_pb2_grpc.add_RunServiceServicer_to_server(RunServicer(requests, services), to)
    checkpoint_service_pb2_grpc.add_CheckpointServiceServicer_to_server(CheckpointServicer(requests, services), to)
    admin_service_pb2_grpc.add_AdminServiceServicer_to_server(admin, to)
    health = Health(_SERVICES)
    if settings.health:
        health_pb2_grpc.add_HealthServicer_to_server(health, to)
        # A busy server still answers who asks how it is.
        server.add_registered_method_handlers(_HEALTH, {"Check": line.handler(f"/{_HEALTH}/Check")})
    if settings.reflection:
        names = reflection.aio.ReflectionServicer((*_SERVICES, reflection.SERVICE_NAME))
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(names, to)  # type: ignore[no-untyped-call]
    port = _bind(server, listen, _credentials(settings))
    try:
        async with backlog.watched(server):
            yield port
    finally:
        ends = asyncio.get_running_loop().time() + settings.shutdown_grace.total_seconds()
        health.stop()
        drain()
        if failpoints.folder is not None:
            await failpoints.reached("during_drain")
        await guard.drain()
        await server.stop(max(0.0, ends - asyncio.get_running_loop().time()))


def _keepalive(settings: Settings) -> tuple[tuple[str, int], ...]:
    """Ask quiet connections for a sign of life, so that streams of callers who vanished end; and let callers ask us."""
    interval = int(settings.connection_ping_interval.total_seconds() * 1000)
    return (
        ("grpc.keepalive_time_ms", interval),
        ("grpc.keepalive_timeout_ms", interval),
        # One ping is on its way at a time. Those of gRPC's own, that measure the connection, are given a minute.
        ("grpc.http2.ping_timeout_ms", interval),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", PING_INTERVAL_MIN_MILLISECONDS),
    )


def _credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """Credentials for TLS; None for plain text."""
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    return TlsFiles(settings.tls_certificate, settings.tls_key, settings.tls_client_authority).credentials()


def _bind(server: grpc.aio.Server, listen: str, credentials: grpc.ServerCredentials | None) -> int:
    try:
        port = server.add_insecure_port(listen) if credentials is None else server.add_secure_port(listen, credentials)
    except RuntimeError as error:
        raise StartupError(f"the address {listen} cannot be served on") from error
    if port == 0:
        raise StartupError(f"the address {listen} cannot be served on")
    return port
