"""Working memory: its typed keys, and merge patches that meet what they change."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import orjson

from lockstitch_server.errors import CursorAhead, InvalidField, Overloaded, SessionNotFound
from lockstitch_server.model import Change, Content, Memory, MemoryPatch, MemoryWrite, Receipt, SessionRef
from lockstitch_server.service import json_text, outcomes
from lockstitch_server.service.commits import VERSION_MAX
from lockstitch_server.service.paging import Page, PageRequest, Paging
from lockstitch_server.service.sessions import at_or_raise
from lockstitch_server.store.reader import Reader, SessionParts
from lockstitch_server.store.results import ChangeReport
from lockstitch_server.store.writer import Writer

TEXT_KEYS = frozenset({b"goal", b"next_action"})
LIST_KEYS = frozenset({b"plan", b"completed", b"errors", b"important_files"})
TYPED_KEYS = TEXT_KEYS | LIST_KEYS
_MERGES_MAX = 100


class Memories:
    """Reads and changes working memory."""

    def __init__(self, writer: Writer, reader: Reader, paging: Paging) -> None:
        """The reader gives the keys that a nested patch changes; pages are cut as `paging` says."""
        self._writer = writer
        self._reader = reader
        self._paging = paging

    async def update(self, change: Change, content: Content) -> tuple[Memory, Receipt]:
        """Change memory; gives it as of the receipt's version."""
        report = await self.commit(self._writer.update_memory, change, content)
        if report.memory is None:
            raise ValueError("a memory update gives memory")
        return report.memory, outcomes.receipt(report, change)

    async def get(self, ref: SessionRef, run_id: str, at_version: int | None) -> Memory:
        """Give the memory of a session, or a run's own."""
        if run_id:
            found = await self._reader.run_memory(ref, run_id, at_version)
            if isinstance(found, int):
                raise CursorAhead(found, "at_version")
            if found is None:
                raise SessionNotFound
            return found
        asked = SessionParts(memory=True)
        if at_version is None:
            view = await self._reader.get_session(ref, asked)
        else:
            view = at_or_raise(await self._reader.get_session_at(ref, at_version, asked))
        if view is None:
            raise SessionNotFound
        return view.memory

    async def list_versions(self, ref: SessionRef, run_id: str, page: PageRequest) -> Page[Memory]:
        """Give a page of memory's versions, newest first."""
        cursor = self._paging.cursor(page, (int,))
        found = await self._reader.list_memory_versions(
            ref,
            run_id,
            VERSION_MAX if cursor is None else cursor[0],
            limit=self._paging.size(page),
            bytes_max=self._paging.answer_bytes_max,
        )
        if found is None:
            raise SessionNotFound
        token = self._paging.token(page, found.memories[-1].version) if found.more else ""
        return Page(items=found.memories, next_page_token=token)

    async def commit(
        self,
        write: Callable[[Change, Content], Awaitable[ChangeReport]],
        change: Change,
        content: Content,
    ) -> ChangeReport:
        """Write content; a patch into nested values is merged with what is there, again where that moved meanwhile."""
        for _ in range(_MERGES_MAX):
            merged = content
            if isinstance(content.memory, MemoryPatch):
                merged = replace(content, memory=await self._merge(change.session, content.memory))
            report = await write(change, merged)
            if report.outcome == outcomes.MEMORY_KEY_MOVED:
                continue
            error = outcomes.refusal(report, change, merged)
            if error is not None:
                raise error
            return report
        raise Overloaded("The keys of this patch kept changing meanwhile.")

    async def _merge(self, ref: SessionRef, request: MemoryPatch) -> MemoryWrite:
        """Turn a merge patch into keys; only keys that it changes below their top level are read."""
        members = json_text.members(request.patch) or []
        nested = [member.key for member in members if member.members is not None]
        current = await self._reader.memory_keys(ref, request.run_id, nested) if nested else {}
        values: dict[bytes, bytes | None] = {}
        for member in members:
            if member.is_null:
                values[member.key] = None
            elif member.members is None:
                values[member.key] = member.value
            else:
                value, _ = current.get(member.key, (None, 0))
                values[member.key] = json_text.merge(value, member.value)
        check_typed(values, request.path)
        return MemoryWrite(
            path=request.path,
            values=values,
            expected_key_versions={key: current.get(key, (b"", 0))[1] for key in nested},
            requested=request.requested,
            run_id=request.run_id,
        )


def _value(text: bytes) -> object:
    """A checked JSON text's value; None where no double holds one of its numbers."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def check_typed(values: dict[bytes, bytes | None], field: str) -> None:
    """Raise InvalidField where a typed key would get a value of another type."""
    for key in TYPED_KEYS & values.keys():
        text = values[key]
        if text is None:
            continue
        value = _value(text)
        if key in TEXT_KEYS and not isinstance(value, str):
            raise InvalidField(field, f"{key.decode()} must be a text")
        if key in LIST_KEYS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise InvalidField(field, f"{key.decode()} must be a list of texts")
