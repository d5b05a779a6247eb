"""What a follower is shown of text that is being generated."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from lockstitch import Client, SessionHandle
from lockstitch.types import Commit, Draft, Role
from lockstitch_server.server_process import ServerProcess
from support.proxy import proxy_to, to_tcp
from support.waiting import until

PIECES = ["It ", "is ", "4 degrees ", "in Tromsø ", "🏔", " and ", "in Oslo."]
WHOLE = "".join(PIECES)


@dataclass
class Shown:
    """Follows a session, and keeps what it was given."""

    texts: dict[str, str] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    pieces: list[Draft] = field(default_factory=list)

    async def follow(self, session: SessionHandle, *, until_version: int) -> None:
        heartbeat = timedelta(seconds=1)
        async for given in session.subscribe(after_version=0, drafts=True, heartbeat_interval=heartbeat):
            if isinstance(given, Draft):
                before = self.texts.get(given.draft_id, "")
                assert given.offset == len(before.encode()), "a hole, or something twice"
                self.texts[given.draft_id] = before + given.text
                self.pieces.append(given)
            else:
                self.commits.append(given)
                if given.version >= until_version:
                    return

    async def has(self, draft_id: str, text: str) -> None:
        await until(lambda: self.texts.get(draft_id) == text, text)


async def test_drafts_are_shown_as_they_are_written_and_end_with_their_commit(client: Client) -> None:
    session = await client.create()
    shown = Shown()
    following = asyncio.create_task(shown.follow(session, until_version=4))
    async with session.run() as run, run.draft() as draft:
        for piece in PIECES:
            await draft.write(piece)
            await shown.has(draft.draft_id, draft.text)
    await following
    assert [commit.version for commit in shown.commits] == [1, 2, 3, 4]
    assert shown.commits[2].messages[0].parts[0].text == WHOLE == shown.texts[draft.draft_id]
    assert {(piece.role, piece.run_id) for piece in shown.pieces} == {(Role.ROLE_ASSISTANT, run.run_id)}


async def test_commits_alone_are_given_unless_drafts_are_asked_for(client: Client) -> None:
    session = await client.create()
    shown = Shown()
    following = asyncio.create_task(shown.follow(session, until_version=2))
    given = session.subscribe(after_version=0)
    async with session.draft() as draft:
        await draft.write(WHOLE)
        await shown.has(draft.draft_id, WHOLE)
    assert [(await anext(given)).version for _ in range(2)] == [1, 2]
    await given.aclose()
    await following


async def test_no_piece_comes_twice_over_a_lost_stream(server: ServerProcess, client: Client) -> None:
    session = await client.create()
    token = server.token(tenant="client-tests")
    shown = Shown()
    async with proxy_to(to_tcp(server.target)) as network, Client(network.target, token=token) as far:
        following = asyncio.create_task(shown.follow(far.session(session.session_id), until_version=2))
        async with session.draft() as draft:
            for piece in PIECES:
                await draft.write(piece)
                await shown.has(draft.draft_id, draft.text)
                network.cut()
        await following
