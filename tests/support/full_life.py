"""A session that has a row in every table, with a marker wherever a session holds anything of its users'."""

from dataclasses import dataclass, field
from typing import Any

from factories import ASSISTANT, answered, fresh, patched, said
from lockstitch.v1.message_pb2 import Message, Original, Part, ToolCallPart
from support.databases import Database
from support.drafted import drafted
from support.rpc import Rpc
from support.running import fence_of, started


@dataclass
class Life:
    """What became of a session, for callers who come back to it."""

    session_id: str
    request_ids: list[str] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    """By the method whose next page each opens."""
    run_id: str = ""
    appended: Any = None
    """The request of an Append that was made."""


def marked(marker: str) -> Message:
    """Make an assistant's message with two parallel calls and the marker wherever one holds content."""
    arguments = f'{{"deep": ["{marker}"]}}'
    return Message(
        role=ASSISTANT,
        author=marker,
        parts=[
            Part(text=f"so {marker} then"),
            Part(reasoning=marker),
            Part(tool_call=ToolCallPart(call_id="c1", name="t", arguments_json=arguments)),
            Part(tool_call=ToolCallPart(call_id="c2", name="t", arguments_json=arguments)),
        ],
        metadata_json=f'["{marker}"]',
        original=Original(format="x", data=marker.encode()),
    )


def checkpoint(checkpoint_id: str, marker: str) -> dict[str, Any]:
    """Make a checkpoint that says the marker in all its parts."""
    said_so = marker.encode()
    return {
        "checkpoint_id": checkpoint_id,
        "namespace": marker,
        "format": marker,
        "data": said_so,
        "metadata_json": f'{{"{marker}":1}}',
        "values": [{"channel": marker, "version": "1", "data": said_so}],
        "writes": [{"task_id": marker, "channel": marker, "data": said_so}],
    }


async def lived(engine: Rpc, database: Database, tenant: str, marker: str, **fields: Any) -> Life:
    """Make a session and live its life: runs, parallel calls, memory, removals, a draft; at its end a run is active."""
    made = await engine.CreateSession(
        **{"user_id": "u1", "agent": marker, "title": marker, "labels": {"k": marker}} | fields,
        metadata_json=f'{{"{marker}":1}}',
        memory={"goal": marker},
        messages=[said(marker)],
        ttl={"seconds": 3600},
    )
    life = Life(made.session.session_id)
    on = {"session_id": life.session_id}
    run = await started(engine, life.session_id, worker=marker, labels={marker: marker})
    fence = fence_of(run)
    life.run_id = run.run_id
    life.request_ids.append(fresh("request"))
    await engine.Append(**on, request_id=life.request_ids[0], fence=fence, messages=[marked(marker)])
    resources = [{"uri": f"file:{marker}", "before": marker, "after": marker}]
    await engine.UpdateToolCall(**on, fence=fence, call_id="c1", status=2, resources=resources)
    await engine.CompleteToolCall(**on, fence=fence, call_id="c1", error=f"boom {marker}", resources=resources)
    await engine.Append(**on, fence=fence, messages=[answered("c2", f'"{marker}"'), said(marker)])
    await engine.UpdateMemory(**on, change=patched(f'{{"goal":"{marker}2","{marker}":["{marker}"]}}'))
    await engine.UpdateMemory(**on, run_id=run.run_id, change=patched(f'{{"goal":"{marker}"}}'))
    await engine.UpdateMemory(**on, run_id=run.run_id, change=patched(f'{{"goal":"{marker}3"}}'))
    for number in range(2):
        await engine.PutCheckpoint(**on, fence=fence, checkpoint=checkpoint(f"{number}", marker))
    await engine.FinishRun(**on, fence=fence, status=3, error=f"because {marker}")
    await engine.UpdateSession(session=on | {"title": f"{marker} again"}, update_mask={"paths": ["title"]})
    await engine.RemoveMessages(**on, last=1)
    again = await started(engine, life.session_id, lease={"seconds": 600})
    await drafted(database, tenant, life.session_id, f"half a {marker}", run_id=again.run_id, fencing_token=2)
    for method in ("ListMessages", "ListCommits", "ListToolCalls", "ListRuns", "ListMemoryVersions", "ListCheckpoints"):
        page = await getattr(engine, method)(**on, page_size=1)
        assert page.next_page_token, method
        life.tokens[method] = page.next_page_token
    return life
