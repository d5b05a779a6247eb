"""What was erased is in no row of any table and in no dump, and nor is a digest that could confirm a guess at it.

Out of reach here, and documented: the write-ahead log and dead rows, until they are recycled and vacuumed, and backups.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from factories import AWAITING_APPROVAL, INTERRUPTED, RUNNING, answered, called, fresh, keyed, patched, replaced, said
from lockstitch.v1.message_pb2 import (
    ROLE_ASSISTANT,
    ROLE_TOOL,
    Blob,
    Message,
    Original,
    Part,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.tool_call_pb2 import Resource
from lockstitch.v1.working_memory_pb2 import MemoryChange, MemorySet, WorkingMemory
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As, Create, Rpc
from support.scans import copies, dump, places

Fill: TypeAlias = Callable[[Rpc, str, str], Awaitable[Any]]


@pytest.fixture
async def engine(call_as: As, server: ServerProcess) -> Rpc:
    """An engine at a server on the module's own database, which is small enough to be read whole."""
    return call_as("engine-1", "engine", to=server)


def marked(marker: str, *, message_id: str = "") -> Message:
    """Make an assistant's message with the marker wherever one holds content."""
    arguments = f'{{"deep": ["{marker}"]}}'
    return Message(
        role=ROLE_ASSISTANT,
        message_id=message_id,
        author=marker,
        parts=[
            Part(text=f"so {marker} then"),
            Part(json=f'{{"{marker}":1}}'),
            Part(reasoning=marker),
            Part(blob=Blob(mime_type="text/plain", data=marker.encode())),
            Part(blob=Blob(mime_type="text/plain", uri=f"file:{marker}")),
            Part(tool_call=ToolCallPart(call_id="c1", name="t", arguments_json=arguments)),
            Part(tool_call=ToolCallPart(call_id="c2", name="t", arguments_json=arguments)),
        ],
        metadata_json=f'["{marker}"]',
        usage=Usage(model=marker),
        original=Original(format="x", data=marker.encode()),
        event_time=Timestamp(seconds=987654321),
    )


async def a_turn(engine: Rpc, session_id: str, marker: str) -> None:
    """Store a turn whose calls, results, errors, approvals and resources hold the marker."""
    resources = [Resource(uri=f"file:{marker}", before=marker, after=marker)]
    await engine.Append(session_id=session_id, messages=[marked(marker, message_id="calls")])
    one, two = ({"session_id": session_id, "call_id": call_id} for call_id in ("c1", "c2"))
    await engine.UpdateToolCall(status=RUNNING, resources=resources, **one)
    await engine.CompleteToolCall(status=INTERRUPTED, error=f"lost {marker}", resources=resources, **one)
    await engine.CompleteToolCall(error=f"boom {marker}", result_json=f'["{marker}"]', resources=resources, **one)
    await engine.UpdateToolCall(status=AWAITING_APPROVAL, **two)
    await engine.UpdateToolCall(approval={"granted": True, "note": marker}, **two)
    await engine.Append(session_id=session_id, messages=[answered("c2", f'{{"{marker}": 1}}'), said(marker)])


async def removed_turn(engine: Rpc, session_id: str, marker: str) -> Any:
    await a_turn(engine, session_id, marker)
    return await erased(engine, "RemoveMessages", session_id=session_id, from_seq=2)


async def replaced_turn(engine: Rpc, session_id: str, marker: str) -> Any:
    await a_turn(engine, session_id, marker)
    replacement = [called("c1", arguments='{"clean":1}'), answered("c1", '"clean"')]
    return await erased(engine, "RemoveMessages", session_id=session_id, last=4, replacement=replacement)


async def removed_after_changes(engine: Rpc, session_id: str, marker: str) -> Any:
    """Copies in the history of changed messages, and of a result that was taken back before."""
    await a_turn(engine, session_id, marker)
    await engine.UpdateMessage(session_id=session_id, message_id="calls", message=called("c1", "c2", name="t"))
    await engine.RemoveMessages(session_id=session_id, last=1, erase_history=True)
    return await erased(engine, "RemoveMessages", session_id=session_id, from_seq=2)


async def popped_one_by_one(engine: Rpc, session_id: str, marker: str) -> Any:
    await a_turn(engine, session_id, marker)
    for _ in range(3):
        await engine.RemoveMessages(session_id=session_id, last=1, erase_history=True)
    return await erased(engine, "RemoveMessages", session_id=session_id, last=1)


async def redacted_message(engine: Rpc, session_id: str, marker: str) -> Any:
    """Every message that a turn's content lies in, changed twice."""
    await engine.Append(
        session_id=session_id, messages=[marked(marker, message_id="calls"), said(marker, message_id="u")]
    )
    await engine.CompleteToolCall(session_id=session_id, call_id="c1", error=marker)
    failed = Part(tool_result=ToolResultPart(call_id="c2", text=marker, is_error=True))
    await engine.Append(session_id=session_id, messages=[Message(role=ROLE_TOOL, message_id="r2", parts=[failed])])
    listed = (await engine.ListMessages(session_id=session_id, after_seq=3)).messages
    for message_id, changed in (
        (listed[0].message_id, answered("c1", '"…"', is_error=True)),
        ("r2", answered("c2", '"…"')),
        ("u", said("…")),
    ):
        update = {"session_id": session_id, "message_id": message_id}
        await engine.UpdateMessage(message=changed, erase_history=True, **update)
    twice = marked(marker + " again")
    await engine.UpdateMessage(session_id=session_id, message_id="calls", message=twice)
    clean = called("c1", "c2", name="t", text="…")
    return await erased(engine, "UpdateMessage", session_id=session_id, message_id="calls", message=clean)


async def flat_memory(engine: Rpc, session_id: str, marker: str) -> Any:
    await engine.UpdateMemory(session_id=session_id, change=keyed(a=f'"{marker}"', b="1"))
    # Said again, and found to be so already.
    await engine.UpdateMemory(session_id=session_id, change=keyed(a=f'"{marker}"', b="2"))
    await engine.UpdateMemory(session_id=session_id, change=patched(f'{{"\\u0061": "{marker}", "b": 3}}'))
    return await erased(engine, "UpdateMemory", session_id=session_id, change=keyed("a"))


async def nested_memory(engine: Rpc, session_id: str, marker: str) -> Any:
    await engine.Append(
        session_id=session_id, messages=[said("kept")], memory_change=patched(f'{{"a": {{"b": {{"c": "{marker}"}}}}}}')
    )
    await engine.UpdateMemory(session_id=session_id, change=patched(f'{{"a": {{"b": {{"c": "{marker}"}}, "d": 1}}}}'))
    return await erased(engine, "UpdateMemory", session_id=session_id, change=patched('{"a": {"b": {"c": null}}}'))


async def typed_memory(engine: Rpc, session_id: str, marker: str) -> Any:
    memory = WorkingMemory(goal=marker, plan=["x", marker], extra_json=f'{{"{marker}": 1}}')
    await engine.UpdateMemory(session_id=session_id, change=MemoryChange(replace=memory), force=True)
    repeated = MemoryChange(set=MemorySet(memory=memory, update_mask=FieldMask(paths=["goal", "plan", "extra_json"])))
    repeated.set.memory.next_action = "go"
    repeated.set.update_mask.paths.append("next_action")
    await engine.UpdateMemory(session_id=session_id, change=repeated, force=True)
    return await erased(engine, "UpdateMemory", session_id=session_id, change=replaced(next_action="go"), force=True)


async def details(engine: Rpc, session_id: str, marker: str) -> Any:
    mask = FieldMask(paths=["title", "labels", "metadata_json"])
    for number in range(2):
        full = Session(session_id=session_id, title=f"{marker} {number}", labels={marker: marker})
        full.metadata_json = f'{{"{number}":"{marker}"}}'
        await engine.UpdateSession(session=full, update_mask=mask, force=True)
    clean = Session(session_id=session_id, title="clean")
    return await erased(engine, "UpdateSession", session=clean, update_mask=mask, force=True)


async def erased(engine: Rpc, method: str, **fields: Any) -> Any:
    return await getattr(engine, method)(erase_history=True, **fields)


FILLS: dict[Fill, list[int]] = {
    removed_turn: [9],
    replaced_turn: [9],
    removed_after_changes: [10, 11],
    popped_one_by_one: [9, 12],
    redacted_message: [5, 6, 7, 9],
    flat_memory: [5],
    nested_memory: [4],
    typed_memory: [4],
    details: [4],
}
"""Each with the versions whose requests hold nothing of it: those that erased, and clean ones."""


@pytest.mark.parametrize("fill", FILLS, ids=lambda fill: fill.__name__)
async def test_nothing_of_it_is_left_in_any_table(
    engine: Rpc, create: Create, database: Database, postgres_bin: Path | None, fill: Fill
) -> None:
    marker = fresh("ERASE-ME")
    session_id = await create(messages=[said("kept")])
    # It is found where it is not erased, so that this test can fail.
    kept = await create(messages=[said(marker + " kept elsewhere")])
    answer = await fill(engine, session_id, marker)
    assert marker.encode() not in answer.SerializeToString()
    assert await places(database, marker.encode()) == ["lockstitch.messages.body"]
    assert len(copies(dump(database, postgres_bin), marker.encode())) == 1
    await engine.RemoveMessages(session_id=kept, last=1, erase_history=True)
    assert await places(database, marker.encode()) == []
    assert copies(dump(database, postgres_bin), marker.encode()) == []


@pytest.mark.parametrize("fill", FILLS, ids=lambda fill: fill.__name__)
async def test_no_digest_is_left_to_confirm_a_guess(
    engine: Rpc, create: Create, database: Database, tenant: str, fill: Fill
) -> None:
    session_id = await create(messages=[said("kept")])
    answer = await fill(engine, session_id, fresh("ERASE-ME"))
    assert answer.receipt.version == FILLS[fill][-1]
    log = await database.as_superuser(
        "select version, digest from lockstitch.commits where tenant_id = $1 order by version", tenant
    )
    assert [version for version, digest in log if digest] == [1, *FILLS[fill]]
    commits = (await engine.ListCommits(session_id=session_id, page_size=1000)).commits
    assert [commit.version for commit in commits if not commit.erased] == [1, *FILLS[fill]]
    assert await ledger_digests(database, tenant, "tool_calls_history") <= await ledger_digests(
        database, tenant, "tool_calls"
    )


async def ledger_digests(database: Database, tenant: str, table: str) -> set[bytes]:
    """Give the digests of arguments and outcomes that a table of the ledger holds."""
    columns = "array[arguments_digest, outcome_digest]"
    rows = await database.as_superuser(f"select {columns} from lockstitch.{table} where tenant_id = $1", tenant)
    return {digest for (digests,) in rows for digest in digests if digest}
