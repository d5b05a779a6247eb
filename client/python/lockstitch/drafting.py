"""The text of a draft on its way to a server: kept until it is committed, and sent again where a stream was lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TypeVar

from lockstitch import retries
from lockstitch.errors import CursorAhead, DeadlineExceeded, LockstitchError, TokenExpired, Unavailable
from lockstitch.transport import Transport
from lockstitch.uploads import Upload
from lockstitch.v1.session_service_pb2 import StreamDraftRequest, StreamDraftResponse

KEEP_OPEN_SECONDS = 5.0
"""How often a draft that gets no text is kept open. A server takes one for lost after 25 seconds."""

REFUSALS_MAX = 3
"""How many attempts of one step may end for a reason that a further one may or may not mend."""

_Upload = Upload[StreamDraftRequest, StreamDraftResponse]
_T = TypeVar("_T")


class Drafting:
    """Sends text as it is added, over as many streams as it takes, each from the beginning.

    The server passes over what it has. The request_id of the first step makes one draft, and one commit, of all.
    """

    def __init__(self, transport: Transport, first: StreamDraftRequest, *, timeout: timedelta | None) -> None:
        self._transport = transport
        self._first = first
        self._seconds_max = transport.timeout_seconds if timeout is None else timeout.total_seconds()
        self._text = bytearray()
        self._sent = 0
        self._upload: _Upload | None = None
        self._one_at_a_time = asyncio.Lock()
        self._is_quiet = False
        self._deadline = 0.0

    @property
    def text(self) -> str:
        """All that was added."""
        return self._text.decode()

    async def write(self, text: str) -> None:
        """Adds text, and sends what was added. Without any it keeps the draft open."""
        piece = text.encode()
        async with self._one_at_a_time:
            self._text += piece
            self._is_quiet = False
            await self._until_done(self._send)

    async def finish(self, last: StreamDraftRequest | None) -> StreamDraftResponse:
        """Sends what is left, with what goes into the commit beside it, and has the draft committed."""
        ending = StreamDraftRequest(last=True)
        if last is not None:
            ending.MergeFrom(last)

        async def finished(upload: _Upload) -> StreamDraftResponse:
            if self._sent < len(self._text):
                await self._send(upload)
            await upload.write(ending, within_seconds=self._seconds_left())
            return await upload.finish(within_seconds=self._seconds_left())

        async with self._one_at_a_time:
            response = await self._until_done(finished)
        self._transport.may_go_on(is_answered=True)
        return response

    @asynccontextmanager
    async def kept_open(self, write: Callable[[str], Awaitable[None]]) -> AsyncIterator[None]:
        """Keeps the draft open while it gets no text, by writing none; gives the stream up at the end."""

        async def keep_open() -> None:
            while True:
                self._is_quiet = True
                await asyncio.sleep(KEEP_OPEN_SECONDS)
                if self._is_quiet:
                    try:
                        await write("")
                    except Exception:  # noqa: BLE001, S112 - whoever writes next is told, if it still is so
                        continue

        keeping = asyncio.create_task(keep_open(), name=f"keep open {self._first.request_id}")
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            self._give_up()

    async def _send(self, upload: _Upload) -> None:
        begin, end = self._sent, len(self._text)
        step = StreamDraftRequest(offset=begin, text=self._text[begin:end].decode())
        await upload.write(step, within_seconds=self._seconds_left())
        self._sent = end

    async def _opened(self) -> _Upload:
        if self._upload is None:
            request_id = self._first.request_id
            self._upload = await self._transport.upload(lambda to: to.sessions.StreamDraft, request_id=request_id)
            self._sent = 0
            await self._upload.write(self._first, within_seconds=self._seconds_left())
        return self._upload

    async def _until_done(self, step: Callable[[_Upload], Awaitable[_T]]) -> _T:
        """Takes a step, on a further stream where one is lost, for as long as a call may take."""
        self._deadline = asyncio.get_running_loop().time() + self._seconds_max
        refusals = 0
        for wait in retries.waits():
            try:
                return await step(await self._opened())
            except LockstitchError as error:
                self._give_up()
                refusals += not isinstance(error, Unavailable)
                seconds = max(wait, (error.retry_after or timedelta()).total_seconds())
                if not self._may_be_mended(error, refusals) or seconds >= self._seconds_left():
                    raise
            except TimeoutError as silence:
                self._give_up()
                raise DeadlineExceeded("No answer came in time.", request_id=self._first.request_id) from silence
            except BaseException:
                self._give_up()
                raise
            await asyncio.sleep(seconds)
        raise AssertionError  # waits never end

    def _seconds_left(self) -> float:
        return max(self._deadline - asyncio.get_running_loop().time(), 0.0)

    def _may_be_mended(self, error: LockstitchError, refusals: int) -> bool:
        if self._transport.is_closed:
            return False
        if isinstance(error, Unavailable):
            return self._transport.may_go_on(is_answered=False)
        # A draft that nobody wrote to for long was stored as it was: from the beginning, it is a new one.
        is_passing = isinstance(error, CursorAhead | TokenExpired) or retries.is_cut(error)
        return is_passing and refusals < REFUSALS_MAX

    def _give_up(self) -> None:
        upload, self._upload = self._upload, None
        if upload is not None:
            upload.cancel()
