"""Lists, followed to their end."""

from collections.abc import Awaitable, Callable
from typing import Any

from support.sizes import fits

PAGES_MAX = 2000


async def pages_of(method: Callable[..., Awaitable[Any]], **fields: Any) -> list[Any]:
    """Give all pages of a list, each of them small enough."""
    pages = [fits(await method(**fields))]
    while pages[-1].next_page_token:
        assert len(pages) < PAGES_MAX, "the list never ends"
        pages.append(fits(await method(**fields | {"page_token": pages[-1].next_page_token})))
    return pages


async def all_of(items: str, method: Callable[..., Awaitable[Any]], **fields: Any) -> list[Any]:
    """Give all items of a list: `all_of("messages", rpc.ListMessages, session_id=…)`."""
    return [item for page in await pages_of(method, **fields) for item in getattr(page, items)]
