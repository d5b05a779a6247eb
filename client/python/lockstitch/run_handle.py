"""The handle of a run that is held: changes of its session that are refused once it is somebody else's."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeVar

from google.protobuf.message import Message as AnyMessage

from lockstitch.changes import new_request_id
from lockstitch.checkpoint_changes import CheckpointChanges
from lockstitch.connection import Connection
from lockstitch.drafts import SessionDrafts
from lockstitch.lease import Lease
from lockstitch.memory import Change
from lockstitch.message_changes import MessageChanges
from lockstitch.reads import Seen
from lockstitch.tool_call_changes import ToolCallChanges
from lockstitch.transport import Rpc, Transport
from lockstitch.v1.run_pb2 import Run, RunEnd, RunStatus
from lockstitch.v1.run_service_pb2 import FinishRunRequest, FinishRunResponse
from lockstitch.v1.session_service_pb2 import AppendRequest, UpdateMemoryResponse
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from lockstitch.wire import Sendable, checked_text, refused
from lockstitch.writes import SessionWrites

Outcome = Literal["succeeded", "failed", "cancelled"]
"""How a run is ended by its holder."""

_STATUS_OF_OUTCOME: dict[str, RunStatus.ValueType] = {
    "succeeded": RunStatus.RUN_STATUS_SUCCEEDED,
    "failed": RunStatus.RUN_STATUS_FAILED,
    "cancelled": RunStatus.RUN_STATUS_CANCELLED,
}
_Request = TypeVar("_Request", bound=AnyMessage)
_Response = TypeVar("_Response", bound=AnyMessage)


def run_end(status: Outcome = "succeeded", *, error: str = "") -> RunEnd:
    """How a run ends, for ``run.append(finish=…)`` and a draft's ``finish(finish=…)``.

    Args:
        status: ``"succeeded"``, ``"failed"`` or ``"cancelled"``.
        error: Why it failed or was cancelled, at most 65,536 bytes.

    Example:
        ``await run.append(messages=[assistant("Done.")], finish=run_end())``
    """
    if status not in _STATUS_OF_OUTCOME:
        raise refused("status", f"must be one of {', '.join(_STATUS_OF_OUTCOME)}")
    return RunEnd(status=_STATUS_OF_OUTCOME[status], error=checked_text(error, field="error"))


class RunHandle(SessionWrites, ToolCallChanges, MessageChanges, SessionDrafts, CheckpointChanges):
    """A run that is held here, made by :meth:`lockstitch.SessionHandle.run`.

    It changes and reads the session as :class:`lockstitch.SessionHandle` does, and what that has seen, this has seen
    too. Every change carries the run's fence: once somebody else has taken the run over, interrupted or ended it, it is
    refused with :class:`lockstitch.RunFenced`, and nothing is stored. From the moment that this is known, everything
    that is awaited through the run raises it. The fence is a guard: values computed from old ones need no other.
    """

    checkpoint = CheckpointChanges.put_checkpoint
    """Puts a checkpoint: ``await run.checkpoint("0007", data=state)``. Whoever goes on finds it as the latest."""

    def __init__(self, transport: Transport, session_id: str, seen: Seen, lease: Lease, *, is_joined: bool) -> None:
        super().__init__(transport, session_id, seen)
        self._lease = lease
        self._fence = lease.fence
        self._is_joined = is_joined

    @property
    def run_id(self) -> str:
        """Which run."""
        return self._lease.run.run_id

    @property
    def fencing_token(self) -> int:
        """The token that its changes carry: higher than that of every run before it. A tool may compare it likewise."""
        return self._lease.run.fencing_token

    @property
    def is_joined(self) -> bool:
        """Whether somebody else started it: then it is not ended when the context is left."""
        return self._is_joined

    @property
    def is_lost(self) -> bool:
        """Whether it is known to be over, by somebody else: what was begun under it, such as a tool, should stop."""
        return self._lease.loss is not None

    @property
    def cancel_requested(self) -> bool:
        """Whether somebody asked it to end, as the last renewal told."""
        return self._lease.run.cancel_requested

    @property
    def lease_expire_time(self) -> datetime:
        """Until when nobody may take it over, by the database's clock, as the last renewal told; in UTC."""
        return self._lease.run.lease_expire_time.ToDatetime(tzinfo=UTC)

    async def renew(self, *, timeout: timedelta | None = None) -> Run:
        """Renews the lease now, and gives the run: before an act that nobody can take back, say.

        It is renewed in the background anyway. A lease that ran out is renewed as long as nobody took over.

        Raises:
            RunFenced, RunEnded: The run is not yours any more: do not act.

        Example:
            ``if (await run.renew()).cancel_requested: return``
        """
        return await self._lease.renew(timeout=timeout)

    async def finish(
        self,
        *,
        status: Outcome = "succeeded",
        error: str = "",
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> FinishRunResponse:
        """Ends the run before the context does, or otherwise than it would. Tool calls stay as they are.

        ``run.append(…, finish=run_end())`` does it in one commit with the last messages.

        Args:
            status: ``"succeeded"``, ``"failed"`` or ``"cancelled"``.
            error: Why it failed or was cancelled, at most 65,536 bytes.
            expected_version, request_id, timeout: See :class:`lockstitch.SessionHandle`.

        Raises:
            RunFenced, RunEnded: Somebody else took it over, or ended it.

        Example:
            ``await run.finish(status="failed", error="The disk is full.")``
        """
        request_id = request_id or new_request_id()
        end = run_end(status, error=error)
        with Sendable("finish"):
            request = FinishRunRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
                status=end.status,
                error=end.error,
            )
        response = await self._call(lambda to: to.runs.FinishRun, request, timeout=timeout, request_id=request_id)
        self._made(response.receipt, expected_version)
        return response

    async def own_memory(self, *, at_version: int | None = None, timeout: timedelta | None = None) -> WorkingMemory:
        """The run's own working memory, beside the session's; it stays readable as ``session.memory(run_id=…)``.

        Args:
            at_version: Gives it as it was after this version's commit; None is now.
            timeout: See :class:`lockstitch.SessionHandle`.

        Example:
            ``print((await run.own_memory()).plan)``
        """
        return await self.memory(run_id=self.run_id, at_version=at_version, timeout=timeout)

    async def update_own_memory(
        self,
        *,
        change: Change,
        expected_memory_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UpdateMemoryResponse:
        """Changes the run's own working memory, beside the session's, and gives it as it is then.

        Args:
            change: As for :meth:`lockstitch.SessionHandle.update_memory`.
            expected_memory_version: Refuses unless it is at this version: the ``version`` of what was read of it.
            request_id, timeout: See :class:`lockstitch.SessionHandle`.

        Example:
            ``await run.update_own_memory(change={"plan": ["read the log"]})``
        """
        return await self.update_memory(
            change=change,
            run_id=self.run_id,
            expected_memory_version=expected_memory_version,
            request_id=request_id,
            timeout=timeout,
        )

    async def _call(
        self,
        rpc: Callable[[Connection], Rpc[_Request, _Response]],
        request: _Request,
        *,
        timeout: timedelta | None,
        request_id: str = "",
    ) -> _Response:
        finishes = isinstance(request, FinishRunRequest) or (
            isinstance(request, AppendRequest) and request.HasField("finish_run")
        )
        with self._calling(finishes=finishes):
            return await super()._call(rpc, request, timeout=timeout, request_id=request_id)

    def _calling(self, *, finishes: bool) -> AbstractContextManager[None]:
        return self._lease.calling(finishes=finishes)
