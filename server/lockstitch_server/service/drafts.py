"""Drafts: messages that are stored while they are generated, and committed when they are done."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta

from lockstitch_server.errors import CursorAhead, Draining, InvalidField, MessageTooLarge
from lockstitch_server.model import (
    Change,
    Content,
    Draft,
    DraftPiece,
    DraftText,
    NewDraft,
    Receipt,
    is_within_character,
)
from lockstitch_server.service import outcomes
from lockstitch_server.service.draft_writing import DraftWriting, OpenDraft
from lockstitch_server.service.memory import Memories
from lockstitch_server.store.drafts import DraftStore, OpenReport
from lockstitch_server.store.writer import Writer

End = Callable[[Draft | None], tuple[Change, Content]]
"""What a draft becomes, given what is stored of it; None where it was committed before."""


def text_too_large(bytes_max: int) -> MessageTooLarge:
    """The error of a draft whose text is too large."""
    sentence, metadata = f"The draft would be larger than {bytes_max} bytes.", {"limit_bytes": str(bytes_max)}
    return MessageTooLarge(sentence, field="text", metadata=metadata)


@dataclass(slots=True)
class _Touch:
    """When a session that expires unused is to be told next that it is in use."""

    every: float | None
    due: float = field(init=False)

    def __post_init__(self) -> None:
        self.due = asyncio.get_running_loop().time() + (self.every or 0)

    def is_due(self) -> bool:
        now = asyncio.get_running_loop().time()
        if self.every is None or now < self.due:
            return False
        self.due = now + self.every
        return True


class Drafts:
    """Takes the text of messages that are being generated, and commits them."""

    def __init__(
        self, store: DraftStore, writing: DraftWriting, writer: Writer, memories: Memories, *, text_bytes_max: int
    ) -> None:
        """Text goes through `writing`; memory patches are merged by `memories`."""
        self._store = store
        self._writing = writing
        self._writer = writer
        self._memories = memories
        self._text_bytes_max = text_bytes_max
        self._reading: set[asyncio.Timeout] = set()
        self._is_draining = False

    def drain(self) -> None:
        """Have every caller go on elsewhere."""
        self._is_draining = True
        for reading in list(self._reading):
            self._stop_reading(reading)

    async def write(self, change: Change, new: NewDraft, texts: AsyncIterator[DraftText], end: End) -> Receipt:
        """Take a draft's text to its end, and make its commit.

        Raises CursorAhead where text lies beyond what is stored and was received; Draining; and what a commit may.
        """
        opened = await self._open(change, new)
        is_replay = opened.report.outcome == "replayed"
        reading = asyncio.timeout(None)
        draft = OpenDraft(
            gone=lambda: self._stop_reading(reading),
            tenant_id=change.session.tenant_id,
            key=change.session.key,
            piece=DraftPiece(
                request_id_hash=change.request_id_hash,
                draft_id=new.draft_id,
                role=new.role,
                run_id="" if change.fence is None else change.fence.run_id,
                offset=opened.offset,
                text=b"",
            ),
        )
        touch = _Touch(None if opened.idle_ttl is None else opened.idle_ttl / timedelta(seconds=2))
        stored = None
        with self._writing.opened(draft) if not is_replay else nullcontext():
            await self._receive(reading, draft, texts, touch, change, is_replay=is_replay)
            await draft.drained()
        if not is_replay:
            stored = await self._store.get(change.session, change.request_id_hash)
            if stored is None:
                await self._explain(change, new)
        final, content = end(stored)
        report = await self._memories.commit(self._writer.stream_draft, final, content)
        return outcomes.receipt(report, final, content.messages)

    async def _open(self, change: Change, new: NewDraft) -> OpenReport:
        opened = await self._store.open(change, new)
        if opened.report.outcome not in {"open", "replayed"}:
            error = outcomes.refusal(opened.report, change, Content())
            if error is not None:
                raise error
        return opened

    async def _receive(
        self,
        reading: asyncio.Timeout,
        draft: OpenDraft,
        texts: AsyncIterator[DraftText],
        touch: _Touch,
        change: Change,
        *,
        is_replay: bool,
    ) -> None:
        try:
            async with reading:
                if self._is_draining:
                    raise Draining
                self._reading.add(reading)
                async for step in texts:
                    if is_replay:
                        continue
                    self._take(draft, step)
                    await draft.room()
                    if touch.is_due():
                        await self._store.touch(change.session)
                # What follows is not stopped.
                self._reading.discard(reading)
        except TimeoutError:
            if not reading.expired():
                raise
            if draft.is_gone:
                return
            await draft.drained()
            raise Draining from None
        finally:
            self._reading.discard(reading)

    def _stop_reading(self, reading: asyncio.Timeout) -> None:
        """Have a caller read no further; once, and not when it has read all."""
        if reading in self._reading:
            self._reading.discard(reading)
            reading.reschedule(0)

    def _take(self, draft: OpenDraft, step: DraftText) -> None:
        if draft.failure is not None:
            raise draft.failure
        if step.offset > draft.received:
            raise CursorAhead.of_draft(draft.received)
        text = step.text[draft.received - step.offset :]
        if is_within_character(text, 0):
            # What was received is other text than what is sent again.
            raise InvalidField("offset", f"{step.offset}: what is stored ends within a character of the text")
        if draft.received + len(text) > self._text_bytes_max:
            raise text_too_large(self._text_bytes_max)
        if text or not step.text:
            self._writing.receive(draft, text)

    async def _explain(self, change: Change, new: NewDraft) -> None:
        """Raise why a draft is not there any more: its session or run says so, else it was given up."""
        await self._open(change, new)
        raise CursorAhead.of_draft(0)
