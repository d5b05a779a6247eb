"""JSON as text: checked, cut into members and merged without changing a byte of what is not touched."""

import re
from dataclasses import dataclass
from hashlib import sha256
from json import JSONDecoder
from typing import NoReturn

import orjson

NESTING_MAX = 512
_BLANKS = b" \t\r\n"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRING_OR_NUMBER = re.compile(_STRING + rb"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.DOTALL)
_TOKEN = re.compile(_STRING + rb"|[][{},:]", re.DOTALL)
_OUT_OF_RANGE = "number is infinity"


class JsonError(ValueError):
    """A text is not what it should be; says what is wrong and where, and quotes nothing of it."""


def check(text: bytes) -> None:
    """Raise JsonError unless this is JSON: no NaN, no lone surrogate, nesting at most 512; numbers of any size."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if not error.msg.startswith(_OUT_OF_RANGE):
            raise JsonError(_reason(error)) from None
        _check_shape(text)
    if text.count(b"[") + text.count(b"{") > NESTING_MAX and _nesting(text) > NESTING_MAX:
        raise JsonError(f"nested deeper than {NESTING_MAX}")


def _check_shape(text: bytes) -> None:
    """Check a text whose numbers a double can't hold, by putting a small number in the place of each."""
    try:
        orjson.loads(_STRING_OR_NUMBER.sub(lambda token: token[0] if token[0][:1] == b'"' else b"0", text))
    except orjson.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg}") from None


def _reason(error: orjson.JSONDecodeError) -> str:
    return f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"


def _nesting(text: bytes) -> int:
    depth = deepest = 0
    for match in _TOKEN.finditer(text):
        first = match[0][:1]
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in b"]}":
            depth -= 1
    return deepest


def is_object(text: bytes) -> bool:
    """Whether a checked JSON text is an object."""
    return text.lstrip(_BLANKS)[:1] == b"{"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: its key as UTF-8 text, its value's text, and its whole text, blanks included."""

    key: bytes
    value: bytes
    text: bytes
    members: "list[Member] | None"
    """Of the value, where it is an object."""

    @property
    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value == b"null"


class _Open:
    """An object or array that was opened and not yet closed, while a text is cut."""

    __slots__ = ("colon", "last", "members", "start")

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start = start
        self.colon = -1
        self.members: list[Member] | None = [] if is_object else None
        self.last: list[Member] | None = None

    def end_member(self, text: bytes, end: int) -> None:
        if self.members is not None and self.colon >= 0:
            key = orjson.loads(text[self.start : self.colon - 1]).encode()
            value = text[self.colon : end].strip(_BLANKS)
            self.members.append(Member(key, value, text[self.start : end], self.last))
        self.colon, self.last = -1, None


def members(text: bytes) -> list[Member] | None:
    """Cut a checked JSON text into its members at every depth, in one pass; None for what is not an object."""
    outer = _Open(0, is_object=False)
    stack = [outer]
    for match in _TOKEN.finditer(text):
        first = match[0][:1]
        if first in b"[{":
            # Objects within arrays are never merged into, so arrays stay whole.
            reachable = len(stack) == 1 or stack[-1].members is not None
            stack.append(_Open(match.end(), is_object=first == b"{" and reachable))
        elif first == b":":
            stack[-1].colon = match.end()
        elif first == b",":
            stack[-1].end_member(text, match.start())
            stack[-1].start = match.end()
        elif first in b"]}":
            closed = stack.pop()
            closed.end_member(text, match.start())
            stack[-1].last = closed.members
    return outer.last


def merge(target: bytes | None, patch: bytes) -> bytes:
    """Apply a JSON merge patch (RFC 7396) to a value. Every byte of the target that the patch does not name is kept."""
    changes = members(patch)
    if changes is None:
        return patch
    return _merge(None if target is None else members(target), changes, target or b"")


def _merge(old: list[Member] | None, changes: list[Member], unchanged: bytes) -> bytes:
    """Merge into an object's members; a key that the patch holds twice counts as its last, as most readers have it."""
    texts: list[bytes | None] = [member.text for member in old or ()]
    sources = {member.key: member for member in old or ()}
    places: dict[bytes, list[int]] = {}
    for place, member in enumerate(old or ()):
        places.setdefault(member.key, []).append(place)
    changed = old is None
    for change in {change.key: change for change in changes}.values():
        before, at = sources.get(change.key), places.get(change.key, [])
        if change.is_null:
            replacement = None
        else:
            value = change.value
            if change.members is not None:
                inner = None if before is None else before.members
                value = _merge(inner, change.members, b"" if before is None else before.value)
            if before is not None and before.value == value and len(at) == 1:
                continue
            replacement = orjson.dumps(change.key.decode()) + b":" + value
        changed = changed or replacement is not None or bool(at)
        for place in at:
            texts[place] = None
        if replacement is not None and at:
            texts[at[-1]] = replacement
        elif replacement is not None:
            texts.append(replacement)
    return b"{" + b",".join(text for text in texts if text is not None) + b"}" if changed else unchanged


class _Number(str):
    """A number by its text."""

    __slots__ = ()


def _refuse_constant(_: str) -> NoReturn:
    raise JsonError("not JSON: NaN and Infinity are not values")


_READER = JSONDecoder(object_pairs_hook=tuple, parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant)


def canonical_digest(text: bytes) -> bytes:
    """The first 16 bytes of SHA-256 of a checked JSON text with keys sorted, blanks gone, number text kept."""
    pieces: list[bytes] = []
    _write_canonical(_READER.decode(text.decode()), pieces)
    return sha256(b"".join(pieces)).digest()[:16]


def _write_canonical(value: object, pieces: list[bytes]) -> None:
    if isinstance(value, _Number):
        pieces.append(value.encode())
    elif isinstance(value, tuple):
        separator = b"{"
        for key, member in sorted(value, key=_first):
            pieces.extend((separator, orjson.dumps(key), b":"))
            _write_canonical(member, pieces)
            separator = b","
        pieces.append(b"}" if value else b"{}")
    elif isinstance(value, list):
        separator = b"["
        for item in value:
            pieces.append(separator)
            _write_canonical(item, pieces)
            separator = b","
        pieces.append(b"]" if value else b"[]")
    else:
        pieces.append(orjson.dumps(value))


def _first(pair: tuple[str, object]) -> str:
    return pair[0]
