"""Drafts that get no text for longer than a server waits."""

from collections.abc import AsyncIterator, Callable

import pytest

from lockstitch import Client, SessionHandle, drafting
from lockstitch.types import Draft, Message
from lockstitch_server.server_process import ServerProcess
from support.databases import Database


@pytest.fixture(scope="module")
def impatient(database: Database, start_server: Callable[..., ServerProcess]) -> ServerProcess:
    """A server that takes a draft for lost after a second."""
    return start_server(database, LOCKSTITCH_DRAFT_IDLE="1", LOCKSTITCH_SWEEP_INTERVAL="0.2")


@pytest.fixture
async def session(impatient: ServerProcess) -> AsyncIterator[SessionHandle]:
    async with Client(impatient.target, token=impatient.token(tenant="client-tests")) as client:
        yield await client.create()


async def next_message(session: SessionHandle) -> Message:
    async for commit in session.subscribe():
        if commit.messages:
            return commit.messages[0]
    raise AssertionError  # a subscription does not end


async def leave_one(session: SessionHandle) -> None:
    """Begins a draft, and raises in its body."""
    async with session.draft() as draft:
        await draft.write("given up")
        async for given in session.subscribe(drafts=True):
            if isinstance(given, Draft) and given.draft_id == draft.draft_id:
                break
        _ = 1 / 0


async def test_a_draft_that_gets_no_text_is_kept_open(session: SessionHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "KEEP_OPEN_SECONDS", 0.2)
    async with session.draft() as draft:
        await draft.write("It is ")
        with pytest.raises(ZeroDivisionError):
            await leave_one(session)
        # A draft that is not kept open is lost meanwhile: so long is it quiet.
        lost = await next_message(session)
        assert (lost.parts[0].text, lost.incomplete) == ("given up", True)
        await draft.write("4 degrees.")
    texts = [message.parts[0].text async for message in session.messages(after_seq=1)]
    assert texts == ["It is 4 degrees."]


async def test_a_draft_that_was_taken_for_lost_is_begun_again(
    session: SessionHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting, "KEEP_OPEN_SECONDS", 3600.0)
    async with session.draft() as draft:
        await draft.write("It is ")
        assert (await next_message(session)).incomplete
        await draft.write("4 degrees.")
    said = [(message.parts[0].text, message.incomplete) async for message in session.messages()]
    assert said == [("It is ", True), ("It is 4 degrees.", False)]
