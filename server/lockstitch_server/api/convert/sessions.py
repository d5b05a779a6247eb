"""Sessions and receipts on the way out; labels, lives and new sessions on the way in."""

from collections.abc import Mapping

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1 import commit_pb2, session_pb2
from lockstitch_server.api import checks
from lockstitch_server.errors import InvalidField
from lockstitch_server.model import Expiration, Receipt, Session


def fill(target: session_pb2.Session, session: Session) -> None:
    """Write a session."""
    target.session_id = session.session_id
    target.tenant_id = session.tenant_id
    target.user_id = session.user_id
    target.agent = session.agent
    target.title = session.title
    target.status = session_pb2.SessionStatus.ValueType(session.status)
    target.version = session.version
    target.last_seq = session.last_seq
    target.memory_version = session.memory_version
    target.message_count = session.message_count
    target.labels.update(session.labels)
    target.metadata_json = session.metadata.decode()
    target.close_reason = session.close_reason
    checks.to_timestamp(session.create_time, target.create_time)
    checks.to_timestamp(session.update_time, target.update_time)
    checks.to_timestamp(session.last_activity_time, target.last_activity_time)
    if session.close_time is not None:
        checks.to_timestamp(session.close_time, target.close_time)
    target.active_run_id = session.active_run_id
    if session.forked_from is not None:
        target.forked_from.session_id = session.forked_from.session_id
        target.forked_from.version = session.forked_from.version
    if session.delete_time is not None:
        checks.to_timestamp(session.delete_time, target.delete_time)
    if session.purge_time is not None:
        checks.to_timestamp(session.purge_time, target.purge_time)
    if session.expire_time is not None:
        checks.to_timestamp(session.expire_time, target.expire_time)
    if session.idle_ttl is not None:
        checks.to_duration(session.idle_ttl, target.idle_ttl)


def fill_receipt(target: commit_pb2.CommitReceipt, receipt: Receipt, store_epoch: str) -> None:
    """Write a receipt."""
    target.version = receipt.version
    target.first_seq = receipt.first_seq
    target.last_seq = receipt.last_seq
    target.message_ids.extend(receipt.message_ids)
    target.tool_call_ids.extend(receipt.tool_call_ids)
    target.memory_version = receipt.memory_version
    checks.to_timestamp(receipt.commit_time, target.commit_time)
    target.store_epoch = store_epoch
    target.replayed = receipt.replayed


def labels(given: Mapping[str, str], field: str, *, labels_max: int, characters_max: int) -> dict[str, str]:
    """Check labels."""
    if len(given) > labels_max:
        raise InvalidField(field, f"holds more than {labels_max}")
    for key, value in given.items():
        checks.identifier(key, f"{field} key", characters_max)
        checks.identifier(value, field, characters_max, required=False)
    return dict(given)


def expiration(
    kind: str | None, expire_time: Timestamp, ttl: Duration, idle_ttl: Duration | None = None, *, prefix: str = ""
) -> Expiration:
    """Check how long a session is to live; `kind` says which of the first two was given."""
    return Expiration(
        expire_time=checks.instant(expire_time, f"{prefix}expire_time") if kind == "expire_time" else None,
        ttl=checks.life(ttl, "ttl") if kind == "ttl" else None,
        idle_ttl=None if idle_ttl is None else checks.life(idle_ttl, f"{prefix}idle_ttl"),
    )
