"""Drafts put there by the server's own functions, where a call that goes on is in the way."""

import hashlib
from datetime import timedelta

import asyncpg

from lockstitch_server import ids
from lockstitch_server.model import MessageRole, Method
from lockstitch_server.store import queries
from support.databases import Database


async def drafted(
    database: Database,
    tenant: str,
    session_id: str,
    text: str,
    *,
    run_id: str | None = None,
    fencing_token: int | None = None,
    idle: timedelta = timedelta(seconds=25),
) -> None:
    """Write a draft as far as a text goes; its draft_id is the text's digest."""
    draft_id = hashlib.sha256(text.encode()).hexdigest()
    key, request = ids.session_key(tenant, session_id), ids.request_id_hash(draft_id)
    connection = await asyncpg.connect(database.app_url, server_settings={"role": "lockstitch_app"})
    try:
        opened = await connection.fetchrow(
            "select * from lockstitch.open_draft_v1("
            "$1, $2, $3, null, $4::smallint, $5, null, null, $6, $7, $8, $9::smallint, $10, $11)",
            tenant,
            key,
            session_id,
            Method.STREAM_DRAFT,
            request,
            run_id,
            fencing_token,
            draft_id,
            MessageRole.ASSISTANT,
            b"",
            idle,
        )
        assert opened is not None
        assert opened["r_outcome"] == "open", opened
        steps = queries.load()["add_draft_steps"]
        stored = await connection.fetchval(steps, [tenant], [key], [request], [0], [text.encode()])
        assert stored == len(text.encode())
    finally:
        await connection.close()
