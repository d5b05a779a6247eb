"""What commands print: JSON for programs, tables for people, and nothing that could steer a terminal."""

import json
import sys
from base64 import b64encode
from collections.abc import Mapping, MutableSequence
from datetime import UTC, datetime
from typing import Protocol

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console

Plain = dict[str, object]


def is_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout.isatty()


def console(*, stderr: bool = False) -> Console:
    """A console that takes text as it is: no markup, no emoji codes, no numbers in colour."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def write_json(value: object) -> None:
    """One JSON text on one line of stdout."""
    sys.stdout.write(compact(value) + "\n")


def compact(value: object) -> str:
    """JSON text without blanks, its text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def say(sentence: str) -> None:
    """Tell a person, beside what the command gives."""
    sys.stderr.write(f"lockstitch: {on_one_line(sentence)}\n")


def shown(text: str) -> str:
    """Foreign text for a terminal: line breaks stay, other control characters are made visible."""
    return "".join(
        character if character == "\n" or character.isprintable() else _visible(character) for character in text
    )


def on_one_line(text: str, characters_max: int = 0) -> str:
    """Foreign text for one line of a terminal, cut where it is too long."""
    line = shown(" ".join(text.split())) if text else ""
    return f"{line[: characters_max - 1]}…" if 0 < characters_max < len(line) else line


def _visible(character: str) -> str:
    return "    " if character == "\t" else ascii(character)[1:-1]


def moment(stamp: Timestamp) -> str:
    """An instant in this machine's time zone, to the second."""
    return stamp.ToDatetime(UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def ago(stamp: Timestamp, now: datetime) -> str:
    """How long ago, in its largest unit."""
    seconds = max((now - stamp.ToDatetime(UTC)).total_seconds(), 0.0)
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return "now" if seconds < 1 else f"{seconds:.0f} s ago"


def plain(message: Message, *, whole: bool = True) -> Plain:
    """A message of the wire as JSON's types: names as in the protos, numbers as numbers, times as RFC 3339.

    `whole` gives fields of no value too, unless their absence means something.
    """
    return {
        field.name: _plain(getattr(message, field.name), _names(field.enum_type), whole=whole)
        for field in message.DESCRIPTOR.fields
        if (whole and not field.has_presence) or _is_given(message, field.name, has_presence=field.has_presence)
    }


def _is_given(message: Message, field: str, *, has_presence: bool) -> bool:
    return message.HasField(field) if has_presence else bool(getattr(message, field))


def _names(enum: "_Enum | None") -> Mapping[int, "_Value"] | None:
    return None if enum is None else enum.values_by_number


class _Value(Protocol):
    @property
    def name(self) -> str: ...


class _Enum(Protocol):
    @property
    def values_by_number(self) -> Mapping[int, _Value]: ...


def _plain(value: object, names: Mapping[int, _Value] | None, *, whole: bool) -> object:
    match value:
        case Timestamp() | Duration():
            return value.ToJsonString()
        case Message():
            return plain(value, whole=whole)
        case Mapping():
            return dict(value)
        case MutableSequence():
            return [_plain(item, names, whole=whole) for item in value]
        case _:
            return _scalar(value, names)


def _scalar(value: object, names: Mapping[int, _Value] | None) -> object:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if names is not None and isinstance(value, int) and value in names:
        return names[value].name
    return value
