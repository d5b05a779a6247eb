"""`lockstitch` shows forks and exports them like any session."""

from collections.abc import AsyncIterator

import pytest

from factories import fresh
from lockstitch import Client, assistant, call, new_call, tool, user
from lockstitch.types import Message, ToolCallStatus
from lockstitch_server.server_process import ServerProcess
from support.client_commands import Commands


@pytest.fixture
def commands(server: ServerProcess) -> Commands:
    return Commands(server, fresh("tenant"))


@pytest.fixture
def elsewhere(server: ServerProcess) -> Commands:
    """Another tenant's, to import to."""
    return Commands(server, fresh("tenant"))


@pytest.fixture
async def client(commands: Commands) -> AsyncIterator[Client]:
    async with Client(commands.server.target, token=commands.environment["LOCKSTITCH_TOKEN"]) as made:
        yield made


@pytest.fixture
async def other(elsewhere: Commands) -> AsyncIterator[Client]:
    async with Client(elsewhere.server.target, token=elsewhere.environment["LOCKSTITCH_TOKEN"]) as made:
        yield made


def texts(messages: list[Message]) -> list[str]:
    return [message.parts[0].text for message in messages]


async def ledger(client: Client, session_id: str) -> list[tuple[str, ToolCallStatus.ValueType, str]]:
    return [(one.call_id, one.status, one.result_json) async for one in client.session(session_id).tool_calls()]


async def test_a_fork_is_exported_and_imported(
    client: Client, other: Client, commands: Commands, elsewhere: Commands
) -> None:
    session = await client.create(user_id="u1", messages=[user("one")])
    await session.append(tool_calls=[new_call("alone", "search", {}), new_call("open", "search", {})])
    await session.append(messages=[tool("alone", "found"), assistant(tool_calls=[call("c", "book", {})])])
    await session.append(messages=[tool("c", "done"), user("two")])
    fork = await session.fork(new_session_id="fork")
    out = commands.ok("sessions", "export", "fork").out.encode()
    assert elsewhere.ok("sessions", "import", "-", stdin=out).value["sessions"] == 1
    assert sorted(await ledger(other, "fork")) == sorted(await ledger(client, fork.session_id))
    assert len(await ledger(other, "fork")) == 3


async def test_what_was_erased_is_left_out_of_an_export(
    client: Client, other: Client, commands: Commands, elsewhere: Commands
) -> None:
    session = await client.create(user_id="u1", messages=[user("one"), user("secret"), user("three")])
    (_, secret, _) = [message async for message in session.messages()]
    await session.update_message(message_id=secret.message_id, message=user("two"), erase_history=True)
    await session.fork(at_version=1, new_session_id="fork")
    told = commands.ok("sessions", "export", "fork")
    elsewhere.ok("sessions", "import", "-", stdin=told.out.encode())
    assert texts([message async for message in other.session("fork").messages()]) == ["one", "three"]
