"""CreateSession, UpdateSession, CloseSession, RestoreSession, DeleteSession, UndeleteSession."""

from google.protobuf.message import Message

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import working_memory_pb2
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.changes import content
from lockstitch_server.api.convert import memory, messages, sessions
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import (
    Change,
    Content,
    Expiration,
    MemoryScope,
    MemoryWrite,
    Method,
    NewFork,
    NewSession,
    SessionUpdate,
)

_UPDATED_FIELDS = frozenset({"title", "labels", "metadata_json", "expire_time", "idle_ttl"})


def create_session(request: pb.CreateSessionRequest, requests: Requests) -> tuple[Change, NewSession, Content]:
    """CreateSession."""
    policy, principal, settings = requests.policy, requests.principal, requests.settings
    policy.require(principal, Claim.CREATE_SESSION)
    if request.session_id:
        policy.require(principal, Claim.CHOOSE_SESSION_ID, "session_id")
    request.user_id = content.user(request.user_id, requests, "user_id")
    if request.HasField("memory"):
        policy.require(principal, Claim.WRITE_MEMORY, "memory")
    messages.authorise(request.messages, principal, policy)

    request_id = requests.request_id(request.request_id)
    session_id = _own_session_id(request.session_id, "session_id", requests)
    content.forget_output(request, request.messages)
    content.check_sizes(request, request.messages, requests, extra=lambda given: given.memory.ByteSize())
    session_id = session_id or ids.server_session_id(principal.tenant_id, request.user_id, request_id)
    change = requests.change(request, Method.CREATE_SESSION, requests.ref(session_id), request_id)
    metadata = request.metadata_json
    new = NewSession(
        user_id=request.user_id,
        agent=content.agent(request.agent, "agent", requests),
        title=checks.line(request.title, "title", checks.TITLE_CHARACTERS_MAX),
        labels=sessions.labels(
            request.labels, "labels", labels_max=settings.labels_max, characters_max=settings.id_characters_max
        ),
        metadata=checks.json(metadata, "metadata_json", settings.metadata_bytes_max) if metadata else b"",
        expiration=sessions.expiration(
            request.WhichOneof("expiration"),
            request.expire_time,
            request.ttl,
            request.idle_ttl if request.HasField("idle_ttl") else None,
        ),
    )
    first_memory = None
    if request.HasField("memory"):
        values = memory.keys_of(request.memory, "memory", settings.memory_bytes_max)
        replaced = working_memory_pb2.MemoryChange(replace=request.memory)
        first_memory = MemoryWrite(
            path="memory",
            values={**values},
            scope=MemoryScope.ALL,
            requested=replaced.SerializeToString(deterministic=True),
        )
    stored, ledger = messages.new_messages(request.messages, requests.message_limits)
    return change, new, Content(messages=tuple(stored), ledger=tuple(ledger), memory=first_memory)


def update_session(request: pb.UpdateSessionRequest, requests: Requests) -> tuple[Change, SessionUpdate, bool]:
    """UpdateSession; gives the new values, and whether they need a guard."""
    policy, principal, settings = requests.policy, requests.principal, requests.settings
    fields = frozenset(request.update_mask.paths)
    policy.require(principal, Claim.UPDATE_TITLE, "update_mask")
    if fields - {"title"}:
        policy.require(principal, Claim.UPDATE_SESSION, "update_mask")
    if request.force:
        policy.require(principal, Claim.FORCE, "force")
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session.session_id, "session.session_id")
    if not fields:
        raise InvalidField("update_mask", "is required")
    if fields - _UPDATED_FIELDS:
        raise InvalidField("update_mask", "names a field that can't be changed")
    given = request.session
    metadata = given.metadata_json
    life = sessions.expiration(
        "expire_time" if given.HasField("expire_time") else None,
        given.expire_time,
        given.idle_ttl,
        given.idle_ttl if given.HasField("idle_ttl") else None,
        prefix="session.",
    )
    update = SessionUpdate(
        fields=fields,
        title=checks.line(given.title, "session.title", checks.TITLE_CHARACTERS_MAX),
        labels=sessions.labels(
            given.labels, "session.labels", labels_max=settings.labels_max, characters_max=settings.id_characters_max
        ),
        metadata=checks.json(metadata, "session.metadata_json", settings.metadata_bytes_max) if metadata else b"",
        expire_time=life.expire_time,
        idle_ttl=life.idle_ttl,
        erase=request.erase_history,
    )
    expected = request.expected_version if request.HasField("expected_version") else None
    forced, fence = request.force, requests.fence(request)
    # What the mask does not name is not part of the request.
    sent: Message = given
    for field, _ in sent.ListFields():
        if field.name not in fields:
            sent.ClearField(field.name)
    change = requests.change(
        request, Method.UPDATE_SESSION, ref, request_id, expected_version=expected, fence=fence, force=forced
    )
    return change, update, bool(fields & {"labels", "metadata_json"})


def close_session(request: pb.CloseSessionRequest, requests: Requests) -> tuple[Change, str]:
    """CloseSession."""
    requests.policy.require(requests.principal, Claim.CLOSE_SESSION)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    reason = checks.line(request.reason, "reason", checks.REASON_CHARACTERS_MAX)
    expected = request.expected_version if request.HasField("expected_version") else None
    forced = _forced(request.force, requests)
    change = requests.change(request, Method.CLOSE_SESSION, ref, request_id, expected_version=expected, force=forced)
    return change, reason


def restore_session(request: pb.RestoreSessionRequest, requests: Requests) -> tuple[Change, Expiration]:
    """RestoreSession."""
    requests.policy.require(requests.principal, Claim.RESTORE_SESSION)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    life = sessions.expiration(request.WhichOneof("expiration"), request.expire_time, request.ttl)
    expected = request.expected_version if request.HasField("expected_version") else None
    change = requests.change(request, Method.RESTORE_SESSION, ref, request_id, expected_version=expected)
    return change, life


def delete_session(request: pb.DeleteSessionRequest, requests: Requests) -> Change:
    """DeleteSession."""
    requests.policy.require(requests.principal, Claim.DELETE_SESSION)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    expected = request.expected_version if request.HasField("expected_version") else None
    forced = _forced(request.force, requests)
    return requests.change(request, Method.DELETE_SESSION, ref, request_id, expected_version=expected, force=forced)


def undelete_session(request: pb.UndeleteSessionRequest, requests: Requests) -> Change:
    """UndeleteSession."""
    requests.policy.require(requests.principal, Claim.UNDELETE_SESSION)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    expected = request.expected_version if request.HasField("expected_version") else None
    return requests.change(request, Method.UNDELETE_SESSION, ref, request_id, expected_version=expected)


def fork_session(request: pb.ForkSessionRequest, requests: Requests) -> tuple[Change, NewFork]:
    """ForkSession."""
    policy, principal, settings = requests.policy, requests.principal, requests.settings
    policy.require(principal, Claim.FORK_SESSION)
    if request.new_session_id:
        policy.require(principal, Claim.CHOOSE_SESSION_ID, "new_session_id")
    request_id = requests.request_id(request.request_id)
    source = requests.ref(request.session_id)
    new_id = _own_session_id(request.new_session_id, "new_session_id", requests)
    new_id = new_id or ids.server_fork_id(principal.tenant_id, source.session_id, request_id)
    at_version = request.at_version if request.HasField("at_version") else None
    if at_version is not None and at_version < 1:
        raise InvalidField("at_version", "must be 1 or more")
    fork = NewFork(
        source=source,
        at_version=at_version,
        title=checks.line(request.title, "title", checks.TITLE_CHARACTERS_MAX),
        labels=sessions.labels(
            request.labels, "labels", labels_max=settings.labels_max, characters_max=settings.id_characters_max
        ),
    )
    return requests.change(request, Method.FORK_SESSION, requests.ref(new_id), request_id), fork


def _forced(force: bool, requests: Requests) -> bool:  # noqa: FBT001 - a field as it came
    if force:
        requests.policy.require(requests.principal, Claim.FORCE, "force")
    return force


def _own_session_id(session_id: str, field: str, requests: Requests) -> str:
    checks.identifier(session_id, field, requests.settings.id_characters_max, required=False)
    if ids.is_server_session_id(session_id):
        raise InvalidField(field, 'must not begin with "sess_", which marks the server\'s own')
    return session_id
