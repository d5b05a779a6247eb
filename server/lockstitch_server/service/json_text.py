"""JSON as text: checked, cut into members and merged without changing a byte of what is not touched."""

import re
from dataclasses import dataclass
from hashlib import sha256
from json import JSONDecoder
from typing import NoReturn, TypeAlias

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
        orjson.loads(_STRING_OR_NUMBER.sub(_small, text))
    except orjson.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg}") from None


def _small(token: re.Match[bytes]) -> bytes:
    # The blanks keep what stands around a number from becoming a part of it: --1 or 1e9991e999.
    return token[0] if token[0][:1] == b'"' else b" 0 "


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
    """One member of an object, as places in the text that holds it: nothing is copied before it is asked for."""

    key: bytes
    """As UTF-8 text."""
    source: bytes
    start: int
    """Of the member with its blanks."""
    value_start: int
    value_end: int
    end: int
    members: "list[Member] | None"
    """Of the value, where it is an object."""
    holds_null: bool
    """Whether the value is null, or an object that holds one at any depth."""

    @property
    def value(self) -> bytes:
        """The value's text."""
        return self.source[self.value_start : self.value_end]

    @property
    def text(self) -> bytes:
        """The whole text, blanks included."""
        return self.source[self.start : self.end]

    @property
    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.source.startswith(b"null", self.value_start)


class _Open:
    """An object or array that was opened and not yet closed, while a text is cut."""

    __slots__ = ("colon", "holds_null", "last", "members", "start")

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start = start
        self.colon = -1
        self.holds_null = False
        self.members: list[Member] | None = [] if is_object else None
        self.last: _Open | None = None

    def end_member(self, text: bytes, end: int) -> None:
        if self.members is not None and self.colon >= 0:
            value_start, value_end = self.colon, end
            while text[value_start] in _BLANKS:
                value_start += 1
            while text[value_end - 1] in _BLANKS:
                value_end -= 1
            inner = None if self.last is None else self.last.members
            holds_null = text.startswith(b"null", value_start) or (self.last is not None and self.last.holds_null)
            key = orjson.loads(text[self.start : self.colon - 1]).encode()
            self.members.append(Member(key, text, self.start, value_start, value_end, end, inner, holds_null))
            self.holds_null = self.holds_null or holds_null
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
            stack[-1].last = closed
    return None if outer.last is None else outer.last.members


def merge(target: bytes | None, patch: bytes) -> bytes:
    """Apply a JSON merge patch (RFC 7396) to a value.

    Every byte of the target that the patch does not name is kept, and every byte of a new value that holds no null.
    """
    changes = members(patch)
    if changes is None:
        return patch
    old = None if target is None else members(target)
    if old is None and not any(change.holds_null for change in changes):
        return patch
    merged = _merge(old, changes)
    return target or b"" if merged is None else _joined(merged)


_Piece: TypeAlias = "bytes | Member | list[_Piece]"


class _Merged:
    """An object's members while a patch is merged into them."""

    def __init__(self, old: list[Member] | None) -> None:
        self._old = old or []
        self._kept: list[_Piece | None] = list(self._old)
        self._changed = old is None
        self._places: dict[bytes, list[int]] = {}
        for place, member in enumerate(self._old):
            self._places.setdefault(member.key, []).append(place)

    def last(self, key: bytes) -> Member | None:
        """What a key stands for: the last of its members, as most readers have it."""
        places = self._places.get(key)
        return self._old[places[-1]] if places else None

    def put(self, key: bytes, value: "_Piece | None") -> None:
        """Set a key in its place, a new one at the end; None deletes it."""
        places = self._places.get(key, [])
        self._changed = self._changed or value is not None or bool(places)
        for place in places:
            self._kept[place] = None
        if value is not None:
            piece: _Piece = [orjson.dumps(key.decode()), b":", value]
            if places:
                self._kept[places[-1]] = piece
            else:
                self._kept.append(piece)

    def keep(self, member: Member) -> None:
        """Leave a key as it is; where it is there twice, only its last member stays."""
        if len(self._places[member.key]) > 1:
            self.put(member.key, member.value)

    def pieces(self) -> list[_Piece] | None:
        """The pieces of the new text, None where nothing changed."""
        if not self._changed:
            return None
        pieces: list[_Piece] = []
        for piece in self._kept:
            if piece is not None:
                pieces.extend((b"," if pieces else b"{", piece))
        pieces.append(b"}" if pieces else b"{}")
        return pieces


def _merge(old: list[Member] | None, changes: list[Member]) -> list[_Piece] | None:
    """Merge into an object's members; a key that the patch holds twice counts as its last."""
    merged = _Merged(old)
    for change in {change.key: change for change in changes}.values():
        before = merged.last(change.key)
        inner = None if before is None else before.members
        if change.is_null:
            merged.put(change.key, None)
        elif change.members is not None and (inner is not None or change.holds_null):
            value = _merge(inner, change.members)
            if value is None and before is not None:
                merged.keep(before)
            else:
                merged.put(change.key, value)
        elif before is not None and before.value == change.value:
            merged.keep(before)
        else:
            merged.put(change.key, change.value)
    return merged.pieces()


def _joined(pieces: list[_Piece]) -> bytes:
    """The text that pieces make, at every depth, each byte copied once."""
    texts: list[bytes] = []
    stack: list[_Piece] = [pieces]
    while stack:
        piece = stack.pop()
        if isinstance(piece, list):
            stack.extend(reversed(piece))
        else:
            texts.append(piece.text if isinstance(piece, Member) else piece)
    return b"".join(texts)


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
