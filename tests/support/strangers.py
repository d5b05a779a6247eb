"""What a stranger is told of somebody else's session: what it is told of one that never was."""

from typing import Any

from support.databases import Database
from support.matrix import CHILDREN, NOWHERE, Asker, Place, has, put, recipe, request_on
from support.rpc import Refusal

GARBAGE = "bm8gdG9rZW4"
CHOSEN = {("StartRun", "run_id"), ("PutCheckpointWrites", "checkpoint_id")}
"""Parts that a caller names as it likes, in a session of its own."""
LEFT_OUT = {"migrations", "store", "sweeps"}
"""Tables that the server's own work may touch."""


async def learns_nothing(
    rpc: str, stranger: Asker, *, own: Place, foreign: Place, token: str
) -> list["bytes | Refusal"]:
    """Ask about a foreign place in every way there is; each must be answered as if it were not there.

    Gives what was answered about the foreign place itself, and about its parts.
    """
    about_foreign = await stranger.ask(rpc, request_on(rpc, foreign))
    assert about_foreign == await stranger.ask(rpc, request_on(rpc, NOWHERE)), rpc
    answers = [about_foreign]
    for child in CHILDREN:
        if has(rpc, child) and (rpc, child) not in CHOSEN:
            answers += await _alike(rpc, stranger, own, child, (foreign.parts[child], NOWHERE.parts[child]))
    if has(rpc, "page_token"):
        assert token, f"{rpc} gave no token to try"
        answers += await _alike(rpc, stranger, own, "page_token", (token, GARBAGE))
        answers += await _alike(rpc, stranger, foreign, "page_token", (token, GARBAGE))
        unknown = request_on(rpc, NOWHERE)
        put(unknown, "page_token", token)
        assert answers[-1] == await stranger.ask(rpc, unknown), rpc
    return answers


async def _alike(
    rpc: str, stranger: Asker, place: Place, name: str, values: tuple[Any, Any]
) -> list["bytes | Refusal"]:
    answers = []
    for value in values:
        request = request_on(rpc, place)
        put(request, name, value)
        answers.append(await stranger.ask(rpc, request))
    assert answers[0] == answers[1], (rpc, name)
    return answers[:1]


async def token_of(rpc: str, owner: Asker, place: Place) -> str:
    """The token of the second page of a list; "" where the RPC is no list."""
    if not has(rpc, "page_token"):
        return ""
    token: str = (await owner.call_with(rpc, request_on(rpc, place))).next_page_token
    return token


async def fingerprint(database: Database) -> dict[str, str]:
    """All that is stored, a digest a table."""
    names = await database.as_superuser("select tablename from pg_tables where schemaname = 'lockstitch'")
    tables = sorted({name[0] for name in names} - LEFT_OUT)
    assert len(tables) > 10
    digests = " union all ".join(
        f"select '{table}', md5(coalesce(string_agg(t::text, chr(10) order by t::text), '')) from lockstitch.{table} t"
        for table in tables
    )
    return {row[0]: row[1] for row in await database.as_superuser(digests)}


def suffices(role: str, rpc: str) -> bool:
    """Whether a role may make an RPC's request."""
    order = ("user", "engine", "admin")
    return order.index(role) >= order.index(recipe(rpc).role)
