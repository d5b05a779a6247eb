"""What reads must show of a replayed session."""

from collections.abc import Sequence
from typing import Any

from faults.digests import seen_in
from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from model import memory, reads, runs
from model.session import State

RECENT_TOOL_CALLS = 20
MESSAGES_BY_DEFAULT = 200
PAGE_MAX = 1000


def at_version_of(request: Any) -> int | None:
    """The earlier version that a read asks for."""
    known = "at_version" in request.DESCRIPTOR.fields_by_name
    return request.at_version if known and request.HasField("at_version") else None


def seen_at(state: State, request: Any) -> dict[str, Any] | None:
    """What a read gives at a version; None for the log's own, and for those that nobody wrote down here."""
    answer: Any
    match request:
        case pb.GetSessionRequest():
            answer = _session(state, request)
        case pb.GetContextRequest():
            answer = _context(state, request)
        case pb.GetMemoryRequest():
            answer = pb.GetMemoryResponse(memory=memory.shown(state.memory(request.run_id)))
        case pb.ListMessagesRequest():
            answer = _page(pb.ListMessagesResponse, reads.messages(state, request), request)
            answer.as_of_version = state.head.version
        case pb.ListToolCallsRequest():
            answer = _page(pb.ListToolCallsResponse, reads.tool_calls(state, request), request)
        case r.ListRunsRequest():
            answer = _page(r.ListRunsResponse, reads.runs_of(state, request), request)
        case _:
            return None
    return {name: _plain(value) for name, value in seen_in(answer).items()}


def _session(state: State, request: pb.GetSessionRequest) -> pb.GetSessionResponse:
    recent = request.recent_messages
    return pb.GetSessionResponse(
        session=reads.head(state),
        memory=memory.shown(state.memory()) if request.include_memory else None,
        messages=state.messages[-recent:] if recent else [],
        open_tool_calls=reads.open_calls(state) if request.include_open_tool_calls else [],
    )


def _context(state: State, request: pb.GetContextRequest) -> pb.GetContextResponse:
    ended = [call for call in state.calls if call not in reads.open_calls(state)]
    return pb.GetContextResponse(
        session=reads.head(state),
        memory=memory.shown(state.memory()),
        last_run=runs.shown(state, state.runs[-1].run_id) if state.runs else None,
        messages=reads.context(state, request.max_messages or MESSAGES_BY_DEFAULT),
        open_tool_calls=reads.open_calls(state),
        recent_tool_calls=ended[-RECENT_TOOL_CALLS:],
        as_of_version=state.head.version,
    )


def _page(kind: Any, items: Sequence[Any], request: Any) -> Any:
    """The first page of a list; traffic asks for no other."""
    made = kind(next_page_token="more" if len(items) > request.page_size else "")
    (listed,) = (field.name for field in kind.DESCRIPTOR.fields if field.message_type)
    getattr(made, listed).extend(items[: request.page_size])
    return made


def _plain(value: Any) -> Any:
    """Rows as they are read from a file."""
    return [list(row) for row in value] if isinstance(value, list) else value


def all_reads(session_id: str) -> list[Any]:
    """Everything there is to read of a session, for when all is over."""
    return [
        pb.GetSessionRequest(
            session_id=session_id, include_memory=True, include_open_tool_calls=True, recent_messages=PAGE_MAX
        ),
        pb.GetContextRequest(session_id=session_id),
        pb.GetMemoryRequest(session_id=session_id),
        pb.ListMessagesRequest(session_id=session_id, page_size=PAGE_MAX),
        pb.ListToolCallsRequest(session_id=session_id, page_size=PAGE_MAX),
        r.ListRunsRequest(session_id=session_id, page_size=PAGE_MAX),
    ]
