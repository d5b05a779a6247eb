"""A commit is the same whether it is given live, by its own server or another, read later, or listed."""

from typing import Any

from factories import (
    ASSISTANT,
    AWAITING_APPROVAL,
    RUNNING,
    SUCCEEDED,
    answered,
    called,
    fresh,
    held,
    keyed,
    patched,
    replaced,
    said,
)
from lockstitch.v1.commit_pb2 import CALLER_ROLE_USER
from lockstitch.v1.session_service_pb2 import AppendRequest
from support.rpc import Rpc
from support.stage import Stage

TRACED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def every_kind_of_commit(rpc: Rpc, session_id: str) -> None:
    """Make a commit of each kind that there is."""
    here: dict[str, Any] = {"session_id": session_id}
    first = await rpc.Append(**here, messages=[said("one", message_id=fresh("message"), metadata_json='{"b":1,"a":2}')])
    await rpc.Append(**here, messages=[said("two"), said("three", role=ASSISTANT), held(json='{"z":1e3,"a":-0.0}')])
    await rpc.Append(**here, messages=[held(blob={"mime_type": "image/png", "data": b"\x00\xff"})])
    await rpc.Append(**here, messages=[called("c1", "c2", arguments='{"z":1,"a":[1.0]}', text="calling")])
    await rpc.UpdateToolCall(**here, call_id="c1", status=RUNNING)
    await rpc.Append(**here, messages=[answered("c1", '{"done":1}')])
    await rpc.UpdateToolCall(**here, call_id="c2", status=AWAITING_APPROVAL)
    await rpc.UpdateToolCall(**here, call_id="c2", approval={"granted": True})
    await rpc.CompleteToolCall(**here, call_id="c2", status=SUCCEEDED, result_json='{"late":true}')
    await rpc.Append(**here, memory_change=patched('{"goal":"x","extra":{"z":1,"a":2}}'))
    await rpc.UpdateMemory(**here, change=keyed("extra", more="[1,2]"))
    await rpc.UpdateMemory(**here, change=replaced(goal="y"), force=True)
    await rpc.Append(**here, messages=[said("with memory")], memory_change=patched('{"next_action":"z"}'))
    update = here | {"title": "T", "labels": {"k": "v"}}
    await rpc.UpdateSession(session=update, update_mask={"paths": ["title", "labels"]}, force=True)
    changed = said("one, changed")
    await rpc.UpdateMessage(**here, message_id=first.receipt.message_ids[0], message=changed)
    await rpc.RemoveMessages(**here, last=1)
    await rpc.RemoveMessages(**here, last=1, replacement=[said("instead"), said("and this")])
    await rpc.CloseSession(**here, reason="enough")
    await rpc.RestoreSession(**here)


async def test_live_and_later_and_listed_commits_are_equal_byte_for_byte(stage: Stage) -> None:
    here, there = (server.target for server in stage.servers)
    session_id = await stage.session(
        here,
        title="new",
        labels={"a": "1"},
        metadata_json='{"m":1}',
        memory={"goal": "first"},
        messages=[said("zero"), called("c0", name="look")],
    )
    live = [await stage.follow(session_id, targets=[target]) for target in (here, there)]
    for reader in live:
        await reader.caught_up()
    await every_kind_of_commit(stage.rpc(here), session_id)
    version = (await stage.rpc(here).GetSession(session_id=session_id)).session.version
    later = await stage.follow(session_id, targets=[there])
    for reader in (*live, later):
        await reader.reached(version)
        assert reader.versions == list(range(1, version + 1))
    listed = (await stage.rpc(there).ListCommits(session_id=session_id, page_size=1000)).commits
    for given in zip(*(reader.commits for reader in (*live, later)), listed, strict=True):
        assert given[0] == given[1] == given[2] == given[3]


async def test_a_live_commit_says_who_made_it_and_on_which_trace(one_server: Stage) -> None:
    session_id = await one_server.session()
    reader = await one_server.follow(session_id)
    await reader.caught_up()
    request = AppendRequest(session_id=session_id, request_id=fresh("request"), messages=[said("traced")])
    caller = one_server.caller(user="u1", role="user")
    await caller.sessions.Append(request, metadata=[("traceparent", TRACED)])
    await reader.reached(2)
    commit = reader.commits[-1]
    assert (commit.principal.subject, commit.principal.role) == ("u1", CALLER_ROLE_USER)
    assert (commit.traceparent, commit.messages[0].seq, commit.HasField("session")) == (TRACED, 1, False)


async def test_what_changes_nothing_and_what_is_replayed_is_not_given(one_server: Stage) -> None:
    session_id, rpc = await one_server.session(), one_server.rpc()
    reader = await one_server.follow(session_id)
    await reader.caught_up()
    for _ in range(3):
        await rpc.Append(session_id=session_id, request_id="once", messages=[said("once")])
        await rpc.RestoreSession(session_id=session_id)
    await rpc.Append(session_id=session_id, messages=[said("last")])
    await reader.reached(3)
    assert (reader.versions, reader.texts) == ([1, 2, 3], ["once", "last"])


async def test_erased_content_is_erased_for_who_reads_later(one_server: Stage) -> None:
    session_id, rpc = await one_server.session(), one_server.rpc()
    first = await rpc.Append(session_id=session_id, messages=[said("ERASE-ME"), said("kept")])
    await rpc.UpdateMessage(
        session_id=session_id, message_id=first.receipt.message_ids[0], message=said("clean"), erase_history=True
    )
    reader = await one_server.follow(session_id)
    await reader.caught_up()
    assert reader.versions == [1, 2, 3]
    assert reader.commits[1].erased
    assert b"ERASE-ME" not in b"".join(frame.SerializeToString() for frame in reader.stream.frames)
    assert "kept" in reader.texts
