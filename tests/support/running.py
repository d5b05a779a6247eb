"""Runs in tests: how they are started, what is made under them."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import grpc

from lockstitch.v1 import run_pb2, run_service_pb2, session_service_pb2
from support.every_change import CHANGES
from support.rpc import Rpc

Lapse: TypeAlias = Callable[[str], Awaitable[None]]

REJECT, JOIN = run_service_pb2.ON_BUSY_REJECT, run_service_pb2.ON_BUSY_JOIN
INTERRUPT = run_service_pb2.ON_BUSY_INTERRUPT
ACTIVE, DONE, FAILED = run_pb2.RUN_STATUS_RUNNING, run_pb2.RUN_STATUS_SUCCEEDED, run_pb2.RUN_STATUS_FAILED
CANCELLED, SUPERSEDED = run_pb2.RUN_STATUS_CANCELLED, run_pb2.RUN_STATUS_SUPERSEDED
EXPIRED = run_pb2.RUN_STATUS_EXPIRED

FENCED = (grpc.StatusCode.FAILED_PRECONDITION, "RUN_FENCED")
ENDED = (grpc.StatusCode.FAILED_PRECONDITION, "RUN_ENDED")
BUSY = (grpc.StatusCode.FAILED_PRECONDITION, "RUN_ACTIVE")
NO_RUN = (grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND")


async def started(engine: Rpc, session_id: str, **fields: Any) -> run_pb2.Run:
    """Start a run."""
    run: run_pb2.Run = (await engine.StartRun(session_id=session_id, **fields)).run
    return run


async def run_of(engine: Rpc, session_id: str, run_id: str) -> run_pb2.Run:
    run: run_pb2.Run = (await engine.GetRun(session_id=session_id, run_id=run_id)).run
    return run


async def version_of(engine: Rpc, session_id: str) -> int:
    return int((await engine.GetSession(session_id=session_id)).session.version)


def fence_of(run: run_pb2.Run, *, run_id: str = "", token: int = 0) -> run_pb2.Fence:
    """Give the fence of a run, or one that differs from it."""
    return run_pb2.Fence(run_id=run_id or run.run_id, fencing_token=token or run.fencing_token)


async def drafted(engine: Rpc, **fields: Any) -> Any:
    """Write a draft in one step."""
    given: dict[str, Any] = {"text": "drafted", "request_id": "draft", "message": {}} | fields
    step = session_service_pb2.StreamDraftRequest(**given)
    call: Any = engine.caller.sessions.StreamDraft
    return await call(iter([step]), metadata=engine.caller.headers, timeout=20)


def _sent(name: str) -> Callable[..., Awaitable[Any]]:
    async def send(engine: Rpc, session_id: str, fence: run_pb2.Fence) -> Any:
        request = CHANGES[name].on(session_id)
        request.fence.CopyFrom(fence)
        if name == "UpdateMemory, a run's":
            request.run_id = "new"
        return await engine.send(request)

    return send


async def _renew(engine: Rpc, session_id: str, fence: run_pb2.Fence) -> Any:
    return await engine.RenewRun(session_id=session_id, fence=fence)


async def _draft(engine: Rpc, session_id: str, fence: run_pb2.Fence) -> Any:
    return await drafted(engine, session_id=session_id, fence=fence)


UNDER_A_FENCE: dict[str, Callable[..., Awaitable[Any]]] = {
    name: _sent(name) for name in CHANGES if "fence" in CHANGES[name].request.DESCRIPTOR.fields_by_name
} | {"RenewRun": _renew, "StreamDraft": _draft}
"""Every call that has a fence, of each kind there is: `await UNDER_A_FENCE[name](engine, session_id, fence)`.

The memory that is a run's own is that of the run "new"."""
