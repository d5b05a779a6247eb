"""What every request carries: whose session it is about, its identity as a change, its page."""

import asyncio
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Literal, Protocol, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from lockstitch.v1 import run_pb2
from lockstitch_server import ids
from lockstitch_server.api import checks
from lockstitch_server.api.call import Call, current_call
from lockstitch_server.api.convert.messages import MessageLimits
from lockstitch_server.auth.policy import Claim, Policy, reach_of
from lockstitch_server.config import Settings
from lockstitch_server.errors import BatchTooLarge, InvalidField
from lockstitch_server.model import Change, Fence, Method, Principal, SessionRef
from lockstitch_server.service import budget
from lockstitch_server.service.paging import PageRequest

REQUEST_TOOL_CALLS_MAX = 1000
ENVELOPE_BYTES_MAX = 256 * 1024
"""What a request may take beside its content: ids, names, the envelopes of fields."""

_COMMIT_BYTES_MAX = budget.ANSWER_BYTES - budget.SESSION_BYTES
_SERVER_REQUEST_PREFIX = "server:"
_DIGEST_ALGORITHM = b"\x01"
"""SHA-256, its first 16 bytes, over the method's name, NUL, and the request's deterministic serialization without
request_id, the expected_ fields and force, output-only fields cleared."""

_NOT_IN_DIGEST = ("request_id", "expected_version", "expected_memory_version", "fence", "force")
_OFFLOADED_BYTES = 256 * 1024
Taken = TypeVar("Taken")
Request = TypeVar("Request", bound=Message)

_NOT_IN_TOKEN = ("page_size", "page_token")


class _ListRequest(Protocol):
    page_size: int
    page_token: str


async def taken(convert: Callable[[Request, "Requests"], Taken], request: Request, requests: "Requests") -> Taken:
    """Convert a request; a large one in a thread, so that others need not wait for it."""
    if request.ByteSize() > _OFFLOADED_BYTES:
        return await asyncio.to_thread(convert, request, requests)
    return convert(request, requests)


@cache
def _not_in_digest(of: Descriptor) -> tuple[str, ...]:
    return tuple(name for name in _NOT_IN_DIGEST if name in of.fields_by_name)


class _FencedRequest(Protocol):
    @property
    def fence(self) -> run_pb2.Fence: ...

    def HasField(self, field_name: Literal["fence"], /) -> bool: ...  # noqa: N802 - protobuf's name


class Requests:
    """Reads what requests have in common, under this server's limits and policy."""

    def __init__(self, settings: Settings, policy: Policy) -> None:
        """The limits are settings."""
        self.policy = policy
        self.settings = settings
        self.message_limits = MessageLimits(
            messages_max=settings.append_messages_max,
            content_bytes_max=settings.content_bytes_max,
            id_characters_max=settings.id_characters_max,
            metadata_bytes_max=settings.metadata_bytes_max,
            tool_calls_max=REQUEST_TOOL_CALLS_MAX,
        )

    @property
    def call(self) -> Call:
        """Who calls."""
        return current_call.get()

    @property
    def principal(self) -> Principal:
        """Who calls."""
        return current_call.get().principal

    def ref(self, session_id: str, field: str = "session_id") -> SessionRef:
        """The session that a request names, as far as the caller may reach."""
        checks.identifier(session_id, field, self.settings.id_characters_max)
        principal = self.principal
        return SessionRef(
            tenant_id=principal.tenant_id,
            session_id=session_id,
            key=ids.session_key(principal.tenant_id, session_id),
            owner=reach_of(principal),
        )

    def request_id(self, request_id: str) -> str:
        """Check a change's request_id."""
        checks.identifier(request_id, "request_id", self.settings.id_characters_max)
        if request_id.startswith(_SERVER_REQUEST_PREFIX):
            raise InvalidField("request_id", 'must not begin with "server:", which marks the server\'s own')
        return request_id

    def fence(self, request: _FencedRequest) -> Fence | None:
        """The run that a change is made under; None where it is made outside of runs."""
        if not request.HasField("fence"):
            return None
        return self.fence_of(request.fence)

    def fence_of(self, given: run_pb2.Fence) -> Fence:
        """Check a fence."""
        self.policy.require(self.principal, Claim.HOLD_RUN, "fence")
        checks.identifier(given.run_id, "fence.run_id", self.settings.id_characters_max)
        if given.fencing_token < 1:
            raise InvalidField("fence.fencing_token", "must be 1 or more")
        return Fence(run_id=given.run_id, fencing_token=given.fencing_token)

    def change(
        self,
        request: Message,
        method: Method,
        session: SessionRef,
        request_id: str,
        *,
        expected_version: int | None = None,
        expected_memory_version: int | None = None,
        fence: Fence | None = None,
        force: bool = False,
        target: bytes = b"",
    ) -> Change:
        """A change's identity; clears from the request what is not part of its digest, so read that before.

        `target` is what the change is about where only a field says so that is not part of the digest.
        """
        if expected_version is not None:
            checks.not_negative(expected_version, "expected_version")
        if expected_memory_version is not None:
            checks.not_negative(expected_memory_version, "expected_memory_version")
        for name in _not_in_digest(request.DESCRIPTOR):
            request.ClearField(name)
        canonical = method.name.encode() + b"\0" + request.SerializeToString(deterministic=True)
        if target:
            canonical += b"\0" + target
        call = self.call
        return Change(
            session=session,
            principal=call.principal,
            method=method,
            request_id_hash=ids.request_id_hash(request_id),
            digest=_DIGEST_ALGORITHM + sha256(canonical).digest()[:16],
            traceparent=call.traceparent,
            expected_version=expected_version,
            expected_memory_version=expected_memory_version,
            fence=fence,
            force=force,
        )

    def check_size(self, request: Message, content_bytes: int | None = None, beside_bytes: int = 0) -> None:
        """Raise BatchTooLarge where a request holds more than its content and its envelope may be.

        `beside_bytes` is what its commit takes beside the request's own bytes: together they must fit an answer.
        """
        size, most = request.ByteSize(), self.settings.content_bytes_max
        too_much = content_bytes is not None and content_bytes > most
        if too_much or size > most + ENVELOPE_BYTES_MAX or size + beside_bytes > _COMMIT_BYTES_MAX:
            sentence = f"The request holds more than {most} bytes of content."
            raise BatchTooLarge(sentence, metadata={"limit_bytes": str(most)})

    def page(self, request: Message, fields: _ListRequest, *reach: str | None) -> PageRequest:
        """The page that a list asks for; its token is bound to the caller's reach and the list's other arguments."""
        page_size, page_token = fields.page_size, fields.page_token
        for name in _NOT_IN_TOKEN:
            request.ClearField(name)
        return PageRequest(
            page_size=checks.not_negative(page_size, "page_size"),
            page_token=page_token,
            bound_to=self._bound(request, *reach),
        )

    def part(self, request: Message, page_token: str, of: str) -> PageRequest:
        """A part of an answer that is asked for by a token of its own, which is cleared from the request before."""
        return PageRequest(page_size=0, page_token=page_token, bound_to=self._bound(request, of))

    def _bound(self, request: Message, *reach: str | None) -> bytes:
        principal = self.principal
        bound = (
            request.DESCRIPTOR.name,
            principal.tenant_id,
            reach_of(principal) or "",
            *(part or "" for part in reach),
        )
        arguments = request.SerializeToString(deterministic=True)
        return sha256("\0".join(bound).encode() + b"\0" + arguments).digest()
