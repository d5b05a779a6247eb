"""The open drafts of a session that is subscribed to, as far as this process knows their text."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from lockstitch_server import ids
from lockstitch_server.model import Commit, DraftPiece, MessageRole, Method, is_within_character

PIECE_BYTES_MAX = 1024 * 1024
"""The most text of one frame."""

ROOM_BYTES = 64 * 1024 * 1024
"""How much text of drafts is kept in this process, for all its streams; one that finds no room is given no further."""

_ALL = 2**62


class Room:
    """Where the text of all drafts is counted."""

    def __init__(self, size: int = ROOM_BYTES) -> None:
        """All of it is free."""
        self._free = size

    def take(self, count: int) -> bool:
        """Take so many bytes, if there are as many."""
        if count > self._free:
            return False
        self._free -= count
        return True

    def give_back(self, count: int) -> None:
        """Let others have so many."""
        self._free += count


class LiveDraft:
    """One draft, from its first sight to the commit that closes it; one that is begun anew is another."""

    __slots__ = ("_lost_hash", "draft_id", "is_hidden", "request_id_hash", "role", "run_id", "text")

    def __init__(self, piece: DraftPiece) -> None:
        self.request_id_hash = piece.request_id_hash
        self.draft_id = piece.draft_id
        self.role: MessageRole = piece.role
        self.run_id = piece.run_id
        self.text = bytearray()
        self.is_hidden = False
        """Whether there was no room for it."""
        self._lost_hash = ids.request_id_hash(f"server:draft/{piece.draft_id}").bytes

    @property
    def known(self) -> int:
        """How much of its text need not be read."""
        return _ALL if self.is_hidden else len(self.text)

    def is_closed_by(self, commit: Commit) -> bool:
        """Whether a commit made a message of it, whoever made it."""
        if commit.request_id_hash in (self.request_id_hash.bytes, self._lost_hash):
            return True
        if commit.method is not Method.LOSE_DRAFT:
            return False
        # It was lost before, and begun anew.
        again = ids.request_id_hash(f"server:draft/{self.draft_id}/{commit.version}")
        return commit.request_id_hash == again.bytes


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a stream is given of a draft."""

    draft_id: str
    role: MessageRole
    run_id: str
    offset: int
    text: str


class LiveDrafts:
    """A session's drafts: fed by this process's own pieces and by reads, ended by commits."""

    def __init__(self, room: Room) -> None:
        """None is known."""
        self._room = room
        self._drafts: dict[UUID, LiveDraft] = {}
        self._commits_meanwhile: list[Commit] | None = None

    def __iter__(self) -> Iterator[LiveDraft]:
        return iter(self._drafts.values())

    def __len__(self) -> int:
        return len(self._drafts)

    def extend(self, piece: DraftPiece) -> bool:
        """Take text that follows on what is known; False where it does not, or where the draft is not known."""
        draft = self._drafts.get(piece.request_id_hash)
        # Whether a draft that is not known is there still, only the store can say.
        return draft is not None and self._extend(draft, piece)

    def close(self, commit: Commit) -> None:
        """Let go what a commit closes."""
        if self._commits_meanwhile is not None:
            self._commits_meanwhile.append(commit)
        for draft in [draft for draft in self._drafts.values() if draft.is_closed_by(commit)]:
            self._let_go(draft)

    def begin_read(self) -> Mapping[UUID, int]:
        """What is known already. What is closed until `end_read` is not taken from what was read."""
        self._commits_meanwhile = []
        return {key: draft.known for key, draft in self._drafts.items()}

    def end_read(self, pieces: Collection[DraftPiece]) -> bool:
        """Take what was read, which are all drafts that there are; False where it has to be read again."""
        commits, self._commits_meanwhile = self._commits_meanwhile or [], None
        there = {piece.request_id_hash for piece in pieces}
        for draft in [draft for key, draft in self._drafts.items() if key not in there]:
            self._let_go(draft)
        is_whole = True
        for piece in pieces:
            draft = self._drafts.get(piece.request_id_hash) or LiveDraft(piece)
            if any(draft.is_closed_by(commit) for commit in commits):
                # Maybe it is gone, maybe it was begun anew.
                is_whole = False
                continue
            self._drafts[piece.request_id_hash] = draft
            if not self._extend(draft, piece):
                self._let_go(draft)
                is_whole = False
        return is_whole

    def give_up_read(self) -> None:
        """It could not be read."""
        self._commits_meanwhile = None

    def let_all_go(self) -> None:
        """Nobody follows the session any more."""
        for draft in list(self._drafts.values()):
            self._let_go(draft)

    def _extend(self, draft: LiveDraft, piece: DraftPiece) -> bool:
        if draft.is_hidden:
            return True
        count = len(draft.text)
        known, new = piece.text[: count - piece.offset], piece.text[count - piece.offset :]
        if piece.offset > count or not draft.text.startswith(known, piece.offset):
            return False
        if self._room.take(len(new)):
            draft.text += new
        else:
            self._room.give_back(count)
            draft.text.clear()
            draft.is_hidden = True
        return True

    def _let_go(self, draft: LiveDraft) -> None:
        del self._drafts[draft.request_id_hash]
        self._room.give_back(len(draft.text))
        # Streams that were given some of it remember how much for a while.
        draft.text.clear()


class Reading:
    """How far one stream was given each draft."""

    def __init__(self, roles: frozenset[MessageRole]) -> None:
        """Only drafts of these roles; all where there is none."""
        self._roles = roles
        self._given: dict[LiveDraft, int] = {}

    def next(self, drafts: LiveDrafts) -> Drafted | None:
        """What follows of some draft; None where all was given."""
        for draft in drafts:
            offset = self._given.get(draft, 0)
            if offset >= len(draft.text) or (self._roles and draft.role not in self._roles):
                continue
            end = _end_of_character(draft.text, min(len(draft.text), offset + PIECE_BYTES_MAX))
            if len(self._given) > len(drafts):
                there = set(drafts)
                self._given = {known: count for known, count in self._given.items() if known in there}
            self._given[draft] = end
            # Two callers who say different things may meet within a character.
            text = draft.text[offset:end].decode(errors="replace")
            return Drafted(draft.draft_id, draft.role, draft.run_id, offset, text)
        return None


def _end_of_character(text: bytearray, end: int) -> int:
    """The end of the last whole character up to an end."""
    while is_within_character(text, end):
        end -= 1
    return end
