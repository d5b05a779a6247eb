"""Pages: their size, and tokens that any server of the store can check."""

import base64
import binascii
import hmac
from dataclasses import dataclass
from typing import Generic, TypeVar, cast, overload

import orjson

from lockstitch_server.errors import InvalidField, PageTokenInvalid

_MAC_BYTES = 16
Item = TypeVar("Item")
First = TypeVar("First", int, str)
Second = TypeVar("Second", int, str)
Third = TypeVar("Third", int, str)
Fourth = TypeVar("Fourth", int, str)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of which list is asked for."""

    page_size: int
    page_token: str
    bound_to: bytes
    """What a token is good for: the caller's reach, the method and its other arguments."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A page of a list."""

    items: tuple[Item, ...]
    next_page_token: str


class Paging:
    """Sizes pages, and makes and checks their tokens."""

    def __init__(self, secret: bytes, *, default_size: int, max_size: int, answer_bytes_max: int) -> None:
        """The secret lies in the database, so that every server takes every server's tokens."""
        self._secret = secret
        self._default_size = default_size
        self._max_size = max_size
        self.answer_bytes_max = answer_bytes_max

    def size(self, page: PageRequest) -> int:
        """The number of items that a page may have."""
        if page.page_size < 0:
            raise InvalidField("page_size", "must be 0 or more")
        return min(page.page_size or self._default_size, self._max_size)

    def token(self, page: PageRequest, *cursor: int | str) -> str:
        """The token of the page that begins behind a cursor."""
        payload = orjson.dumps(cursor)
        return base64.urlsafe_b64encode(self._mac(page, payload) + payload).rstrip(b"=").decode()

    @overload
    def cursor(self, page: PageRequest, types: tuple[type[First]]) -> tuple[First] | None: ...
    @overload
    def cursor(self, page: PageRequest, types: tuple[type[First], type[Second]]) -> tuple[First, Second] | None: ...
    @overload
    def cursor(
        self, page: PageRequest, types: tuple[type[First], type[Second], type[Third]]
    ) -> tuple[First, Second, Third] | None: ...
    @overload
    def cursor(
        self, page: PageRequest, types: tuple[type[First], type[Second], type[Third], type[Fourth]]
    ) -> tuple[First, Second, Third, Fourth] | None: ...
    def cursor(self, page: PageRequest, types: tuple[type, ...]) -> tuple[object, ...] | None:
        """The cursor of the request's token, None on the first page; raises PageTokenInvalid."""
        if not page.page_token:
            return None
        try:
            padding = "=" * (-len(page.page_token) % 4)
            raw = base64.b64decode(page.page_token + padding, altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise PageTokenInvalid from None
        mac, payload = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        # A token has one spelling: trailing bits that decode to nothing are not ours either.
        spelled = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
        if spelled != page.page_token or not hmac.compare_digest(mac, self._mac(page, payload)):
            raise PageTokenInvalid
        cursor = cast("list[object]", orjson.loads(payload))
        if [type(value) for value in cursor] != list(types):
            raise PageTokenInvalid
        return tuple(cursor)

    def _mac(self, page: PageRequest, payload: bytes) -> bytes:
        return hmac.digest(self._secret, page.bound_to + b"\0" + payload, "sha256")[:_MAC_BYTES]
