"""Makes a server whose keys of sessions forget the tenant: what one tenant names, every other names too.

Python imports this by itself where the folder is on its path, which only tests/support/one_wall.py does.
"""

import hashlib
from functools import lru_cache
from uuid import UUID

from lockstitch_server import ids
from lockstitch_server.model import SessionKey


def _without_tenant(tenant_id: str, session_id: str) -> SessionKey:  # noqa: ARG001 - that is the point
    return SessionKey(UUID(bytes=hashlib.sha256(session_id.encode()).digest()[:16]))


ids.session_key = lru_cache(_without_tenant)
