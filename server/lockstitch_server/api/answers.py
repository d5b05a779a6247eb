"""Answers that hold several things, put together within what a default client takes."""

from collections.abc import Sequence

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.api.convert import memory, messages, sessions, tool_calls
from lockstitch_server.model import ToolCall
from lockstitch_server.service import budget
from lockstitch_server.service.context import Context
from lockstitch_server.service.sessions import SessionAnswer


def session(answer: SessionAnswer) -> pb.GetSessionResponse:
    """GetSession's."""
    response = pb.GetSessionResponse(truncated=answer.truncated)
    sessions.fill(response.session, answer.session)
    if answer.memory is not None:
        memory.fill(response.memory, answer.memory)
    for message in answer.messages:
        messages.fill(response.messages.add(), message, elided=answer.elided)
    tool_calls.fill_all(response.open_tool_calls, answer.open_tool_calls, budget.TOOL_CALLS_BYTES)
    return response


def context(given: Context) -> pb.GetContextResponse:
    """GetContext's."""
    response = pb.GetContextResponse(as_of_version=given.session.version, truncated=given.truncated)
    sessions.fill(response.session, given.session)
    memory.fill(response.memory, given.memory)
    for shown in given.messages:
        messages.fill(response.messages.add(), shown.message, elided=shown.elided)
    tool_calls.fill_all(response.open_tool_calls, given.open_tool_calls, budget.TOOL_CALLS_BYTES // 2)
    tool_calls.fill_all(response.recent_tool_calls, given.recent_tool_calls, budget.TOOL_CALLS_BYTES // 2)
    while response.ByteSize() > budget.ANSWER_BYTES and response.messages:
        # Calls of elided groups are kept whole, and many of them may still be too much.
        del response.messages[0]
        response.truncated = True
    return response


def tool_call_page(calls: Sequence[ToolCall], next_page_token: str) -> pb.ListToolCallsResponse:
    """ListToolCalls'."""
    response = pb.ListToolCallsResponse(next_page_token=next_page_token)
    room = budget.ANSWER_BYTES - budget.SESSION_BYTES - len(calls) * budget.TOOL_CALL_ENVELOPE_BYTES
    tool_calls.fill_all(response.tool_calls, calls, room)
    return response
