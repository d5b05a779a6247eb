"""Append: what a turn brought, in one commit."""

from functools import partial

from lockstitch_server.model import Change, Content, NewSession, Receipt
from lockstitch_server.service import outcomes
from lockstitch_server.service.memory import Memories
from lockstitch_server.service.quotas import Quotas
from lockstitch_server.store.writer import Writer


class Appends:
    """Stores messages, tool calls and memory together."""

    def __init__(self, writer: Writer, memories: Memories, quotas: Quotas) -> None:
        """Memory patches are merged by `memories`."""
        self._writer = writer
        self._memories = memories
        self._quotas = quotas

    async def append(self, change: Change, content: Content, create: NewSession | None) -> Receipt:
        """Make a commit of content; `create` is what a missing session becomes."""
        may_create = None if create is None else self._quotas.applied(change, create)
        report = await self._memories.commit(partial(self._writer.append, create=may_create), change, content)
        return outcomes.receipt(report, change, content.messages)
