"""The ledger's part of a session's handle: tool calls that go on and end."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import Iterable
from datetime import timedelta

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.tool_calls import result_json
from lockstitch.v1.session_service_pb2 import (
    CompleteToolCallRequest,
    CompleteToolCallResponse,
    UpdateToolCallRequest,
    UpdateToolCallResponse,
)
from lockstitch.v1.tool_call_pb2 import Approval, Resource, ToolCallStatus
from lockstitch.wire import Sendable


class ToolCallChanges(SessionChanges):
    """What can be done to a session's tool calls; :class:`lockstitch.SessionHandle` says what every change takes."""

    async def update_tool_call(
        self,
        *,
        call_id: str = "",
        tool_call_id: str = "",
        status: ToolCallStatus.ValueType = ToolCallStatus.TOOL_CALL_STATUS_UNSPECIFIED,
        approval: Approval | None = None,
        resources: Iterable[Resource] = (),
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UpdateToolCallResponse:
        """Says that a tool call begins, waits for approval, is approved or refused, or touches resources.

        Say RUNNING **before** you act: then a call found PENDING after a crash is safe to run, and one found RUNNING is
            not.

        Args:
            call_id: The provider's id: the one open call that has it, else the newest that had it; or
            tool_call_id: the ledger's.
            status: PENDING, RUNNING or AWAITING_APPROVAL; left out it stays, or follows from the approval.
            approval: The answer to AWAITING_APPROVAL: ``Approval(granted=True)``.
            resources: What it touches, merged into the known ones by uri.
            expected_version, request_id, timeout: See the class.

        Raises:
            ToolCallNotFound, ToolCallEnded, ToolCallStatusRefused, ToolCallAmbiguous

        Example:
            ``await session.update_tool_call(call_id="c1", status=ToolCallStatus.TOOL_CALL_STATUS_RUNNING)``
        """
        request_id = request_id or new_request_id()
        with Sendable("update_tool_call"):
            request = UpdateToolCallRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
                status=status,
                approval=approval,
                resources=resources,
            )
            _name_call(request, call_id, tool_call_id)
        response = await self._call(
            lambda to: to.sessions.UpdateToolCall, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response

    async def complete_tool_call(
        self,
        *,
        call_id: str = "",
        tool_call_id: str = "",
        status: ToolCallStatus.ValueType = ToolCallStatus.TOOL_CALL_STATUS_UNSPECIFIED,
        result: object = None,
        error: str = "",
        resources: Iterable[Resource] = (),
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> CompleteToolCallResponse:
        """Ends a tool call. Where a message made it and the outcome is known, its tool message is written with it.

        Args:
            call_id, tool_call_id: As for :meth:`update_tool_call`.
            status: SUCCEEDED, FAILED, CANCELLED or INTERRUPTED; left out it is FAILED with an error, else SUCCEEDED.
            result: Any object that JSON can write, or :class:`lockstitch.JsonText`; None is no result.
            error: Why it failed or was cancelled, at most 65,536 bytes.
            resources: What it touched, merged into the known ones by uri.
            expected_version, request_id, timeout: See the class.

        Raises:
            ToolCallEnded: It has another outcome already, which stays. An equal one is fine.
            ToolCallNotFound, ToolCallAmbiguous, MessageTooLarge, SessionFull

        Example:
            ``await session.complete_tool_call(call_id="c1", result={"degrees": 4})``
        """
        request_id = request_id or new_request_id()
        with Sendable("complete_tool_call"):
            request = CompleteToolCallRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
                status=status,
                result_json=result_json(result),
                error=error,
                resources=resources,
            )
            _name_call(request, call_id, tool_call_id)
        response = await self._call(
            lambda to: to.sessions.CompleteToolCall, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response


def _name_call(request: UpdateToolCallRequest | CompleteToolCallRequest, call_id: str, tool_call_id: str) -> None:
    if tool_call_id:
        request.tool_call_id = tool_call_id
    else:
        request.call_id = call_id
