"""Limits: what goes beyond is refused with an error that names the field or the quota."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, Field

from lockstitch_server.config.units import KIB, MIB, Duration


class LimitSettings(BaseModel):
    """Limits: what goes beyond is refused with an error that names the field or the quota."""

    users_choose_session_ids: bool = True
    """Whether callers of role user may name their sessions themselves.

    Ids share the tenant's namespace, so a user who names one learns whether it is taken. Turn it off where that
    matters. Defaults to true.
    """

    content_bytes_max: Annotated[int, Field(ge=1 * KIB, le=3 * MIB)] = 3 * MIB
    """The most content one request may carry.

    Lower it to bound memory; it cannot be raised, since every answer must fit a default client's 4 MiB. Defaults to
    3 MiB.
    """

    receive_bytes_max: Annotated[int, Field(ge=4 * MIB, le=64 * MIB)] = 8 * MIB
    """The largest message taken off the wire.

    Well above `content_bytes_max`, so that what is too large gets our error instead of gRPC's. Each call in flight may
    hold this much memory. Defaults to 8 MiB.
    """

    append_messages_max: Annotated[int, Field(ge=1, le=1000)] = 100
    """The most messages in one Append; they lock the session for as long as it takes to store them. Defaults to 100."""

    id_characters_max: Annotated[int, Field(ge=1, le=128)] = 128
    """The longest id, of any kind, in characters; ids are in many indexes. Defaults to 128."""

    lease_default: Annotated[Duration, Field(ge=timedelta(seconds=1), le=timedelta(hours=1))] = timedelta(seconds=30)
    """How long a run's lease is live where its holder does not say.

    Shorter lets another engine take over from a dead one sooner, and asks the living to renew more often. Defaults to
    30 s.
    """

    lease_max: Annotated[Duration, Field(ge=timedelta(seconds=1), le=timedelta(hours=1))] = timedelta(hours=1)
    """The longest lease that a run may ask for; the shortest is a second.

    Nobody takes over from a dead holder before its lease has run out. Defaults to 1 hour.
    """

    labels_max: Annotated[int, Field(ge=0, le=64)] = 64
    """The most labels on a session; each is a row, written when it changes. Defaults to 64."""

    metadata_bytes_max: Annotated[int, Field(ge=2, le=64 * KIB)] = 64 * KIB
    """The longest `metadata_json`; it comes along with every read of what it stands on. Defaults to 64 KiB."""

    memory_bytes_max: Annotated[int, Field(ge=2, le=1 * MIB)] = 1 * MIB
    """The largest working memory; GetContext sends it whole, every turn. Defaults to 1 MiB."""

    session_messages_max: Annotated[int, Field(ge=1)] = 100_000
    """The most messages a session ever takes; then it is SESSION_FULL and a fork goes on. Defaults to 100,000."""

    tenant_sessions_max: Annotated[int | None, Field(ge=1)] = None
    """How many sessions a tenant may have, deleted ones that can be undeleted among them; one more is QUOTA_EXCEEDED.

    They are counted beside the calls (`quota_interval`): by what is created between two counts it may be passed.
    Defaults to none: no bound.
    """

    user_sessions_max: Annotated[int | None, Field(ge=1)] = None
    """How many sessions one user may have; counted like `tenant_sessions_max`. Defaults to none: no bound."""

    quota_interval: Annotated[Duration, Field(le=timedelta(seconds=60))] = timedelta(seconds=30)
    """How often the sessions of those who create some are counted, up to their quota.

    Shorter holds quotas more exactly, at the cost of a count by index each. Defaults to 30 s.
    """

    page_size_default: Annotated[int, Field(ge=1, le=1000)] = 50
    """How many items a page holds if the caller does not say. Defaults to 50."""

    page_size_max: Annotated[int, Field(ge=1, le=1000)] = 1000
    """The most items a page holds, whatever the caller says; it is what one query may read. Defaults to 1000."""
