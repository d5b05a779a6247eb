"""The ledger of tool calls: changed one at a time, and listed."""

from lockstitch_server.errors import SessionNotFound
from lockstitch_server.model import Change, Content, Receipt, SessionRef, ToolCall, ToolCallStatus
from lockstitch_server.service import outcomes
from lockstitch_server.service.paging import Page, PageRequest, Paging
from lockstitch_server.store.reader import Reader, ToolCallFilter
from lockstitch_server.store.writer import Writer

_ROW_BYTES = 256
_BODIES_BYTES_MAX = 8 * 1024 * 1024


class ToolCalls:
    """Changes and lists tool calls."""

    def __init__(self, writer: Writer, reader: Reader, paging: Paging) -> None:
        """Pages are cut as `paging` says."""
        self._writer = writer
        self._reader = reader
        self._paging = paging

    async def change(self, change: Change, content: Content) -> tuple[ToolCall, Receipt]:
        """Change one call; gives it as of the receipt's version."""
        report = await self._writer.change_tool_call(change, content)
        error = outcomes.refusal(report, change, content)
        if error is not None:
            raise error
        if report.tool_call is None:
            raise ValueError("a change of a tool call gives the call")
        return report.tool_call, outcomes.receipt(report, change, content.messages)

    async def list(
        self,
        ref: SessionRef,
        page: PageRequest,
        *,
        statuses: tuple[ToolCallStatus, ...] | None,
        name: str | None,
        run_id: str | None,
        arguments_digest: bytes | None,
    ) -> Page[ToolCall]:
        """Give a page of a session's calls, oldest first."""
        cursor = self._paging.cursor(page, (int, int)) or (0, -1)
        size = self._paging.size(page)
        shown = ToolCallFilter(
            statuses=statuses, name=name, run_id=run_id, arguments_digest=arguments_digest, after=cursor
        )
        found = await self._reader.list_tool_calls(ref, shown, limit=size + 1, bytes_max=_BODIES_BYTES_MAX)
        if found is None:
            raise SessionNotFound
        taken = self._cut(found[:size])
        more = len(taken) < len(found)
        last = taken[-1] if taken else None
        token = self._paging.token(page, last.requested_version, last.position) if last and more else ""
        return Page(items=taken, next_page_token=token)

    def _cut(self, found: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Stop before the call that would make the page too large, unless it is the first."""
        total = 0
        seen: set[int] = set()
        for place, call in enumerate(found):
            total += _ROW_BYTES + len(call.detail) + call.result_bytes
            names = (call.call_id, call.name, call.message_id, call.result_message_id)
            total += sum(len(name.encode()) for name in names)
            if call.message_seq is not None and call.message_seq not in seen:
                seen.add(call.message_seq)
                total += call.message_bytes
            if total > self._paging.answer_bytes_max and place > 0:
                return found[:place]
        return found
