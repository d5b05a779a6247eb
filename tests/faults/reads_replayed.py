"""What reads must show of a replayed session."""

from typing import Any

from faults.digests import seen_in
from lockstitch.v1 import session_service_pb2 as pb
from model import memory, reads, runs
from model.session import State

RECENT_TOOL_CALLS = 20
MESSAGES_BY_DEFAULT = 200


def at_version_of(request: Any) -> int | None:
    """The earlier version that a read asks for."""
    known = "at_version" in request.DESCRIPTOR.fields_by_name
    return request.at_version if known and request.HasField("at_version") else None


def seen_at(state: State, request: Any) -> dict[str, Any] | None:
    """What a read gives at a version; None for reads that are not judged by one."""
    answer: Any
    match request:
        case pb.GetSessionRequest():
            answer = _session(state, request)
        case pb.GetContextRequest():
            answer = _context(state, request)
        case pb.GetMemoryRequest():
            answer = pb.GetMemoryResponse(memory=memory.shown(state.memory(request.run_id)))
        case pb.ListMessagesRequest():
            answer = _messages(state, request)
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


def _messages(state: State, request: pb.ListMessagesRequest) -> pb.ListMessagesResponse:
    shown = reads.messages(state, request)
    more = "more" if len(shown) > request.page_size else ""
    page = shown[: request.page_size]
    return pb.ListMessagesResponse(messages=page, next_page_token=more, as_of_version=state.head.version)


def _plain(value: Any) -> Any:
    """Rows as they are read from a file."""
    return [list(row) for row in value] if isinstance(value, list) else value
