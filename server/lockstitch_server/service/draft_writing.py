"""Text on its way into drafts: gathered for all drafts of this process, and stored in one statement a tick."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID

import structlog

from lockstitch_server import tasks
from lockstitch_server.errors import LockstitchError
from lockstitch_server.model import DraftPiece, DraftStep, SessionKey
from lockstitch_server.store.drafts import DraftStore

TICK_SECONDS = 0.1
_LOOK_SECONDS = 2.0
"""How often drafts that get no text are looked at: whether they are still there."""

_STEPS_MAX = 64
"""The most drafts that one statement adds to."""

_PENDING_BYTES_MAX = 256 * 1024
"""How much text of one draft waits; then its caller waits, too."""

_log = structlog.get_logger(__name__)


class OpenDraft:
    """A draft that somebody writes to on this process: what was received, and what of it is stored."""

    def __init__(self, *, tenant_id: str, piece: DraftPiece, key: SessionKey, gone: Callable[[], None]) -> None:
        """`piece` says which draft it is, and how far it is stored; `gone` is called when it is not there any more."""
        self._gone = gone
        self.tenant_id = tenant_id
        self.key = key
        self.piece = piece
        self.stored = self.received = piece.offset
        self.pending = bytearray()
        self.is_alive = False
        """Whether somebody said so, without any text, since the last tick."""
        self.is_gone = False
        self.failure: LockstitchError | None = None
        self._moved = asyncio.Event()

    @property
    def request_id_hash(self) -> UUID:
        """The draft's key within its session."""
        return self.piece.request_id_hash

    def moved(self) -> None:
        """Something of it was stored, or could not be."""
        self._moved.set()

    def ended(self) -> None:
        """It is not there any more."""
        self.is_gone = True
        self._gone()
        self._moved.set()

    async def room(self) -> None:
        """Wait until more text may be received."""
        await self._until(lambda: len(self.pending) < _PENDING_BYTES_MAX)

    async def drained(self) -> None:
        """Wait until all that was received is stored."""
        await self._until(lambda: not self.pending and self.stored >= self.received)

    async def _until(self, fulfilled: Callable[[], bool]) -> None:
        while not fulfilled() and not self.is_gone:
            if self.failure is not None:
                raise self.failure
            self._moved.clear()
            await self._moved.wait()


class DraftWriting:
    """Stores what open drafts received, ten times a second, all drafts of this process in one statement."""

    def __init__(self, store: DraftStore, stored: Callable[[SessionKey, DraftPiece], None]) -> None:
        """`stored` is told of each piece of text that was stored."""
        self._store = store
        self._stored = stored
        self._open: set[OpenDraft] = set()
        self._waiting: dict[OpenDraft, None] = {}
        self._some = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Store until the context ends."""
        task = asyncio.create_task(self._run(), name="drafts")
        try:
            yield
        finally:
            await tasks.ended(task)

    @contextmanager
    def opened(self, draft: OpenDraft) -> Iterator[None]:
        """Look after a draft while somebody writes to it here."""
        self._open.add(draft)
        try:
            yield
        finally:
            self._open.discard(draft)

    def receive(self, draft: OpenDraft, text: bytes) -> None:
        """Take what follows on what a draft received; no text at all says that somebody is there."""
        draft.pending += text
        draft.received += len(text)
        draft.is_alive = draft.is_alive or not text
        self._waiting[draft] = None
        self._some.set()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        look = clock() + _LOOK_SECONDS
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._some.wait()
            await asyncio.sleep(TICK_SECONDS)
            self._some.clear()
            if clock() >= look:
                self._waiting.update(dict.fromkeys(self._open))
                look = clock() + _LOOK_SECONDS
            waiting, self._waiting = list(self._waiting), {}
            # In the order of their keys, so that two processes never wait for each other.
            waiting.sort(key=lambda draft: (draft.key.bytes, draft.request_id_hash.bytes))
            for start in range(0, len(waiting), _STEPS_MAX):
                await self._store_some(waiting[start : start + _STEPS_MAX])

    async def _store_some(self, drafts: list[OpenDraft]) -> None:
        steps = [
            DraftStep(
                tenant_id=draft.tenant_id,
                key=draft.key,
                request_id_hash=draft.request_id_hash,
                offset=draft.stored,
                text=bytes(draft.pending) if draft.pending or draft.is_alive else None,
            )
            for draft in drafts
        ]
        for draft in drafts:
            draft.is_alive = False
        try:
            ends = await self._store.add(steps)
        except LockstitchError as error:
            # Steps may be stored twice, so their callers send them again.
            _fail(drafts, error)
            return
        except Exception as error:  # noqa: BLE001 - one bad tick must not end the others
            _log.exception("drafts could not be stored")
            _fail(drafts, LockstitchError(str(error)))
            return
        for draft, step, end in zip(drafts, steps, ends, strict=True):
            self._settle(draft, step, end)

    def _settle(self, draft: OpenDraft, step: DraftStep, end: int | None) -> None:
        if end is None:
            draft.ended()
            return
        if end > draft.stored and step.text:
            # Where another server added to it meanwhile, what it stored is passed over.
            count = min(end - draft.stored, len(draft.pending))
            piece = draft.piece
            self._stored(
                draft.key,
                DraftPiece(
                    request_id_hash=piece.request_id_hash,
                    draft_id=piece.draft_id,
                    role=piece.role,
                    run_id=piece.run_id,
                    offset=draft.stored,
                    text=step.text[:count],
                ),
            )
            del draft.pending[:count]
            draft.stored += count
        if draft.pending:
            self._waiting[draft] = None
            self._some.set()
        draft.moved()


def _fail(drafts: list[OpenDraft], error: LockstitchError) -> None:
    for draft in drafts:
        draft.failure = error
        draft.moved()
