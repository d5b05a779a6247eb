"""Who makes the call that is being answered."""

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
"""Set by the interceptor for the task that answers the call."""
