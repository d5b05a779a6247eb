"""What requests with content have in common: who it becomes, and how much of it there may be."""

from collections.abc import Callable
from typing import TypeVar

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.api import checks
from lockstitch_server.api.convert import messages
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.model import CallerRole

_COUNTED_BYTES = 512 * 1024
Request = TypeVar("Request", pb.CreateSessionRequest, pb.AppendRequest)


def user(user_id: str, requests: Requests, field: str) -> str:
    """Whose session it becomes: a user's is its own."""
    principal = requests.principal
    if principal.role is CallerRole.USER:
        if user_id not in {"", principal.subject}:
            requests.policy.require(principal, Claim.ACT_FOR_A_USER, field)
        return principal.subject
    if principal.acts_for is not None:
        if user_id not in {"", principal.acts_for}:
            requests.policy.require(principal, Claim.ACT_FOR_ANOTHER_USER, field)
        return principal.acts_for
    return checks.identifier(user_id, field, requests.settings.id_characters_max, required=False)


def agent(given: str, field: str, requests: Requests) -> str:
    """The app or agent that a session belongs to: of a narrowed engine's, one of its own."""
    agents = requests.principal.agents
    if agents is not None and given not in agents:
        requests.policy.require(requests.principal, Claim.ACT_FOR_ANOTHER_AGENT, field)
    return checks.identifier(given, field, requests.settings.id_characters_max, required=False)


def forget_output(request: pb.CreateSessionRequest | pb.AppendRequest, given: messages.Messages) -> None:
    messages.forget_output(given)
    if isinstance(request, pb.CreateSessionRequest):
        if request.HasField("memory"):
            request.memory.ClearField("version")
    elif request.HasField("memory_change") and request.memory_change.WhichOneof("change") == "replace":
        request.memory_change.replace.ClearField("version")


def check_sizes(
    request: Request,
    given: messages.Messages,
    requests: Requests,
    *,
    extra: Callable[[Request], int],
    tool_calls: int = 0,
) -> None:
    """Raise where there is too much; `extra` gives the bytes of content beside the messages."""
    messages.check_sizes(given, requests.message_limits)
    # Only counted where the whole request is large enough to hold too much.
    if request.ByteSize() > _COUNTED_BYTES:
        content = extra(request) + sum(messages.content_bytes(message) for message in given)
        beside = messages.beside_bytes(given) + tool_calls * messages.CALL_BYTES_MAX
        requests.check_size(request, content, beside)
