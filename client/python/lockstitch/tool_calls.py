"""Makers for the ledger of tool calls: changes that ride on an append, and the resources that calls touch."""

from collections.abc import Iterable, Mapping

from lockstitch.v1.tool_call_pb2 import Approval, Resource, ToolCallChange, ToolCallStatus
from lockstitch.wire import JsonText, Sendable, to_json


def resource(uri: str, *, before: str = "", after: str = "") -> Resource:
    """Something outside that a call reads or changes, with its state around the call, such as a digest.

    Args:
        uri: Which, at most 2,048 characters.
        before, after: Its state before and after, at most 4,096 bytes each.

    Example:
        ``resource("file:///etc/app.conf", before="sha256:9f2c…", after="sha256:11ab…")``
    """
    with Sendable("resource"):
        return Resource(uri=uri, before=before, after=after)


def new_call(
    call_id: str,
    name: str,
    arguments: Mapping[str, object] | str,
    *,
    status: ToolCallStatus.ValueType = ToolCallStatus.TOOL_CALL_STATUS_PENDING,
    resources: Iterable[Resource] = (),
) -> ToolCallChange:
    """A call that no message made, recorded by ``session.append(tool_calls=[…])``.

    Args:
        call_id, name, arguments: As for :func:`lockstitch.call`.
        status: PENDING, RUNNING or AWAITING_APPROVAL.
        resources: What it touches, at most 64.
    """
    with Sendable("tool call"):
        return ToolCallChange(
            call_id=call_id,
            name=name,
            arguments_json=to_json(
                JsonText(arguments) if isinstance(arguments, str) else arguments,
                field=f"tool call {call_id!r}: arguments",
            ),
            status=status,
            resources=resources,
        )


def call_change(
    *,
    call_id: str = "",
    tool_call_id: str = "",
    status: ToolCallStatus.ValueType = ToolCallStatus.TOOL_CALL_STATUS_UNSPECIFIED,
    approval: Approval | None = None,
    resources: Iterable[Resource] = (),
    result: object = None,
    error: str = "",
) -> ToolCallChange:
    """A change of a known call, for ``session.append(tool_calls=[…])``: in one commit with the messages beside it.

    Args:
        call_id: The provider's id; or
        tool_call_id: the ledger's.
        status: The status to take; left out it stays, or follows from ``approval``, ``result`` and ``error``.
        approval: The answer to AWAITING_APPROVAL.
        resources: What it touches, merged into the known ones by uri.
        result: What a call that ends gave back, as ``session.complete_tool_call`` takes it.
        error: Why it failed or was cancelled, at most 65,536 bytes.
    """
    with Sendable("tool call"):
        change = ToolCallChange(
            status=status, approval=approval, resources=resources, result_json=result_json(result), error=error
        )
        if tool_call_id:
            change.tool_call_id = tool_call_id
        else:
            change.call_id = call_id
    return change


def result_json(result: object) -> str:
    """A result as the ledger keeps it: JSON text, a plain str as a JSON string; empty for None, which is no result."""
    return "" if result is None else to_json(result, field="tool call result")
