"""Stored messages as the bytes that an answer holds: a body is passed through, and what belongs beside it is encoded.

The encodings of two messages, one behind the other, are the encoding of both merged. So a stored body needs no parsing
to become a whole message, which was most of the work of most answers.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import repeat

from google.protobuf.message import Message as AnyMessage

from lockstitch.v1 import message_pb2
from lockstitch_server import ids
from lockstitch_server.store.stored_messages import StoredMessages

_MICROSECONDS = 1_000_000
_LENGTH_DELIMITED = 2
_LENGTHS_KEPT = 4096


def pieces(messages: StoredMessages, answer: type[AnyMessage]) -> list[bytes]:
    """The field `messages` of such an answer, in pieces to be joined; every body must have been read."""
    tag = _varint(answer.DESCRIPTOR.fields_by_name["messages"].number << 3 | _LENGTH_DELIMITED)
    own_id = ids.message_id_prefix(messages.key)
    beside = message_pb2.Message()
    create_time = beside.create_time
    found: list[bytes] = []
    for seq, version, role, message_id, time, body, more in zip(
        messages.seqs,
        messages.versions,
        messages.roles,
        messages.message_ids,
        messages.create_times,
        messages.bodies,
        _more(messages),
        strict=False,
    ):
        beside.seq = seq
        beside.version = version
        beside.role = role
        beside.message_id = message_id or f"{own_id}{seq}"
        create_time.seconds, microseconds = divmod(time, _MICROSECONDS)
        create_time.nanos = microseconds * 1000
        if more is not None:
            call_id, run_id, removed_version, beside.erased = more
            beside.call_id = call_id or ""
            beside.run_id = run_id or ""
            beside.removed_version = removed_version or 0
        encoded = beside.SerializeToString()
        found += (tag, _varint(len(body) + len(encoded)), body, encoded)
    return found


def _more(messages: StoredMessages) -> Iterable[tuple[str | None, str | None, int | None, bool] | None]:
    """What few messages have, where one of these has any of it: each field that is set takes its time."""
    columns = (messages.call_ids, messages.run_ids, messages.removed_versions, messages.erased)
    return zip(*columns, strict=True) if any(map(any, columns)) else repeat(None)


@lru_cache(_LENGTHS_KEPT)
def _varint(value: int) -> bytes:
    """An unsigned number as protobuf writes it."""
    encoded = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
