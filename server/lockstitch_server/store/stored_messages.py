"""Messages as the store reads them: column by column, since most are passed on and few are looked at."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, overload

from lockstitch_server import ids
from lockstitch_server.model import Message, MessageRole, SessionKey
from lockstitch_server.store.rows import Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSTGRES_EPOCH_MICROSECONDS = 946_684_800_000_000
_TIME_BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class StoredMessages(Sequence[Message]):
    """A run of stored messages of one session. A message is put together only when it is asked for."""

    key: SessionKey
    seqs: Sequence[int] = ()
    versions: Sequence[int] = ()
    roles: Sequence[int] = ()
    message_ids: Sequence[str | None] = ()
    """None where the sender named none."""
    call_ids: Sequence[str | None] = ()
    create_times: Sequence[int] = ()
    """Microseconds since 1970."""
    sizes: Sequence[int] = ()
    """Of bodies, whether they were read or not."""
    run_ids: Sequence[str | None] = ()
    bodies: Sequence[bytes | None] = ()
    """None where it was not read."""
    removed_versions: Sequence[int | None] = ()
    erased: Sequence[bool] = ()

    def __len__(self) -> int:
        return len(self.seqs)

    @overload
    def __getitem__(self, place: int) -> Message: ...
    @overload
    def __getitem__(self, place: slice) -> "StoredMessages": ...
    def __getitem__(self, place: int | slice) -> "Message | StoredMessages":
        if isinstance(place, slice):
            return self._with_columns(lambda column: column[place])
        seq = self.seqs[place]
        return Message(
            seq=seq,
            version=self.versions[place],
            role=MessageRole(self.roles[place]),
            message_id=self.message_ids[place] or ids.message_id(self.key, seq),
            call_id=self.call_ids[place] or "",
            create_time=_EPOCH + timedelta(microseconds=self.create_times[place]),
            body=self.bodies[place],
            body_bytes=self.sizes[place],
            run_id=self.run_ids[place] or "",
            removed_version=self.removed_versions[place] or 0,
            erased=self.erased[place],
        )

    @property
    def are_read(self) -> bool:
        """Whether every body was read."""
        return None not in self.bodies

    @property
    def columns(self) -> tuple[Sequence[Any], ...]:
        """All columns, in the order in which they stand above."""
        return (
            self.seqs,
            self.versions,
            self.roles,
            self.message_ids,
            self.call_ids,
            self.create_times,
            self.sizes,
            self.run_ids,
            self.bodies,
            self.removed_versions,
            self.erased,
        )

    def picked(self, places: Sequence[int]) -> "StoredMessages":
        """Those at some places, in this order."""
        return self._with_columns(lambda column: [column[place] for place in places])

    def reversed(self) -> "StoredMessages":
        """The same the other way round."""
        return self[::-1]

    def _with_columns(self, changed: Callable[[Sequence[Any]], Sequence[Any]]) -> "StoredMessages":
        return StoredMessages(self.key, *map(changed, self.columns))


def of_arrays(row: Row, key: SessionKey) -> StoredMessages:
    """The messages of a row that holds them as arrays, in their order."""
    seqs = row["m_seqs"]
    if seqs is None:
        return StoredMessages(key)
    sizes = row["m_bytes"]
    return StoredMessages(
        key,
        seqs=seqs,
        versions=row["m_versions"],
        roles=row["m_roles"],
        message_ids=row["m_ids"],
        call_ids=row["m_call_ids"],
        create_times=_times(row["m_create_times"]),
        sizes=sizes,
        run_ids=row["m_run_ids"],
        bodies=row["m_bodies"],
        removed_versions=(None,) * len(seqs),
        # In a fork an erased message keeps its place without a body.
        erased=[size == 0 for size in sizes] if 0 in sizes else (False,) * len(seqs),
    )


def of_history(row: Row, key: SessionKey, removed_versions: Sequence[int | None] | None = None) -> StoredMessages:
    """The same of a row that says of each, too, whether it was erased since, and it may be by which version removed."""
    messages = of_arrays(row, key)
    if not messages:
        return messages
    erased = [gone or was for gone, was in zip(row["m_erased"], messages.erased, strict=True)]
    return replace(messages, erased=erased, removed_versions=removed_versions or messages.removed_versions)


def _times(packed: bytes) -> Sequence[int]:
    """Times as Postgres sends them: read in one go, they cost a tenth of an array of datetimes."""
    return [time + _POSTGRES_EPOCH_MICROSECONDS for time in struct.unpack(f">{len(packed) // _TIME_BYTES}q", packed)]
