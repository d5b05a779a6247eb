"""Stored messages made of single ones, as a statement would have read them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from lockstitch_server.model import Message, SessionKey
from lockstitch_server.store.stored_messages import StoredMessages

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KEY = SessionKey(UUID(int=0x0123456789ABCDEF << 64))


def stored(messages: Sequence[Message], key: SessionKey = KEY) -> StoredMessages:
    """Lay messages out as columns; an id that the server would have made is not kept."""
    return StoredMessages(
        key,
        seqs=[message.seq for message in messages],
        versions=[message.version for message in messages],
        roles=[message.role.value for message in messages],
        message_ids=[message.message_id or None for message in messages],
        call_ids=[message.call_id or None for message in messages],
        create_times=[(message.create_time - EPOCH) // timedelta(microseconds=1) for message in messages],
        sizes=[message.body_bytes for message in messages],
        run_ids=[message.run_id or None for message in messages],
        bodies=[message.body for message in messages],
        removed_versions=[message.removed_version or None for message in messages],
        erased=[message.erased for message in messages],
    )
