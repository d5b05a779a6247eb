"""Drives real servers and the model together: every answer must be the model's."""

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import unified_diff
from itertools import cycle
from typing import Any

import grpc
from google.protobuf.message import Message as Proto
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import error_details_pb2, status_pb2

from lockstitch.v1 import admin_service_pb2, run_service_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.session_pb2 import SESSION_STATUS_DELETED, Session
from lockstitch_server.server_process import ServerProcess
from model import Caller, Given, Refused
from model.drafts import Steps
from model.store import Store

CALL_SECONDS_MAX = 20.0
CODES = {
    "INVALID_FIELD": "INVALID_ARGUMENT",
    "EXPECTED_VERSION_REQUIRED": "INVALID_ARGUMENT",
    "PAGE_TOKEN_INVALID": "INVALID_ARGUMENT",
    "ROLE_NOT_ALLOWED": "PERMISSION_DENIED",
    "SESSION_NOT_FOUND": "NOT_FOUND",
    "RUN_NOT_FOUND": "NOT_FOUND",
    "CHECKPOINT_NOT_FOUND": "NOT_FOUND",
    "TOOL_CALL_NOT_FOUND": "NOT_FOUND",
    "SESSION_EXISTS": "ALREADY_EXISTS",
    "MESSAGE_ID_EXISTS": "ALREADY_EXISTS",
    "VERSION_CONFLICT": "ABORTED",
    "SESSION_CLOSED": "FAILED_PRECONDITION",
    "SESSION_EXPIRED": "FAILED_PRECONDITION",
    "SESSION_DELETED": "FAILED_PRECONDITION",
    "RUN_ACTIVE": "FAILED_PRECONDITION",
    "RUN_FENCED": "FAILED_PRECONDITION",
    "RUN_ENDED": "FAILED_PRECONDITION",
    "TOOL_CALL_ENDED": "FAILED_PRECONDITION",
    "TOOL_CALL_STATUS": "FAILED_PRECONDITION",
    "TOOL_CALL_AMBIGUOUS": "FAILED_PRECONDITION",
    "REQUEST_ID_REUSED": "FAILED_PRECONDITION",
    "CURSOR_AHEAD": "OUT_OF_RANGE",
}
MAKES_A_SESSION = pb.CreateSessionResponse | pb.ForkSessionResponse
Answer = Any
Servers = Sequence[tuple[ServerProcess, Any]]
"""Each with its methods, of all services, by name."""

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
        self.reached: Counter[str] = Counter()

    def next_server(self, caller: Caller) -> tuple[Any, dict[str, Any]]:
        """Give the methods of the next server, and what every call carries."""
        server, methods = next(self._servers)
        return methods, {"metadata": self.headers(server, caller), "timeout": CALL_SECONDS_MAX}

    def headers(self, server: ServerProcess, caller: Caller) -> tuple[tuple[str, str], ...]:
        if caller not in self._tokens:
            self._tokens[caller] = server.token(tenant=caller.tenant, user=caller.subject, role=caller.role)
        return (("authorization", f"Bearer {self._tokens[caller]}"),)

    def call(self, caller: Caller, send: Callable[[Any, dict[str, Any]], Answer]) -> Answer | Error:
        """Call the next server; gives its answer, or its error."""
        methods, each = self.next_server(caller)
        try:
            return send(methods, each)
        except grpc.RpcError as error:
            return error_of(error)

    def ask(self, caller: Caller, request: Any) -> Answer | Error:
        """Send a request to the method that its type is named after."""
        name = type(request).__name__.removesuffix("Request")
        return self.call(caller, lambda methods, each: getattr(methods, name)(request, **each))

    def read(self, caller: Caller, request: Any) -> Answer:
        """Ask for what must be there."""
        answer = self.ask(caller, request)
        assert isinstance(answer, Proto), f"{answer} for {request}"
        return answer

    def change(self, caller: Caller, request: Any, *, malformed: bool = False) -> Answer | Error:
        """Make a change; the answer or the error must be the model's, field for field."""
        real = self.ask(caller, request)
        self.follow(caller, request, real, lambda given: self.model.change(caller, request, given, malformed=malformed))
        return real

    def purge(self, caller: Caller, request: admin_service_pb2.PurgeSessionRequest) -> None:
        real = self.ask(caller, request)
        self.follow(caller, request, real, lambda given: self.model.purge(caller, request, given))

    def draft(self, caller: Caller, steps: Steps, real: Answer | Error, *, finished: bool) -> None:
        """Hold against the model what came of a draft's steps, be it no answer since they broke off."""
        shown = "\n".join(str(step) for step in steps)
        self.follow(
            caller, steps[0], real, lambda given: self.model.draft(caller, steps, given, finished=finished), shown
        )

    def follow(
        self, caller: Caller, request: Any, real: Answer | Error, model: Callable[[Given], Any], shown: object = ""
    ) -> None:
        """Let the model do what a server did, and compare."""
        real = self.first_answer(caller, request, real)
        name = type(request).__name__.removesuffix("Request")
        try:
            expected = model(self._given(caller, request, real))
            self.reached[f"{name} OK"] += 1
        except Refused as refused:
            expected = (CODES[refused.reason], refused.reason, refused.metadata)
            self.reached[f"{name} {refused.reason}"] += 1
            self.reached[refused.reason] += 1
        self.same(real, expected, f"{caller} {name} {shown or request}")

    def first_answer(self, caller: Caller, request: Any, real: Answer | Error) -> Answer | Error:  # noqa: ARG002
        """The answer that a caller got who was not answered at first."""
        return real

    def sweep(self, tenant: str, session_id: str, *, loses_drafts: bool, loses_run: bool) -> None:
        """Let the model do what the sweeper did; its commits are read from the log."""
        timeline = self.model.sessions[tenant, session_id]
        version = timeline.states[-1].head.version
        answer = self.ask(
            Caller(tenant, "admin", "admin"), pb.ListCommitsRequest(session_id=session_id, after_version=version)
        )
        made = answer.commits if isinstance(answer, pb.ListCommitsResponse) else []
        given = Given(now=Timestamp(), servers=made)
        timeline.sweep(given, loses_drafts=loses_drafts, loses_run=loses_run)
        self.reached["swept"] += len(made)
        assert timeline.states[-1].head.version == version + len(made), (timeline.states[-1], made)

    def _given(self, caller: Caller, request: Any, real: Answer | Error) -> Given:
        receipt = getattr(real, "receipt", None)
        self.store_epoch = self.store_epoch or getattr(receipt, "store_epoch", "")
        run = (
            real.run if isinstance(real, run_service_pb2.StartRunResponse | run_service_pb2.RenewRunResponse) else None
        )
        given = Given(
            now=getattr(receipt, "commit_time", getattr(real, "purge_time", Timestamp())),
            session_id=real.session.session_id if isinstance(real, MAKES_A_SESSION) else "",
            run_id=run.run_id if run else "",
            message_ids=tuple(getattr(receipt, "message_ids", ())),
            tool_call_ids=tuple(getattr(receipt, "tool_call_ids", ())),
            lease=run.lease_expire_time if run else Timestamp(),
            store_epoch=self.store_epoch,
        )
        if isinstance(real, pb.ForkSessionResponse):
            return self._with_ids(given, caller, real.session.session_id)
        changed = getattr(request, "target_session_id", "") or request.session_id
        timeline = self.model.sessions.get((caller.tenant, changed))
        if timeline is None:
            return given
        if isinstance(request, pb.StreamDraftRequest):
            given = given._replace(activity=self._whole(caller, request.session_id, 0).session.last_activity_time)
        version = timeline.states[-1].head.version
        if receipt and receipt.version > version + 1:
            given = given._replace(servers=self._lost(caller, request.session_id, version, receipt.version))
        return given

    def _with_ids(self, given: Given, caller: Caller, session_id: str) -> Given:
        """The ids of what a new fork holds, which only reads tell; of one that is known, they are known."""
        if (caller.tenant, session_id) in self.model.sessions:
            return given
        admin = Caller(caller.tenant, "admin", "admin")
        messages = self.read(admin, pb.ListMessagesRequest(session_id=session_id, page_size=1000)).messages
        calls = self.read(admin, pb.ListToolCallsRequest(session_id=session_id, page_size=1000)).tool_calls
        return given._replace(
            message_ids=tuple(message.message_id for message in messages),
            tool_call_ids=tuple(call.tool_call_id for call in calls),
        )

    def _whole(self, caller: Caller, session_id: str, recent: int) -> pb.GetSessionResponse:
        admin, asked = Caller(caller.tenant, "admin", "admin"), pb.GetSessionRequest(session_id=session_id)
        asked.show_deleted, asked.recent_messages = True, recent
        answer = self.ask(admin, asked)
        return answer if isinstance(answer, pb.GetSessionResponse) else pb.GetSessionResponse()

    def _lost(self, caller: Caller, session_id: str, after: int, before: int) -> list[Commit]:
        """What stored the drafts that a change lost: one message each; of a deleted session the log tells nobody."""
        messages = self._whole(caller, session_id, before - after).messages
        return [
            Commit(version=message.version, commit_time=message.create_time, messages=[message])
            for message in messages
            if after < message.version < before
        ]

    def same(self, real: object, expected: object, what: object) -> None:
        """Compare answers, and show both where they differ."""
        real, expected = self._ageless(real), self._ageless(expected)
        assert real == expected, f"\n{what}\n" + "\n".join(
            unified_diff(str(real).splitlines(), str(expected).splitlines(), "the server", "the model", lineterm="")
        )

    def _ageless(self, answer: Any) -> Any:
        """An aged session's expire_time was set behind the server's back: only that it has one is compared."""
        if isinstance(answer, list):
            return [self._ageless(item) for item in answer]
        session = session_in(answer)
        if session is not None and session.session_id in self.aged and session.HasField("expire_time"):
            answer = type(answer).FromString(answer.SerializeToString())
            session_in(answer).expire_time.FromSeconds(0)
        return answer

    def error_for(self, caller: Caller, session_id: str) -> Error | None:
        """The error that a read of this session must give, which does not ask for deleted ones."""
        try:
            is_deleted = self.model.find(caller, session_id).states[-1].head.status == SESSION_STATUS_DELETED
        except Refused:
            is_deleted = True
        return ("NOT_FOUND", "SESSION_NOT_FOUND", {}) if is_deleted else None


def session_in(answer: Any) -> Any:
    """The session that an answer is, or holds."""
    if isinstance(answer, Commit) and answer.HasField("base"):
        return answer.base.session
    return answer if isinstance(answer, Session) else getattr(answer, "session", None)


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
