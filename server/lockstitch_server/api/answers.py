"""Answers that hold several things, put together within what a default client takes."""

from collections.abc import Sequence
from typing import TypeVar, cast

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from google.protobuf.message import Message

from lockstitch.v1 import message_pb2, tool_call_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.api.convert import memory, message_bytes, messages, runs, sessions, tool_calls
from lockstitch_server.model import ToolCall
from lockstitch_server.service import budget
from lockstitch_server.service.context import Context
from lockstitch_server.service.messages import MessagesPage
from lockstitch_server.service.sessions import SessionAnswer
from lockstitch_server.store.stored_messages import StoredMessages

Answer = TypeVar("Answer", pb.GetSessionResponse, pb.GetContextResponse)


def session(answer: SessionAnswer) -> pb.GetSessionResponse:
    """GetSession's."""
    response = pb.GetSessionResponse(truncated=answer.truncated)
    sessions.fill(response.session, answer.session)
    if answer.memory is not None:
        memory.fill(response.memory, answer.memory)
    tool_calls.fill_all(response.open_tool_calls, answer.open_tool_calls, tool_calls.Room(budget.TOOL_CALLS_BYTES))
    elided = frozenset(answer.messages.seqs) if answer.elided else frozenset()
    return _with_messages(response, answer.messages, elided)


def context(given: Context) -> pb.GetContextResponse:
    """GetContext's."""
    response = pb.GetContextResponse(as_of_version=given.session.version, truncated=given.truncated)
    sessions.fill(response.session, given.session)
    memory.fill(response.memory, given.memory)
    if given.last_run is not None:
        runs.fill(response.last_run, given.last_run)
    half = budget.TOOL_CALLS_BYTES // 2
    tool_calls.fill_all(response.open_tool_calls, given.open_tool_calls, tool_calls.Room(half))
    tool_calls.fill_all(response.recent_tool_calls, given.recent_tool_calls, tool_calls.Room(half))
    return _with_messages(response, given.messages, given.elided)


def message_page(page: MessagesPage, as_of_version: int) -> pb.ListMessagesResponse:
    """ListMessages'."""
    response = pb.ListMessagesResponse(next_page_token=page.next_page_token, as_of_version=as_of_version)
    return cast("pb.ListMessagesResponse", _encoded(response, page.messages))


def tool_call_page(calls: Sequence[ToolCall], next_page_token: str) -> pb.ListToolCallsResponse:
    """ListToolCalls'."""
    response = pb.ListToolCallsResponse(next_page_token=next_page_token)
    room = tool_calls.Room(budget.ANSWER_BYTES - budget.SESSION_BYTES)
    tool_calls.fill_all(response.tool_calls, calls, room)
    return response


def _with_messages(response: Answer, shown: StoredMessages, elided: frozenset[int]) -> Answer:
    """Add messages, as the bytes of the whole answer where all of them are given whole and there is room."""
    if shown.are_read and not elided:
        encoded = _encoded(response, shown)
        if len(encoded) <= budget.ANSWER_BYTES:
            return cast("Answer", encoded)
    for message in shown:
        messages.fill(response.messages.add(), message, elided=message.seq in elided)
    _cut(response, response.open_tool_calls)
    return response


def _encoded(response: Message, shown: StoredMessages) -> bytes:
    """The bytes of an answer with messages added; what is bytes already is sent as it is."""
    return b"".join((response.SerializeToString(), *message_bytes.pieces(shown, type(response))))


def _cut(
    response: pb.GetSessionResponse | pb.GetContextResponse,
    open_tool_calls: RepeatedCompositeFieldContainer[tool_call_pb2.ToolCall],
) -> None:
    """Leave out the oldest messages, then the newest open calls, where ids and names made an answer too large."""
    too_much = response.ByteSize() - budget.ANSWER_BYTES
    response.truncated |= too_much > 0
    gone = 0
    while gone < len(response.messages) and (
        # Results go with the call that they stand behind.
        too_much > 0 or (gone and response.messages[gone].role == message_pb2.ROLE_TOOL)
    ):
        too_much -= response.messages[gone].ByteSize()
        gone += 1
    del response.messages[:gone]
    while too_much > 0 and open_tool_calls:
        too_much -= open_tool_calls[-1].ByteSize()
        del open_tool_calls[-1]
