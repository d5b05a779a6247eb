"""CONTRACT 17: limits are settings, told by GetServerInfo, and what passes them is refused by name."""

from collections.abc import Callable

import grpc
import pytest

from factories import answered, called, keyed, said
from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Create, Rpc, field_refused, refusal
from support.sizes import KIB, MIB

LOW = {
    "LOCKSTITCH_CONTENT_BYTES_MAX": "4096",
    "LOCKSTITCH_APPEND_MESSAGES_MAX": "3",
    "LOCKSTITCH_ID_CHARACTERS_MAX": "80",
    "LOCKSTITCH_LABELS_MAX": "2",
    "LOCKSTITCH_METADATA_BYTES_MAX": "20",
    "LOCKSTITCH_MEMORY_BYTES_MAX": "100",
    "LOCKSTITCH_SESSION_MESSAGES_MAX": "5",
    "LOCKSTITCH_PAGE_SIZE_DEFAULT": "2",
    "LOCKSTITCH_PAGE_SIZE_MAX": "4",
}


@pytest.fixture(scope="module")
def low_server(shared_database: Database, start_server: Callable[..., ServerProcess]) -> ServerProcess:
    """A server with low limits."""
    return start_server(shared_database, **LOW)


@pytest.fixture
async def low(call_as: As, low_server: ServerProcess) -> Rpc:
    """An engine that calls it."""
    return call_as("e", "engine", to=low_server)


async def test_the_limits_are_told(engine: Rpc, low: Rpc) -> None:
    limits = (await engine.caller.admin.GetServerInfo(GetServerInfoRequest())).limits
    assert (limits.content_bytes_max, limits.append_messages_max, limits.id_characters_max) == (3 * MIB, 100, 128)
    assert (limits.labels_max, limits.memory_bytes_max, limits.metadata_bytes_max) == (64, MIB, 64 * KIB)
    assert (limits.session_messages_max, limits.page_size_default, limits.page_size_max) == (100_000, 50, 1000)
    assert limits.unary_deadline.seconds == 10
    lowered = (await low.caller.admin.GetServerInfo(GetServerInfoRequest())).limits
    assert (lowered.append_messages_max, lowered.page_size_max, lowered.session_messages_max) == (3, 4, 5)


async def test_an_append_holds_100_messages(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await engine.Append(session_id=session_id, messages=[said("x")] * 100)
    for call in (
        engine.Append(session_id=session_id, messages=[said("x")] * 101),
        engine.CreateSession(messages=[said("x")] * 101),
        engine.RemoveMessages(session_id=session_id, last=1, replacement=[said("x")] * 101),
    ):
        refused = await refusal(call)
        assert refused.what == (grpc.StatusCode.INVALID_ARGUMENT, "BATCH_TOO_LARGE")
        assert refused.metadata == {"limit": "100"}
        assert refused.field in {"messages", "replacement"}


async def test_a_request_holds_1000_tool_calls(engine: Rpc, create: Create) -> None:
    session_id = await create()
    many = [called(*(f"{batch}-{number}" for number in range(500))) for batch in range(3)]
    await engine.Append(session_id=session_id, messages=many[:2])
    assert (await refusal(engine.Append(session_id=session_id, messages=many))).reason == "BATCH_TOO_LARGE"
    changes = [{"call_id": f"0-{number}", "status": 2} for number in range(500)] * 3
    await engine.Append(session_id=session_id, tool_calls=changes[:1000])
    refused = await refusal(engine.Append(session_id=session_id, tool_calls=changes))
    assert (refused.reason, refused.field, refused.metadata) == ("BATCH_TOO_LARGE", "tool_calls", {"limit": "1000"})
    open_calls = (await engine.GetSession(session_id=session_id, include_open_tool_calls=True)).open_tool_calls
    assert len(open_calls) == 1000


async def test_labels_title_and_metadata_have_their_limits(engine: Rpc) -> None:
    most = {f"k{number}": "v" for number in range(64)}
    made = (await engine.CreateSession(labels=most, title="é" * 1024, metadata_json='"' + "m" * 65_534 + '"')).session
    assert (dict(made.labels), len(made.title), len(made.metadata_json)) == (most, 1024, 65_536)
    for field, bad in (
        ("labels", {"labels": most | {"one": "more"}}),
        ("labels", {"labels": {"k": "v" * 129}}),
        ("labels key", {"labels": {"": "v"}}),
        ("title", {"title": "é" * 1025}),
        ("title", {"title": "two\nlines"}),
        ("metadata_json", {"metadata_json": '"' + "m" * 65_535 + '"'}),
        ("metadata_json", {"metadata_json": "{"}),
    ):
        assert await field_refused(engine.CreateSession(**bad)) == field
        on = {"session_id": made.session_id} | bad
        path = next(iter(bad))
        told = await field_refused(engine.UpdateSession(session=on, update_mask={"paths": [path]}, force=True))
        assert told == f"session.{field}"


async def test_a_session_that_is_full_says_how_much_it_holds(low: Rpc) -> None:
    session_id = (await low.CreateSession(messages=[said("x"), called("c")])).session.session_id
    await low.Append(session_id=session_id, messages=[said("x")] * 2)
    for call in (
        low.Append(session_id=session_id, messages=[said("x")] * 2),
        low.Append(session_id=session_id, messages=[answered("c"), said("x")]),
    ):
        refused = await refusal(call)
        assert refused.what == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SESSION_FULL")
        assert refused.metadata == {"limit": "5"}
    await low.CompleteToolCall(session_id=session_id, call_id="c", result_json="1")
    assert (await refusal(low.Append(session_id=session_id, messages=[said("x")]))).reason == "SESSION_FULL"
    await low.UpdateMemory(session_id=session_id, change=keyed(k="1"))
    await low.RemoveMessages(session_id=session_id, last=2)
    await low.Append(session_id=session_id, messages=[said("x")] * 2)


async def test_lowered_limits_hold(low: Rpc) -> None:
    session_id = (await low.CreateSession()).session.session_id
    assert (await refusal(low.Append(session_id=session_id, messages=[said("x")] * 4))).metadata == {"limit": "3"}
    large = await refusal(low.Append(session_id=session_id, messages=[said("x" * 4097)]))
    assert (large.reason, large.metadata) == ("MESSAGE_TOO_LARGE", {"limit_bytes": "4096"})
    assert await field_refused(low.Append(session_id="x" * 81, messages=[said("x")])) == "session_id"
    assert await field_refused(low.CreateSession(labels={"a": "", "b": "", "c": ""})) == "labels"
    assert await field_refused(low.CreateSession(metadata_json='"' + "x" * 20 + '"')) == "metadata_json"
    long = keyed(k='"' + "x" * 98 + '"')
    assert await field_refused(low.UpdateMemory(session_id=session_id, change=long)) == "change.keys"
    for _ in range(6):
        await low.CreateSession()
    assert len((await low.ListSessions()).sessions) == 2
    assert len((await low.ListSessions(page_size=100)).sessions) == 4


async def test_a_batch_of_many_small_envelopes_is_refused_before_it_is_too_much(engine: Rpc, create: Create) -> None:
    session_id = await create()
    parts = [{"blob": {"mime_type": "m" * 128, "uri": "u" * 2000}}] * 20
    batch = [{"role": 1, "parts": parts}] * 100
    refused = await refusal(engine.Append(session_id=session_id, messages=batch))
    assert refused.reason == "BATCH_TOO_LARGE"
