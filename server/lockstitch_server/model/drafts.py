"""Drafts: messages whose text is being generated."""

from dataclasses import dataclass
from uuid import UUID

from lockstitch_server.model.identity import SessionKey
from lockstitch_server.model.messages import MessageRole

_KIND, _CONTINUES = 0b1100_0000, 0b1000_0000


def is_within_character(text: bytes | bytearray, place: int) -> bool:
    """Whether a place in UTF-8 text lies within a character."""
    return place < len(text) and text[place] & _KIND == _CONTINUES


@dataclass(frozen=True, slots=True)
class NewDraft:
    """What a draft is opened with: its message without the text."""

    draft_id: str
    role: MessageRole
    header: bytes
    """The message, serialized."""


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A piece of text on its way into a draft."""

    tenant_id: str
    key: SessionKey
    request_id_hash: UUID
    offset: int
    text: bytes | None
    """None only looks; no text at all says that somebody is there."""


@dataclass(frozen=True, slots=True)
class DraftPiece:
    """What a draft holds from an offset on."""

    request_id_hash: UUID
    draft_id: str
    role: MessageRole
    run_id: str
    offset: int
    text: bytes


@dataclass(frozen=True, slots=True)
class DraftText:
    """A piece of text as a caller sends it, with how many bytes come before it."""

    offset: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Draft:
    """What is stored of a draft: its message without the text, serialized, and the text."""

    header: bytes
    text: bytes
