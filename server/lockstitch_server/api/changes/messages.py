"""RemoveMessages and UpdateMessage."""

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.convert import messages
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import Change, Content, MessageUpdate, Method, Removal

_NO_MESSAGE = 0
"""A place that no message has: whether its session is there at all is answered first."""


def remove_messages(request: pb.RemoveMessagesRequest, requests: Requests) -> tuple[Change, Removal, Content]:
    """RemoveMessages."""
    requests.policy.require(requests.principal, Claim.CHANGE_MESSAGES)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    which = request.WhichOneof("which")
    if which is None:
        raise InvalidField("last", "or from_seq is required")
    count = request.last if which == "last" else request.from_seq
    if count < 1:
        raise InvalidField(which, "must be 1 or more")
    removal = Removal(
        last=count if which == "last" else None,
        from_seq=count if which == "from_seq" else None,
        erase=request.erase_history,
    )
    messages.forget_output(request.replacement)
    messages.check_sizes(request.replacement, requests.message_limits, "replacement")
    content = sum(messages.content_bytes(message) for message in request.replacement)
    requests.check_size(request, content, messages.beside_bytes(request.replacement))
    fence = requests.fence(request)
    change = requests.change(
        request,
        Method.REMOVE_MESSAGES,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
    )
    stored, ledger = messages.new_messages(request.replacement, requests.message_limits, "replacement")
    return change, removal, Content(messages=tuple(stored), ledger=tuple(ledger))


def update_message(request: pb.UpdateMessageRequest, requests: Requests) -> tuple[Change, MessageUpdate]:
    """UpdateMessage."""
    requests.policy.require(requests.principal, Claim.CHANGE_MESSAGES)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    given_id = checks.identifier(request.message_id, "message_id", requests.settings.id_characters_max)
    if request.message.message_id not in {"", given_id}:
        raise InvalidField("message.message_id", "must be the message's own, or left out")
    request.message.ClearField("message_id")
    given = [request.message]
    messages.forget_output(given)
    messages.check_sizes(given, requests.message_limits, "message")
    requests.check_size(request)
    erase = request.erase_history
    fence = requests.fence(request)
    change = requests.change(
        request,
        Method.UPDATE_MESSAGE,
        ref,
        request_id,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        fence=fence,
    )
    seq = ids.parse_message_id(change.session.key, given_id)
    if seq is None and ids.is_server_message_id(given_id):
        seq = _NO_MESSAGE
    (message,), ledger = messages.new_messages(given, requests.message_limits, "message")
    return change, MessageUpdate(
        seq=seq,
        message_id=None if seq is not None else given_id,
        message=message,
        tool_calls=tuple(ledger),
        erase=erase,
    )
