"""Messages: listed, taken back, changed in their place."""

from dataclasses import dataclass, replace

from lockstitch_server.errors import SessionNotFound
from lockstitch_server.model import Change, Content, Message, MessageUpdate, Receipt, Removal, SessionRef
from lockstitch_server.service import outcomes
from lockstitch_server.service.paging import PageRequest, Paging
from lockstitch_server.store.reader import MessageFilter, Reader
from lockstitch_server.store.stored_messages import StoredMessages
from lockstitch_server.store.writer import Writer

SEQ_MAX = 2**63 - 1
_SCANNED_MAX = 5000


@dataclass(frozen=True, slots=True)
class Removed:
    """Messages that were taken back: the newest of them, by seq, and how many there were."""

    messages: tuple[Message, ...]
    count: int


@dataclass(frozen=True, slots=True)
class MessagesPage:
    """A page of messages."""

    messages: StoredMessages
    next_page_token: str


class Messages:
    """Lists, removes and changes messages."""

    def __init__(self, writer: Writer, reader: Reader, paging: Paging) -> None:
        """Pages are cut as `paging` says."""
        self._writer = writer
        self._reader = reader
        self._paging = paging

    async def remove(self, change: Change, removal: Removal, content: Content) -> tuple[Removed, Receipt]:
        """Take messages back and store others in their place."""
        report = await self._writer.remove_messages(change, removal, content, self._paging.answer_bytes_max)
        error = outcomes.refusal(report, change, content)
        if error is not None:
            raise error
        return Removed(report.messages, report.removed_count), outcomes.receipt(report, change, content.messages)

    async def update(self, change: Change, update: MessageUpdate) -> tuple[Message, Receipt]:
        """Change a message in its place; gives it as of the receipt's version."""
        report = await self._writer.update_message(change, update)
        error = outcomes.refusal(report, change, Content(ledger=update.tool_calls))
        if error is not None:
            raise error
        (message,) = report.messages
        return message, outcomes.receipt(report, change)

    async def list(self, ref: SessionRef, page: PageRequest, shown: MessageFilter) -> tuple[MessagesPage, int]:
        """Give a page of messages by seq, and the session's version that it saw."""
        cursor = self._paging.cursor(page, (int,))
        size = self._paging.size(page)
        if cursor is not None:
            (seq,) = cursor
            shown = replace(shown, before_seq=seq) if shown.descending else replace(shown, after_seq=seq)
        filtered = any(
            narrowed is not None for narrowed in (shown.roles, shown.event_after, shown.event_before, shown.run_id)
        )
        scan_max = _SCANNED_MAX if filtered else size + 1
        found = await self._reader.list_messages(
            ref, shown, limit=size + 1, scan_max=scan_max, bytes_max=self._paging.answer_bytes_max
        )
        if found is None:
            raise SessionNotFound
        items = found.messages[:size]
        token = ""
        if found.matched > len(items):
            token = self._paging.token(page, items.seqs[-1])
        elif found.scanned == scan_max:
            # Filters hid the rest of what was looked at: the next page goes on behind it.
            token = self._paging.token(page, found.last_scanned)
        return MessagesPage(items, token), found.as_of_version
