"""What the functions that make commits of content are called with."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from lockstitch_server.model import (
    Change,
    Content,
    LedgerChange,
    MemoryPatch,
    MemoryWrite,
    Method,
    NewMessage,
    NewSession,
)
from lockstitch_server.store import rows
from lockstitch_server.store.changing import head

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Limits:
    """Those that must be checked under the session's lock."""

    session_messages_max: int
    memory_bytes_max: int


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit of content that is to be made; `new` is what a missing session becomes, as `create` says."""

    change: Change
    content: Content
    new: NewSession | None
    create: int

    def arguments(self, limits: Limits, *, is_draft: bool = False) -> tuple[object, ...]:
        """What lockstitch.commit_v1 takes."""
        change, content, new = self.change, self.content, self.new
        if isinstance(content.memory, MemoryPatch):
            raise TypeError("a patch must meet the keys it changes before it is written")
        return (
            *head(change),
            change.expected_version,
            change.expected_memory_version,
            *fence(change),
            change.force,
            *messages(content.messages),
            *ledger(content.ledger),
            content.allow_orphans,
            *_memory(content.memory),
            self.mode,
            *(_NO_SESSION if new is None else _new_session(new)),
            limits.session_messages_max,
            limits.memory_bytes_max,
            content.erase,
            *((None, None) if content.run_end is None else (content.run_end.status, content.run_end.error)),
            is_draft,
        )

    @property
    def mode(self) -> int:
        """Whether it may create its session; below 0 where there may be none more."""
        return -self.create if self.new is not None and self.new.is_over_quota else self.create


def of_batch(commits: Sequence[NewCommit], limits: Limits, *, wait: bool) -> tuple[object, ...]:
    """What lockstitch.commit_batch_v1 takes."""
    changes = [commit.change for commit in commits]
    contents = [commit.content for commit in commits]
    sessions = [change.session for change in changes]
    fences = [change.fence for change in changes]
    news = [commit.new for commit in commits]
    return (
        [session.tenant_id for session in sessions],
        [session.key for session in sessions],
        [session.session_id for session in sessions],
        _some([session.owner for session in sessions]),
        Method.APPEND,
        [change.request_id_hash for change in changes],
        [change.digest for change in changes],
        [change.principal.subject for change in changes],
        [rows.PRINCIPAL_ROLES[change.principal.role] for change in changes],
        _some([change.traceparent for change in changes]),
        _some([change.expected_version for change in changes]),
        _some([None if fence is None else fence.run_id for fence in fences]),
        _some([None if fence is None else fence.fencing_token for fence in fences]),
        [len(content.messages) for content in contents],
        *messages(tuple(chain.from_iterable(content.messages for content in contents))),
        [len(content.ledger) for content in contents],
        *ledger(tuple(chain.from_iterable(content.ledger for content in contents))),
        [content.allow_orphans for content in contents],
        [commit.mode for commit in commits],
        _some([None if new is None else new.user_id for new in news]),
        _some([None if new is None else new.agent for new in news]),
        limits.session_messages_max,
        wait,
    )


def _some(values: list[Value]) -> list[Value] | None:
    """Values of which there are some; each element of a null array is null, and it costs nothing to send."""
    return values if any(value is not None for value in values) else None


def fence(change: Change) -> tuple[object, ...]:
    return (None, None) if change.fence is None else (change.fence.run_id, change.fence.fencing_token)


def messages(given: tuple[NewMessage, ...]) -> tuple[object, ...]:
    if not given:
        return (None,) * 5
    return (
        [message.role for message in given],
        _some([message.message_id for message in given]),
        _some([message.call_id for message in given]),
        _some([message.event_time for message in given]),
        [message.body for message in given],
    )


def ledger(steps: tuple[LedgerChange, ...]) -> tuple[object, ...]:
    if not steps:
        return (None,) * 14
    return (
        [step.op for step in steps],
        [None if step.message_index is None else step.message_index + 1 for step in steps],
        [step.part_index for step in steps],
        [step.tool_call[0] if step.tool_call else None for step in steps],
        [step.tool_call[1] if step.tool_call else None for step in steps],
        [step.call_id for step in steps],
        [step.name for step in steps],
        [step.arguments_digest for step in steps],
        [step.status for step in steps],
        [step.outcome_digest for step in steps],
        [step.granted for step in steps],
        [step.detail for step in steps],
        [step.arguments for step in steps],
        [step.result for step in steps],
    )


def _memory(write: MemoryWrite | None) -> tuple[object, ...]:
    if write is None:
        return (None, None, None, 0, False, None, None)
    keys = list(write.values)
    return (
        keys,
        list(write.values.values()),
        [write.expected_key_versions.get(key) for key in keys],
        write.scope,
        write.needs_guard,
        write.requested,
        write.run_id,
    )


_NO_SESSION: tuple[object, ...] = (None,) * 9


def _new_session(new: NewSession) -> tuple[object, ...]:
    return (
        new.user_id,
        new.agent,
        new.title,
        list(new.labels),
        list(new.labels.values()),
        new.metadata,
        new.expiration.expire_time,
        new.expiration.ttl,
        new.expiration.idle_ttl,
    )
