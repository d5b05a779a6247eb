"""Requests that read, turned into what they ask for."""

from datetime import timedelta

from lockstitch.v1 import run_service_pb2 as run_pb
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import subscription_pb2
from lockstitch_server.api import checks
from lockstitch_server.api.convert import sessions, tool_calls
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim, owner
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import MessageRole, RunStatus, SessionRef, SessionStatus, ToolCallStatus
from lockstitch_server.service.context import ContextLimits
from lockstitch_server.service.messages import SEQ_MAX
from lockstitch_server.service.paging import PageRequest
from lockstitch_server.store.reader import MessageFilter, SessionFilter
from lockstitch_server.subscribe.stream import Subscription

HEARTBEAT_INTERVAL = timedelta(seconds=15)
HEARTBEAT_MIN, HEARTBEAT_MAX = timedelta(seconds=1), timedelta(hours=1)


def readable(session_id: str, requests: Requests) -> SessionRef:
    """A session that the caller asks to read."""
    requests.policy.require(requests.principal, Claim.READ_SESSION)
    return requests.ref(session_id)


def _run_id(run_id: str, requests: Requests) -> str:
    return checks.identifier(run_id, "run_id", requests.settings.id_characters_max, required=False)


def get_session(request: pb.GetSessionRequest, requests: Requests) -> tuple[SessionRef, int, int | None]:
    """GetSession: the session, how many of its newest messages, and at which version."""
    ref = readable(request.session_id, requests)
    at_version = version(request.at_version) if request.HasField("at_version") else None
    return ref, checks.not_negative(request.recent_messages, "recent_messages"), at_version


def get_memory(request: pb.GetMemoryRequest, requests: Requests) -> tuple[SessionRef, str, int | None]:
    """GetMemory: the session, the run whose own it is, and at which version."""
    ref = readable(request.session_id, requests)
    return (
        ref,
        _run_id(request.run_id, requests),
        version(request.at_version) if request.HasField("at_version") else None,
    )


def version(at_version: int) -> int:
    """Check an at_version."""
    if at_version < 1:
        raise InvalidField("at_version", "must be 1 or more")
    return at_version


def list_memory_versions(
    request: pb.ListMemoryVersionsRequest, requests: Requests
) -> tuple[SessionRef, str, PageRequest]:
    """ListMemoryVersions: the session, the run whose own memory it is, and the page."""
    ref = readable(request.session_id, requests)
    return ref, _run_id(request.run_id, requests), requests.page(request, request)


def get_run(request: run_pb.GetRunRequest, requests: Requests) -> tuple[SessionRef, str]:
    """GetRun."""
    ref = readable(request.session_id, requests)
    return ref, checks.identifier(request.run_id, "run_id", requests.settings.id_characters_max)


def list_runs(
    request: run_pb.ListRunsRequest, requests: Requests
) -> tuple[SessionRef, PageRequest, tuple[RunStatus, ...] | None]:
    """ListRuns."""
    ref = readable(request.session_id, requests)
    statuses = tuple(
        RunStatus(_known(status, RunStatus, f"statuses[{place}]")) for place, status in enumerate(request.statuses)
    )
    return ref, requests.page(request, request), statuses or None


def list_sessions(request: pb.ListSessionsRequest, requests: Requests) -> tuple[SessionFilter, PageRequest] | None:
    """ListSessions; None where a caller asks for what it may not reach."""
    principal, settings = requests.principal, requests.settings
    requests.policy.require(principal, Claim.LIST_SESSIONS)
    id_max = settings.id_characters_max
    user_id = checks.identifier(request.user_id, "user_id", id_max, required=False)
    own = owner(principal)
    agent = checks.identifier(request.agent, "agent", id_max, required=False) or None
    if agent is None and principal.agents is not None:
        if len(principal.agents) != 1:
            raise InvalidField("agent", "is required, one of those that the token names")
        (agent,) = principal.agents
    statuses = tuple(
        SessionStatus(_known(status, SessionStatus, f"statuses[{place}]"))
        for place, status in enumerate(request.statuses)
    )
    shown = SessionFilter(
        tenant_id=principal.tenant_id,
        user_id=own or user_id or None,
        agent=agent,
        statuses=statuses or None,
        labels=sessions.labels(request.labels, "labels", labels_max=settings.labels_max, characters_max=id_max),
        created_after=(
            checks.instant(request.created_after, "created_after") if request.HasField("created_after") else None
        ),
        created_before=(
            checks.instant(request.created_before, "created_before") if request.HasField("created_before") else None
        ),
        active_after=(
            checks.instant(request.active_after, "active_after") if request.HasField("active_after") else None
        ),
        active_before=(
            checks.instant(request.active_before, "active_before") if request.HasField("active_before") else None
        ),
        show_deleted=request.show_deleted,
        forked_from=requests.ref(request.forked_from, "forked_from").key if request.forked_from else None,
    )
    page = requests.page(request, request)
    if own is not None and user_id not in {"", own}:
        return None
    if principal.agents is not None and agent not in principal.agents:
        return None
    return shown, page


def list_messages(request: pb.ListMessagesRequest, requests: Requests) -> tuple[SessionRef, MessageFilter, PageRequest]:
    """ListMessages."""
    ref = readable(request.session_id, requests)
    roles = tuple(MessageRole(_known(role, MessageRole, f"roles[{place}]")) for place, role in enumerate(request.roles))
    shown = MessageFilter(
        after_seq=checks.not_negative(request.after_seq, "after_seq"),
        before_seq=checks.not_negative(request.before_seq, "before_seq") or SEQ_MAX,
        event_after=checks.instant(request.event_after, "event_after") if request.HasField("event_after") else None,
        event_before=checks.instant(request.event_before, "event_before") if request.HasField("event_before") else None,
        descending=request.descending,
        roles=roles or None,
        run_id=_run_id(request.run_id, requests) or None,
        show_removed=request.show_removed,
    )
    return ref, shown, requests.page(request, request)


def list_tool_calls(
    request: pb.ListToolCallsRequest, requests: Requests
) -> tuple[SessionRef, PageRequest, tuple[ToolCallStatus, ...] | None, str | None, str | None, bytes | None]:
    """ListToolCalls: the session, the page, and the statuses, name, run and digest to show."""
    ref = readable(request.session_id, requests)
    statuses = tuple(
        ToolCallStatus(_known(status, ToolCallStatus, f"statuses[{place}]"))
        for place, status in enumerate(request.statuses)
    )
    name = checks.identifier(request.name, "name", requests.settings.id_characters_max, required=False)
    digest = tool_calls.digest_of(request.arguments_digest, "arguments_digest")
    run_id = _run_id(request.run_id, requests)
    return ref, requests.page(request, request), statuses or None, name or None, run_id or None, digest


def list_commits(request: pb.ListCommitsRequest, requests: Requests) -> tuple[SessionRef, PageRequest, int, bool]:
    """ListCommits: the session, the page, the version to begin behind, and the direction."""
    ref = readable(request.session_id, requests)
    after_version = checks.not_negative(request.after_version, "after_version")
    return ref, requests.page(request, request), after_version, request.descending


def get_context(request: pb.GetContextRequest, requests: Requests) -> tuple[SessionRef, ContextLimits]:
    """GetContext."""
    ref = readable(request.session_id, requests)
    return ref, ContextLimits(
        messages=checks.not_negative(request.max_messages, "max_messages"),
        bytes=checks.not_negative(request.max_bytes, "max_bytes") or None,
        tokens=checks.not_negative(request.max_tokens, "max_tokens") or None,
    )


def subscribe(request: subscription_pb2.SubscribeRequest, requests: Requests) -> Subscription:
    """Subscribe."""
    ref = readable(request.session_id, requests)
    roles = frozenset(
        MessageRole(_known(role, MessageRole, f"roles[{place}]")) for place, role in enumerate(request.roles)
    )
    interval = HEARTBEAT_INTERVAL
    if request.HasField("heartbeat_interval"):
        interval = checks.span(request.heartbeat_interval, "heartbeat_interval", HEARTBEAT_MIN, HEARTBEAT_MAX)
    return Subscription(
        ref=ref,
        after_version=checks.not_negative(request.after_version, "after_version"),
        store_epoch=checks.identifier(
            request.store_epoch, "store_epoch", requests.settings.id_characters_max, required=False
        ),
        roles=roles,
        heartbeat_interval=interval,
        expires=requests.call.expires,
    )


def _known(
    value: int, enum: type[SessionStatus] | type[MessageRole] | type[ToolCallStatus] | type[RunStatus], field: str
) -> int:
    if value not in set(enum):
        raise InvalidField(field, "is not one that there is")
    return value
