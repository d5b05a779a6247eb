"""Drives real servers and the model together: every answer must be the model's."""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import grpc
from google.protobuf.message import Message as Proto
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import error_details_pb2, status_pb2

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch_server.server_process import ServerProcess
from model import Caller, Given, Refused
from model.store import Store

CALL_SECONDS_MAX = 20.0
CODES = {
    "INVALID_FIELD": "INVALID_ARGUMENT",
    "EXPECTED_VERSION_REQUIRED": "INVALID_ARGUMENT",
    "PAGE_TOKEN_INVALID": "INVALID_ARGUMENT",
    "ROLE_NOT_ALLOWED": "PERMISSION_DENIED",
    "SESSION_NOT_FOUND": "NOT_FOUND",
    "TOOL_CALL_NOT_FOUND": "NOT_FOUND",
    "SESSION_EXISTS": "ALREADY_EXISTS",
    "MESSAGE_ID_EXISTS": "ALREADY_EXISTS",
    "VERSION_CONFLICT": "ABORTED",
    "SESSION_CLOSED": "FAILED_PRECONDITION",
    "SESSION_EXPIRED": "FAILED_PRECONDITION",
    "TOOL_CALL_ENDED": "FAILED_PRECONDITION",
    "TOOL_CALL_STATUS": "FAILED_PRECONDITION",
    "TOOL_CALL_AMBIGUOUS": "FAILED_PRECONDITION",
    "REQUEST_ID_REUSED": "FAILED_PRECONDITION",
}
Answer = Any
Servers = Sequence[tuple[ServerProcess, SessionServiceStub]]
Error = tuple[str, str, dict[str, str]]
"""Code, reason, metadata."""


class Lockstep:
    """Calls servers in turn and holds each answer against the model's."""

    def __init__(self, servers: Servers) -> None:
        self._servers = cycle(servers)
        self._tokens: dict[Caller, str] = {}
        self.model = Store()
        self.store_epoch = ""
        self.aged: set[str] = set()

    def ask(self, caller: Caller, request: Any) -> Answer | Error:
        """Call the next server; gives its answer, or its error."""
        server, stub = next(self._servers)
        if caller not in self._tokens:
            self._tokens[caller] = server.token(tenant=caller.tenant, user=caller.subject, role=caller.role)
        method: Callable[..., Any] = getattr(stub, type(request).__name__.removesuffix("Request"))
        headers = (("authorization", f"Bearer {self._tokens[caller]}"),)
        try:
            return method(request, metadata=headers, timeout=CALL_SECONDS_MAX)
        except grpc.RpcError as error:
            return error_of(error)

    def read(self, caller: Caller, request: Any) -> Answer:
        """Ask for what must be there."""
        answer = self.ask(caller, request)
        assert isinstance(answer, Proto), f"{answer} for {request}"
        return answer

    def change(self, caller: Caller, request: Any, *, malformed: bool = False) -> Answer | Error:
        """Make a change; the answer or the error must be the model's, field for field."""
        real = self.ask(caller, request)
        receipt = getattr(real, "receipt", None)
        self.store_epoch = self.store_epoch or getattr(receipt, "store_epoch", "")
        given = Given(
            now=getattr(receipt, "commit_time", Timestamp()),
            session_id=real.session.session_id if isinstance(real, pb.CreateSessionResponse) else "",
            message_ids=tuple(getattr(receipt, "message_ids", ())),
            tool_call_ids=tuple(getattr(receipt, "tool_call_ids", ())),
            store_epoch=self.store_epoch,
        )
        try:
            expected = self.model.change(caller, request, given, malformed=malformed)
        except Refused as refused:
            expected = (CODES[refused.reason], refused.reason, refused.metadata)
        self.same(real, expected, f"{caller} {type(request).__name__} {request}")
        return real

    def same(self, real: object, expected: object, what: object) -> None:
        """Compare answers, and show both where they differ."""
        real, expected = self._ageless(real), self._ageless(expected)
        assert real == expected, f"\n{what}\nthe server says:\n{real}\nthe model says:\n{expected}"

    def _ageless(self, answer: Any) -> Any:
        """An aged session's expire_time was set behind the server's back: only that it has one is compared."""
        if isinstance(answer, list):
            return [self._ageless(item) for item in answer]
        session = answer if isinstance(answer, Session) else getattr(answer, "session", None)
        if session is not None and session.session_id in self.aged and session.HasField("expire_time"):
            answer = type(answer).FromString(answer.SerializeToString())
            (answer if isinstance(answer, Session) else answer.session).expire_time.FromSeconds(0)
        return answer

    def error_for(self, caller: Caller, session_id: str) -> Error | None:
        """The error that a read of this session must give."""
        try:
            self.model.find(caller, session_id)
        except Refused as refused:
            return CODES[refused.reason], refused.reason, {}
        return None


def error_of(error: grpc.RpcError) -> Error:
    """Take an error apart: it must have the one ErrorInfo that every error has."""
    trailers: dict[str, str | bytes] = dict(error.trailing_metadata() or ())  # type: ignore[arg-type]
    packed = trailers.get("grpc-status-details-bin", b"")
    assert isinstance(packed, bytes), trailers
    status = status_pb2.Status.FromString(packed)
    infos = [detail for detail in status.details if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR)]
    assert len(infos) == 1, error
    info = error_details_pb2.ErrorInfo()
    infos[0].Unpack(info)
    assert info.domain == "lockstitch.dev"
    assert status.code == error.code().value[0]
    return error.code().name, info.reason, dict(info.metadata)
