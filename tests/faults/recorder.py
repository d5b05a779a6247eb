"""How traffic tells what it does: every call before it is sent and when it ended, every frame as it comes.

`Recorder.call` sends a request and records both; `Recorder.stream` and its `Tape` record a stream; `Recorder.fault`
what was broken meanwhile. All goes to one file at once (`history`), to be checked by `python -m faults.check FILE`.
"""

import asyncio
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import grpc
from google.protobuf.message import Message as Proto
from google.rpc import error_details_pb2, status_pb2
from grpc import aio

from faults.digests import digest_of, receipt_of, seen_in
from faults.history import (
    Acting,
    Began,
    Ended,
    Fault,
    Final,
    Frame,
    HistoryFile,
    Invoked,
    Logged,
    Opened,
    Outcome,
    Returned,
)
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.run_service_pb2 import RenewRunResponse, StartRunResponse
from lockstitch.v1.subscription_pb2 import SubscribeResponse
from model.requests import content_of
from support.rpc import DETAILS
from support.streams import bookmark_of, kind_of

OUTCOME_UNKNOWN = "COMMIT_OUTCOME_UNKNOWN"
MAY_HAVE_BEEN_DONE = {OUTCOME_UNKNOWN, "INTERNAL"}


class Told(Exception):
    """A call that was not answered: refused with a reason, or of unknown outcome."""

    def __init__(self, outcome: Outcome, code: str, reason: str, details: dict[str, str]) -> None:
        super().__init__(outcome, code, reason, details)
        self.outcome, self.code, self.reason, self.details = outcome, code, reason, details


class Recorder:
    """Records what clients do into one file."""

    def __init__(self, path: Path, *, seed: int = 0, **of: Any) -> None:
        """`of` is what the first line says of the run: which fault, which servers, which rate."""
        self._file = HistoryFile(path)
        self._ops, self._streams = count(1), count(1)
        self._file.write(Began(at=time.monotonic_ns(), seed=seed, of=of))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def acts_as(self, *, tenant: str, subject: str, role: str) -> None:
        """Record who all clients are."""
        self._file.write(Acting(at=time.monotonic_ns(), tenant=tenant, subject=subject, role=role))

    async def call(
        self, method: Any, request: Any, *, client: str, server: str, deadline: float, metadata: Any = ()
    ) -> Any:
        """Send a request by a stub's method, and record it; raises Told where it was not answered."""
        op = self.invoked(request, client=client, server=server, deadline=deadline)
        try:
            answer = await method(request, timeout=deadline, metadata=metadata)
        except aio.AioRpcError as error:
            told = told_by(error)
            self.failed(op, told)
            raise told from None
        except asyncio.CancelledError:
            self.failed(op, Told("unknown", "CANCELLED", "", {}))
            raise
        self.answered(op, answer)
        return answer

    def invoked(self, request: Any, *, client: str, server: str, deadline: float | None = None) -> int:
        """Record that a request is about to be sent; gives the number to report its end by."""
        op = next(self._ops)
        named = request.DESCRIPTOR.fields_by_name
        has_fence = "fence" in named and request.HasField("fence")
        is_change = "request_id" in named
        self._file.write(
            Invoked(
                at=time.monotonic_ns(),
                op=op,
                client=client,
                server=server,
                method=type(request).__name__.removesuffix("Request"),
                session=request.session_id,
                request=b64encode(request.SerializeToString()).decode(),
                request_id=request.request_id if is_change else "",
                content=digest_of(content_of(request, "")) if is_change else "",
                expected_version=_optional(request, "expected_version"),
                expected_memory_version=_optional(request, "expected_memory_version"),
                at_version=_optional(request, "at_version"),
                fence=(request.fence.run_id, request.fence.fencing_token) if has_fence else None,
                deadline=deadline,
            )
        )
        return op

    def answered(self, op: int, answer: Any) -> None:
        """Record an answer."""
        at, receipt = time.monotonic_ns(), None
        if "receipt" in answer.DESCRIPTOR.fields_by_name:
            receipt = receipt_of(answer.receipt)
        grant, lease = None, None
        if isinstance(answer, StartRunResponse | RenewRunResponse):
            grant = answer.run.run_id, answer.run.fencing_token
            lease = answer.run.lease_expire_time.ToNanoseconds()
        seen = None if receipt else seen_in(answer)
        self._file.write(
            Returned(
                at=at,
                op=op,
                outcome="ok",
                receipt=receipt,
                answer=answer_digest(answer),
                seen=seen,
                grant=grant,
                lease=lease,
            )
        )

    def failed(self, op: int, told: Told) -> None:
        """Record a refusal, or that nothing is known."""
        at = time.monotonic_ns()
        self._file.write(
            Returned(at=at, op=op, outcome=told.outcome, code=told.code, reason=told.reason, details=told.details)
        )

    def stream(
        self, *, reader: str, server: str, session: str, after_version: int, roles: Sequence[int] = ()
    ) -> "Tape":
        """Record that a stream is about to be opened; a reader's streams are opened one after the other."""
        opened = Opened(
            at=time.monotonic_ns(),
            stream=next(self._streams),
            reader=reader,
            server=server,
            session=session,
            after_version=after_version,
            roles=list(roles),
        )
        self._file.write(opened)
        return Tape(self._file, opened.stream)

    @contextmanager
    def fault(self, name: str, **details: Any) -> Iterator[None]:
        """Record a fault around what breaks something and makes it whole again."""
        self._file.write(Fault(at=time.monotonic_ns(), name=name, phase="begins", details=details))
        try:
            yield
        finally:
            self._file.write(Fault(at=time.monotonic_ns(), name=name, phase="ends"))

    def log(self, session: str, commits: Sequence[Commit], *, invoked_at: int, reached: int) -> None:
        """Record a session's log as it stands when all is over, read from `invoked_at` on.

        `reached` is the version that all its readers were waited for.
        """
        at = time.monotonic_ns()
        for commit in commits:
            packed = b64encode(commit.SerializeToString()).decode()
            self._file.write(Logged(at=at, session=session, commit=packed))
        version = commits[-1].version if commits else 0
        self._file.write(Final(at=at, session=session, version=version, invoked_at=invoked_at, reached=reached))


class Tape:
    """Records one stream's frames."""

    def __init__(self, file: HistoryFile, stream: int) -> None:
        self._file, self._stream = file, stream

    def frame(self, frame: SubscribeResponse) -> None:
        at, kind = time.monotonic_ns(), kind_of(frame)
        if kind == "commit":
            commit = frame.commit
            record = Frame(
                at=at,
                stream=self._stream,
                frame=kind,
                version=commit.version,
                seqs=[message.seq for message in commit.messages],
                request_id_hash=commit.request_id_hash.hex(),
                digest=digest_of(commit),
            )
        else:
            version = frame.opened.version if kind == "opened" else bookmark_of(frame) or 0
            record = Frame(at=at, stream=self._stream, frame=kind, version=version)
        self._file.write(record)

    def ended(self, error: aio.AioRpcError | None = None) -> None:
        """Record the end; without an error the server or the reader ended it well."""
        told = None if error is None else told_by(error)
        code, reason = (told.code, told.reason) if told else ("", "")
        self._file.write(Ended(at=time.monotonic_ns(), stream=self._stream, code=code, reason=reason))


def told_by(error: aio.AioRpcError) -> Told:
    """What a status says: without an ErrorInfo of ours nobody knows what became of the call."""
    details = dict(error.trailing_metadata() or ()).get(DETAILS)
    info = error_details_pb2.ErrorInfo()
    if isinstance(details, bytes):
        for detail in status_pb2.Status.FromString(details).details:
            if detail.Is(info.DESCRIPTOR):
                detail.Unpack(info)
    of_nobody = not info.reason or info.reason in MAY_HAVE_BEEN_DONE or error.code() is grpc.StatusCode.CANCELLED
    metadata = {name: str(value) for name, value in info.metadata.items()}
    return Told("unknown" if of_nobody else "refused", error.code().name, info.reason, metadata)


def answer_digest(answer: Any) -> str:
    """A digest of all that a replay must repeat."""
    if "receipt" not in answer.DESCRIPTOR.fields_by_name:
        return ""
    bare: Proto = type(answer)()
    bare.CopyFrom(answer)
    bare.receipt.replayed = False  # type: ignore[attr-defined]  # whichever answer it is, it has a receipt
    return digest_of(bare)


def _optional(request: Any, name: str) -> int | None:
    known = name in request.DESCRIPTOR.fields_by_name
    return getattr(request, name) if known and request.HasField(name) else None
