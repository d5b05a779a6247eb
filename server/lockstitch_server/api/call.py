"""Who makes the call that is being answered."""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from lockstitch_server.model import Principal


@dataclass(frozen=True, slots=True)
class Call:
    """The verified caller of an RPC, and the trace that the call belongs to."""

    principal: Principal
    expires: float
    """When the token ends, by the server's clock, in seconds since 1970."""
    traceparent: str | None


current_call: ContextVar[Call] = ContextVar("current_call")
"""Set by the guard for the task that answers the call."""

call_metadata: "ContextVar[Sequence[tuple[str, str | bytes]]]" = ContextVar("call_metadata")
"""What the call came with, taken apart once: gRPC would do it again for whoever asks it."""
