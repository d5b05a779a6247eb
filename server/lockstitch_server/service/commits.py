"""The log of commits, listed."""

from lockstitch_server.errors import SessionNotFound
from lockstitch_server.model import Commit, SessionRef
from lockstitch_server.service.paging import Page, PageRequest, Paging
from lockstitch_server.store.log import Log

VERSION_MAX = 2**63 - 1


class Commits:
    """Lists commits."""

    def __init__(self, log: Log, paging: Paging) -> None:
        """Pages are cut as `paging` says."""
        self._log = log
        self._paging = paging

    async def list(self, ref: SessionRef, page: PageRequest, *, after_version: int, descending: bool) -> Page[Commit]:
        """Give a page of a session's commits."""
        cursor = self._paging.cursor(page, (int,))
        size = self._paging.size(page)
        before_version = VERSION_MAX
        if cursor is not None and descending:
            (before_version,) = cursor
        elif cursor is not None:
            (after_version,) = cursor
        found = await self._log.list_commits(
            ref,
            after_version=after_version,
            before_version=before_version,
            descending=descending,
            limit=size + 1,
            bytes_max=self._paging.answer_bytes_max,
        )
        if found is None:
            raise SessionNotFound
        items = found.commits[:size]
        token = self._paging.token(page, items[-1].version) if found.fetched > len(items) else ""
        return Page(items=items, next_page_token=token)
