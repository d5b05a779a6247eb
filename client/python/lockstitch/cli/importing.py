"""Conversations from files into the store: several at once, each found again where it was brought before."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from lockstitch import errors
from lockstitch.cli.failures import Refused, sentence_of
from lockstitch.cli.transcripts.batches import BYTES_MAX
from lockstitch.cli.transcripts.digest import SessionDigest, StoreDigest
from lockstitch.cli.transcripts.reader import Reader
from lockstitch.cli.transcripts.transcript import Batch, LineError, Opening, Transcript, WrongFormat
from lockstitch.client import Client
from lockstitch.session import SessionHandle
from lockstitch.wire import JsonText

AT_ONCE = 8
_OF_THE_LINE = (
    errors.InvalidArgument,
    errors.AlreadyExists,
    errors.NotFound,
    errors.FailedPrecondition,
    errors.SessionFull,
)
"""Refusals that say something about a conversation; all others would meet the next one too."""


@dataclass(slots=True)
class Report:
    """What came of an import."""

    sessions: int = 0
    known: int = 0
    """Of these, how many were there already, whole."""
    messages: int = 0
    failed: int = 0
    stopped: bool = False
    digest: StoreDigest = field(default_factory=StoreDigest)


class Importer:
    """Imports what a reader gives. Every request_id is made of the file, so that another run changes nothing."""

    def __init__(
        self,
        client: Client,
        reader: Reader,
        *,
        name: str,
        target: str,
        is_pipe: bool,
        goes_on: bool,
        on_failure: Callable[[str], None],
        on_progress: Callable[[Report], None],
    ) -> None:
        """`name` is the file's. `goes_on`: whether lines behind one that can't be taken are, which is told at once."""
        self._is_pipe = is_pipe
        self._name = name
        self._client = client
        self._reader = reader
        self._target = target
        self._goes_on = goes_on
        self._on_failure = on_failure
        self._on_progress = on_progress
        self._turn = asyncio.Lock()
        self._report = Report()

    async def run(self) -> Report:
        """Import all of it.

        Raises:
            Refused: The file can't be read on, or the server takes nothing.
        """
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(AT_ONCE):
                    workers.create_task(self._work())
        except BaseExceptionGroup as group:  # the first that failed ended the others
            raise _first(group) from None
        return self._report

    async def _work(self) -> None:
        while True:
            async with self._turn:
                if self._report.stopped:
                    return
                try:
                    # A pipe may keep us waiting, and what is on its way must not wait along.
                    read = self._reader.read
                    transcript = await asyncio.to_thread(read) if self._is_pipe else read()
                except LineError as error:
                    self._failed(error)
                    continue
                if transcript is None:
                    return
                if not transcript.is_whole:  # its further lines are read while it is stored: nobody else may read
                    await self._store(transcript)
                    continue
            await self._store(transcript)

    async def _store(self, transcript: Transcript) -> None:
        try:
            await self._send(transcript)
        except LineError as error:
            self._failed(error)
        except _OF_THE_LINE as error:
            self._failed(LineError(transcript.number, self._why(error, transcript.opening)))
        except errors.LockstitchError as error:
            self._report.stopped = True
            raise Refused(f"{sentence_of(error, self._target)}; {self._how_far()}") from error

    async def _send(self, transcript: Transcript) -> None:
        opening = transcript.opening
        digest = SessionDigest(opening, opening.labels, opening.memory)
        first = next(transcript.batches, Batch())
        memory_bytes = opening.memory.ByteSize() if opening.memory else 0
        size = memory_bytes + sum(message.ByteSize() for message in first.messages)
        fits = not first.has_orphans and not first.tool_calls and size <= BYTES_MAX
        session = await self._create(opening, first if fits else Batch())
        replayed = session.receipt is not None and session.receipt.replayed
        if fits:
            self._count(first, digest)
        rest: Iterator[Batch] = transcript.batches if fits else chain([first], transcript.batches)
        for number, batch in enumerate(rest, start=1):
            receipt = await session.append(
                messages=batch.messages,
                tool_calls=batch.tool_calls,
                allow_orphans=batch.has_orphans,
                request_id=f"import:{number}",
            )
            replayed &= receipt.replayed
            self._count(batch, digest)
        if transcript.closed:
            await session.close(reason=transcript.close_reason, request_id="import:close")
        self._report.sessions += 1
        self._report.known += replayed
        self._report.digest.add(digest)
        self._on_progress(self._report)

    def _create(self, opening: Opening, batch: Batch) -> Awaitable[SessionHandle]:
        if opening.expire_time is None:
            return self._created(opening, batch, None)
        return self._created_to_expire(opening, batch, opening.expire_time)

    async def _created_to_expire(self, opening: Opening, batch: Batch, expire_time: datetime) -> SessionHandle:
        """A life that is over is not given again. What an earlier run gave is found again either way."""
        is_over = expire_time <= datetime.now(UTC)
        try:
            return await self._created(opening, batch, None if is_over else expire_time)
        except (errors.InvalidField, errors.SessionExists, errors.RequestIdReused):
            return await self._created(opening, batch, expire_time if is_over else None)

    async def _created(self, opening: Opening, batch: Batch, expire_time: datetime | None) -> SessionHandle:
        return await self._client.create(
            request_id=opening.request_id,
            session_id=opening.session_id,
            user_id=opening.user_id,
            agent=opening.agent,
            title=opening.title,
            labels=opening.labels,
            metadata=JsonText(opening.metadata_json) if opening.metadata_json else None,
            memory=opening.memory,
            messages=batch.messages,
            expire_time=expire_time,
            idle_ttl=opening.idle_ttl,
        )

    def _count(self, batch: Batch, digest: SessionDigest) -> None:
        for message in batch.messages:
            digest.add(message)
        self._report.messages += len(batch.messages)

    def _failed(self, error: LineError) -> None:
        if isinstance(error, WrongFormat) and not self._report.sessions:
            self._report.stopped = True
            raise Refused(f"{self._name}, {error}")
        self._report.failed += 1
        self._report.stopped |= not self._goes_on
        self._on_failure(f"{self._name}, {error}")

    def _why(self, error: errors.LockstitchError, opening: Opening) -> str:
        match error:
            case errors.SessionExists():
                return f"the id {opening.session_id!r} is taken by a session with another beginning"
            case errors.RequestIdReused():
                return f"it was imported before, and has changed since ({opening.session_id or 'no id of its own'})"
            case _:
                return sentence_of(error, self._target)

    def _how_far(self) -> str:
        return f"{self._report.sessions} sessions are in, and the same command goes on from there"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
