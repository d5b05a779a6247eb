"""Python values as the wire wants them, and clear words where they can't be."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from reprlib import repr as shortened
from types import TracebackType
from typing import Self

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.errors import FieldViolation, InvalidField


class JsonText(str):
    """Text that is JSON already, such as a provider's arguments: sent as it is, byte for byte.

    Wherever this package takes a Python object to be sent as JSON, it takes one of these as well::

        tool("c1", JsonText('{"order": 7203685477580123457, "rate": 1e3}'))
    """

    __slots__ = ()


def to_json(value: object, *, field: str) -> str:
    """A Python object as compact JSON text: keys in their order, integers exact, text as it is.

    Raises:
        InvalidField: NaN, an infinity, a circular reference or a lone surrogate within.
        TypeError: An object that JSON has no form for.
    """
    if isinstance(value, JsonText):
        return checked_text(value, field=field)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise refused(field, f"can't be written as JSON: {error}") from error
    return checked_text(text, field=field)


def checked_text(text: str, *, field: str) -> str:
    """The text, as a plain str, if it can be sent.

    Raises:
        InvalidField: It holds a lone surrogate, which UTF-8 has no form for.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise refused(field, _surrogate(error)) from error
    return str(text)


def checked_labels(labels: Mapping[str, str] | None) -> dict[str, str]:
    """Labels, or none."""
    return {
        checked_text(key, field="labels"): checked_text(value, field=f"labels[{key!r}]")
        for key, value in (labels or {}).items()
    }


class Sendable:
    """Turns a bare codec error of a block that fills a request into an InvalidField that says which text it was."""

    def __init__(self, request: str) -> None:
        self._request = request

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(error, UnicodeEncodeError):
            raise refused(self._request, f"{shortened(error.object)} {_surrogate(error)}") from error


def timestamp(instant: datetime | None, *, field: str) -> Timestamp | None:
    """An instant, which must say its time zone."""
    if instant is None:
        return None
    if instant.tzinfo is None:
        raise refused(field, "has no time zone: give it one, such as datetime.UTC")
    sent = Timestamp()
    sent.FromDatetime(instant)
    return sent


def duration(length: timedelta | None) -> Duration | None:
    """A length of time."""
    if length is None:
        return None
    sent = Duration()
    sent.FromTimedelta(length)
    return sent


def refused(field: str, description: str) -> InvalidField:
    """The error of a field that can't be sent, shaped like the server's own."""
    return InvalidField(
        f"{field}: {description}.",
        reason="INVALID_FIELD",
        field_violations=(FieldViolation(field, description),),
    )


def _surrogate(error: UnicodeEncodeError) -> str:
    code_point = ord(error.object[error.start])
    return f"holds a lone surrogate (U+{code_point:04X} at character {error.start}), which can't be sent as UTF-8"
