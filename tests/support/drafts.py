"""Drafts as an engine writes them, and what of them is stored and was streamed."""

import asyncio
import hashlib
from contextlib import suppress
from typing import Any

from grpc import aio

from factories import fresh
from lockstitch.v1 import commit_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server import ids
from support.callers import Caller
from support.databases import Database
from support.streams import StreamRecord
from support.waiting import POLL_SECONDS

PIECE_BYTES_MAX = 1024 * 1024


class Drafting:
    """One StreamDraft call, said step by step; `sent` is how many bytes of the text came before."""

    def __init__(self, caller: Caller, session_id: str, *, draft_id: str = "", sent: int = 0, **first: Any) -> None:
        self.draft_id = draft_id or fresh("draft")
        self.sent = sent
        self._first: dict[str, Any] = {"request_id": self.draft_id, "session_id": session_id} | first
        self._call: Any = caller.sessions.StreamDraft(metadata=caller.headers)

    async def say(self, text: str = "", **fields: Any) -> None:
        """Send a step; without text it says that somebody is there."""
        await self.send(pb.StreamDraftRequest(**self._first | {"offset": self.sent, "text": text} | fields))
        self._first = {}
        self.sent += len(text.encode())

    async def send(self, step: pb.StreamDraftRequest) -> None:
        """Send a step as it is. Where the call has ended its end says why."""
        with suppress(asyncio.InvalidStateError, aio.AioRpcError):
            await self._call.write(step)

    async def end(self, text: str = "", **last: Any) -> commit_pb2.CommitReceipt:
        """Send what is left, if anything, and wait for the commit."""
        if self._first or text or last:
            await self.say(text, **last)
        with suppress(asyncio.InvalidStateError, aio.AioRpcError):
            await self._call.done_writing()
        return await self.ended()

    async def ended(self) -> commit_pb2.CommitReceipt:
        """Wait for the call's end."""
        async with asyncio.timeout(30):
            receipt: commit_pb2.CommitReceipt = (await self._call).receipt
            return receipt

    @property
    def is_over(self) -> bool:
        return bool(self._call.done())

    def leave(self) -> None:
        """Vanish."""
        self._call.cancel()


async def stored(database: Database, tenant: str, session_id: str) -> dict[str, str]:
    """Give what is stored of the drafts of a session, by draft_id."""
    found = await database.as_superuser(
        "select d.draft_id, string_agg(t.text, ''::bytea order by t.start_offset) as text from lockstitch.drafts d "
        "left join lockstitch.draft_steps t using (session_key, request_hash) where d.session_key = $1 group by 1",
        ids.session_key(tenant, session_id),
    )
    return {row["draft_id"]: (row["text"] or b"").decode() for row in found}


async def until_stored(database: Database, tenant: str, session_id: str, drafts: dict[str, str]) -> None:
    """Wait until this is what is stored of the drafts of a session."""
    found: dict[str, str] = {}
    try:
        async with asyncio.timeout(20):
            while (found := await stored(database, tenant, session_id)) != drafts:
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"never stored: {drafts}, but {found}") from None


async def rows_left(database: Database, tenant: str, session_id: str) -> int:
    """Count what is stored of drafts of a session, which is nothing where none is open."""
    key = ids.session_key(tenant, session_id)
    (row,) = await database.as_superuser(
        "select (select count(*) from lockstitch.drafts where session_key = $1) "
        "+ (select count(*) from lockstitch.draft_steps where session_key = $1) as rows",
        key,
    )
    return int(row["rows"])


def hash_of(request_id: str) -> bytes:
    """The request_id_hash of a commit."""
    return hashlib.sha256(request_id.encode()).digest()[:16]


def drafts_of(stream: StreamRecord) -> dict[str, str]:
    """Give what a stream was given of each draft, whose pieces follow on one another, and none on its commit."""
    texts: dict[str, bytes] = {}
    commits: set[bytes] = set()
    for frame in stream.frames:
        if frame.HasField("commit"):
            commits.add(frame.commit.request_id_hash)
        if frame.HasField("draft"):
            draft = frame.draft
            assert "caught_up" in stream.kinds[: stream.frames.index(frame)], "before the present was reached"
            closing = {hash_of(draft.draft_id), hash_of(f"server:draft/{draft.draft_id}")}
            assert not closing & commits, f"{draft.draft_id} went on behind its commit"
            before = texts.get(draft.draft_id, b"")
            assert draft.offset == len(before), f"{draft.draft_id} goes on at {draft.offset}, not at {len(before)}"
            text = draft.text.encode()
            assert 0 < len(text) <= PIECE_BYTES_MAX
            texts[draft.draft_id] = before + text
    return {draft_id: text.decode() for draft_id, text in texts.items()}
