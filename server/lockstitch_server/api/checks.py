"""Checks of single fields: each raises InvalidField with the field's name."""

from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch_server.errors import InvalidField
from lockstitch_server.service import json_text

TITLE_CHARACTERS_MAX = 1024
REASON_CHARACTERS_MAX = 1024
URI_CHARACTERS_MAX = 2048
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP_SECONDS_MIN, _TIMESTAMP_SECONDS_MAX = -62135596800, 253402300799
_NANOS_MAX = 999_999_999
_TTL_MIN, _TTL_MAX = timedelta(seconds=1), timedelta(days=36_525)


def identifier(value: str, field: str, characters_max: int, *, required: bool = True) -> str:
    """1 to `characters_max` printable characters, taken exactly as they are; the empty one only where not required."""
    if not value:
        if required:
            raise InvalidField(field, "is required")
        return value
    if len(value) > characters_max:
        raise InvalidField(field, f"is longer than {characters_max} characters")
    if not value.isprintable():
        raise InvalidField(field, "holds a character that is not printable")
    return value


def line(value: str, field: str, characters_max: int) -> str:
    """Text for people, without control characters."""
    if len(value) > characters_max:
        raise InvalidField(field, f"is longer than {characters_max} characters")
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in value):
        raise InvalidField(field, "holds a control character")
    return value


def json(value: str, field: str, bytes_max: int | None = None) -> bytes:
    """JSON text, as bytes."""
    text = value.encode()
    if bytes_max is not None and len(text) > bytes_max:
        raise InvalidField(field, f"is larger than {bytes_max} bytes")
    try:
        json_text.check(text)
    except json_text.JsonError as error:
        raise InvalidField(field, str(error)) from None
    return text


def not_negative(value: int, field: str) -> int:
    """0 or more."""
    if value < 0:
        raise InvalidField(field, "must be 0 or more")
    return value


def instant(value: Timestamp, field: str) -> datetime:
    """A time in the years 1 to 9999, to the microsecond."""
    if not (_TIMESTAMP_SECONDS_MIN <= value.seconds <= _TIMESTAMP_SECONDS_MAX and 0 <= value.nanos <= _NANOS_MAX):
        raise InvalidField(field, "is not a time in the years 1 to 9999")
    return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)


def life(value: Duration, field: str) -> timedelta:
    """A time to live: 1 second to 100 years."""
    return span(value, field, _TTL_MIN, _TTL_MAX)


def span(value: Duration, field: str, least: timedelta, most: timedelta) -> timedelta:
    """A span of time between two bounds, to the microsecond."""
    seconds_max = most // timedelta(seconds=1)
    if 0 <= value.seconds <= seconds_max and 0 <= value.nanos <= _NANOS_MAX:
        given = timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
        # What is below a microsecond is dropped, but only of a span that is no longer than the longest.
        if least <= given <= most and (given < most or value.nanos % 1000 == 0):
            return given
    raise InvalidField(field, f"must be {least.total_seconds():g} to {most.total_seconds():g} seconds")


def to_timestamp(value: datetime, target: Timestamp) -> None:
    """Write a time to a message's field, exactly."""
    span = value - _EPOCH
    target.seconds = span.days * 86_400 + span.seconds
    target.nanos = span.microseconds * 1000


def to_duration(value: timedelta, target: Duration) -> None:
    """Write a span of time to a message's field, exactly."""
    target.seconds = value.days * 86_400 + value.seconds
    target.nanos = value.microseconds * 1000
