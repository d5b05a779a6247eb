"""A server that answers as it is told to, for what a real one does too rarely to be waited for."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from lockstitch.v1 import run_service_pb2 as runs
from lockstitch.v1 import session_service_pb2 as sessions
from lockstitch.v1.subscription_pb2 import SubscribeRequest, SubscribeResponse

Step = Message | Callable[[grpc.ServicerContext], Message]
"""An answer, or what makes one or fails."""


@dataclass
class ScriptedServer:
    """Keeps the requests it was sent, and answers each with the next step, or with the method's empty response."""

    target: str = ""
    requests: list[Any] = field(default_factory=list)
    steps: deque[Step] = field(default_factory=deque)
    tokens: list[str] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)
    streams: deque[Sequence[Step]] = field(default_factory=deque)
    left: list[threading.Event] = field(default_factory=list)
    """Of each stream whether its reader has left it."""

    def answer(self, response: type[Message], request: Message, context: grpc.ServicerContext) -> Message:
        self._note(request, context)
        step = self.steps.popleft() if self.steps else response()
        return step if isinstance(step, Message) else step(context)

    def stream(self, request: Message, context: grpc.ServicerContext) -> Iterator[Message]:
        self._note(request, context)
        self.left.append(left := threading.Event())
        context.add_callback(left.set)
        for step in self.streams.popleft() if self.streams else (waiting,):
            yield step if isinstance(step, Message) else step(context)

    def will(self, *steps: Step) -> None:
        """What comes next, one step an attempt."""
        self.steps.extend(steps)

    def will_stream(self, *steps: Step) -> None:
        """What the next stream that has no steps yet gives. Streams without steps are opened, and say nothing."""
        self.streams.append(steps)

    def _note(self, request: Message, context: grpc.ServicerContext) -> None:
        self.requests.append(request)
        self.peers.append(context.peer())
        self.tokens += [str(value) for key, value in context.invocation_metadata() if key == "authorization"]


def waiting(context: grpc.ServicerContext) -> Message:
    """A step that says nothing until the reader leaves."""
    left = threading.Event()
    if context.add_callback(left.set):
        left.wait()
    return SubscribeResponse()


def failing(
    code: grpc.StatusCode,
    reason: str = "",
    *,
    domain: str = "lockstitch.dev",
    metadata: dict[str, str] | None = None,
    fields: dict[str, str] | None = None,
    retry_seconds: int | None = None,
    pushback: str | None = None,
    text: str = "It failed.",
) -> Callable[[grpc.ServicerContext], Message]:
    """A step that fails as a server of ours does."""
    details: list[Message] = [ErrorInfo(reason=reason, domain=domain, metadata=metadata or {})] if reason else []
    if fields:
        refused = [BadRequest.FieldViolation(field=name, description=why) for name, why in fields.items()]
        details.append(BadRequest(field_violations=refused))
    if retry_seconds is not None:
        details.append(RetryInfo(retry_delay=Duration(seconds=retry_seconds)))
    packed = []
    for detail in details:
        packed.append(AnyMessage())
        packed[-1].Pack(detail)
    status = Status(code=code.value[0], message=text, details=packed)
    trailers: list[tuple[str, str | bytes]] = [("grpc-status-details-bin", status.SerializeToString())]
    if pushback is not None:
        trailers.append(("grpc-retry-pushback-ms", pushback))

    def fail(context: grpc.ServicerContext) -> Message:
        context.set_trailing_metadata(tuple(trailers))
        context.abort(code, text)
        raise AssertionError  # abort raises

    return fail


class _Handlers(grpc.GenericRpcHandler):
    def __init__(self, server: ScriptedServer) -> None:
        self._server = server

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any] | None":
        service, name = handler_call_details.method.rsplit("/", 1)
        module: Any = runs if service.endswith("RunService") else sessions
        if name == "Subscribe":
            return grpc.unary_stream_rpc_method_handler(
                self._server.stream,
                request_deserializer=SubscribeRequest.FromString,
                response_serializer=SubscribeResponse.SerializeToString,
            )
        request: type[Message] = getattr(module, f"{name}Request")
        response: type[Message] = getattr(module, f"{name}Response")
        return grpc.unary_unary_rpc_method_handler(
            lambda message, context: self._server.answer(response, message, context),
            request_deserializer=request.FromString,
            response_serializer=response.SerializeToString,
        )


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    script = ScriptedServer()
    server = grpc.server(ThreadPoolExecutor(8), handlers=[_Handlers(script)], options=[("grpc.so_reuseport", 0)])
    script.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield script
    server.stop(None).wait()


@pytest.fixture
def wait() -> Callable[[grpc.ServicerContext], Message]:
    """A step of a stream that says nothing until its reader leaves."""
    return waiting


@pytest.fixture
def fail() -> Callable[..., Callable[[grpc.ServicerContext], Message]]:
    """What makes a failing step."""
    return failing
