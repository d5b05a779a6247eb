"""CONTRACT 13: a message that is stored while it is generated becomes one commit, whoever writes it to its end."""

import asyncio
from typing import Any

import grpc
import pytest

from factories import ASSISTANT, PENDING, SUCCEEDED, USER, called, fresh, patched, replaced, said, texts_of
from lockstitch.v1 import run_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.drafts import Drafting, hash_of, rows_left, stored, until_stored
from support.rpc import As, Create, Refusal, Rpc, as_replayed, outcome, refusal
from support.sizes import MIB
from support.stage import StartServer

WIDE = "\U0001f600"  # four bytes a character


async def texts(engine: Rpc, session_id: str) -> list[str]:
    return texts_of((await engine.ListMessages(session_id=session_id)).messages)


async def test_a_draft_is_one_commit_with_the_text_that_was_said(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    header = {"message_id": "m-1", "author": "a model", "metadata_json": '{"k":1.0}', "usage": {"model": "m"}}
    draft = Drafting(engine.caller, session_id, message=header)
    for word in ("Hello ", "", WIDE, "\0", "é"):
        await draft.say(word)
    await until_stored(shared_database, tenant, session_id, {draft.draft_id: f"Hello {WIDE}\0é"})
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    receipt = await draft.end(" end")
    assert (receipt.version, receipt.first_seq, receipt.last_seq) == (2, 1, 1)
    assert (list(receipt.message_ids), receipt.replayed) == (["m-1"], False)
    (message,) = (await engine.ListMessages(session_id=session_id)).messages
    assert [part.text for part in message.parts] == [f"Hello {WIDE}\0é end"]
    assert (message.role, message.message_id, message.author) == (ASSISTANT, "m-1", "a model")
    assert (message.metadata_json, message.usage.model, message.incomplete) == ('{"k":1.0}', "m", False)
    commit = (await engine.ListCommits(session_id=session_id, after_version=1)).commits[0]
    assert (commit.request_id_hash, commit.principal.subject) == (hash_of(draft.draft_id), "engine-1")
    assert await rows_left(shared_database, tenant, session_id) == 0


async def test_a_draft_of_one_step_is_enough(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await Drafting(engine.caller, session_id, message=said(role=USER)).end("all at once")
    assert await texts(engine, session_id) == ["all at once"]


async def test_the_last_step_may_bring_the_message_whole_and_what_goes_with_it_in_one_commit(
    engine: Rpc, create: Create
) -> None:
    session_id = await create()
    run = (await engine.StartRun(session_id=session_id, worker="w")).run
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    draft = Drafting(engine.caller, session_id, fence=fence)
    await draft.say("let me loo")
    receipt = await draft.end(
        message=called("c-1", "c-2", text="Let me look."),
        memory_change=patched('{"goal":"look"}'),
        finish_run={"status": run_pb2.RUN_STATUS_SUCCEEDED},
    )
    assert (receipt.version, receipt.memory_version, len(receipt.tool_call_ids)) == (3, 3, 2)
    answer = await engine.GetSession(
        session_id=session_id, recent_messages=5, include_memory=True, include_open_tool_calls=True
    )
    assert answer.session.version == 3
    assert not answer.session.active_run_id
    assert texts_of(answer.messages) == ["Let me look."]
    assert answer.messages[0].run_id == run.run_id
    assert [(call.call_id, call.status) for call in answer.open_tool_calls] == [("c-1", PENDING), ("c-2", PENDING)]
    assert answer.memory.goal == "look"
    ended = (await engine.GetRun(session_id=session_id, run_id=run.run_id)).run
    assert (ended.status, ended.ended_version) == (run_pb2.RUN_STATUS_SUCCEEDED, 3)
    completed = await engine.CompleteToolCall(session_id=session_id, call_id="c-1", result_json="1")
    assert completed.tool_call.status == SUCCEEDED


async def test_overlap_is_dropped_and_a_gap_is_refused_with_how_far_it_is_stored(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    draft = Drafting(engine.caller, session_id)
    await draft.say("Hello, ")
    await draft.say("lo, world", offset=3)
    await until_stored(shared_database, tenant, session_id, {draft.draft_id: "Hello, world"})
    await draft.say("?", offset=13)
    refused = await refusal(draft.ended())
    assert refused.what == (grpc.StatusCode.OUT_OF_RANGE, "CURSOR_AHEAD")
    assert refused.metadata["current_offset"] == "12"
    again = Drafting(engine.caller, session_id, draft_id=draft.draft_id, sent=13)
    assert (await refusal(again.end("?"))).metadata["current_offset"] == "12"
    never = Drafting(engine.caller, session_id, sent=1)
    assert (await refusal(never.end("?"))).metadata["current_offset"] == "0"
    await Drafting(engine.caller, session_id, draft_id=draft.draft_id).end("Hello, world!")
    assert await texts(engine, session_id) == ["Hello, world!"]


@pytest.mark.parametrize("offset", [0, 5, 9, 14])
async def test_a_draft_goes_on_elsewhere_from_any_offset_that_is_stored(
    engines: tuple[Rpc, Rpc], create: Create, shared_database: Database, tenant: str, offset: int
) -> None:
    session_id, text = await create(), f"One {WIDE} and two and three"
    first = Drafting(engines[0].caller, session_id)
    said_so_far = text.encode()[:14].decode()
    await first.say(said_so_far)
    await until_stored(shared_database, tenant, session_id, {first.draft_id: said_so_far})
    first.leave()
    second = Drafting(engines[1].caller, session_id, draft_id=first.draft_id, sent=offset if offset != 5 else 4)
    receipt = await second.end(text.encode()[second.sent :].decode())
    assert receipt.version == 2
    assert await texts(engines[0], session_id) == [text]
    assert await rows_left(shared_database, tenant, session_id) == 0


async def test_an_offset_within_a_character_is_refused(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    draft = Drafting(engine.caller, session_id)
    await draft.say("ab")
    await until_stored(shared_database, tenant, session_id, {draft.draft_id: "ab"})
    # Other text than what is stored: two bytes of it lie within this character.
    await draft.say(WIDE, offset=0)
    refused = await refusal(draft.ended())
    assert (refused.reason, refused.field) == ("INVALID_FIELD", "offset")
    assert await stored(shared_database, tenant, session_id) == {draft.draft_id: "ab"}


async def test_two_who_write_different_texts_into_one_draft_leave_a_readable_message(
    engines: tuple[Rpc, Rpc], create: Create, shared_database: Database, tenant: str
) -> None:
    """They would meet within characters; whoever is late finds that his text was passed over."""
    session_id, draft_id = await create(), fresh("draft")

    async def write(engine: Rpc, words: list[str]) -> object:
        draft = Drafting(engine.caller, session_id, draft_id=draft_id)
        for word in words:
            await draft.say(word)
            await asyncio.sleep(0.07)  # steps of several ticks, which fall between each other's
        return await outcome(draft.end())

    ends = await asyncio.gather(write(engines[0], [WIDE] * 10), write(engines[1], ["x", *[WIDE] * 9, "xyz"]))
    committed = [end for end in ends if not isinstance(end, Refusal)]
    assert committed
    (text,) = await texts(engines[0], session_id)
    assert text
    assert await rows_left(shared_database, tenant, session_id) == 0


async def test_after_a_crash_of_its_server_a_draft_goes_on_from_the_beginning_or_from_what_is_stored(
    engines: tuple[Rpc, Rpc], create: Create, shared_database: Database, tenant: str, start_server: StartServer
) -> None:
    for from_the_beginning in (True, False):
        crashing = start_server(shared_database)
        token = crashing.token(tenant=tenant, user="engine-1", role="engine")
        session_id = await create()
        draft = Drafting(Caller(crashing.target, token), session_id)
        await draft.say("stored ")
        await until_stored(shared_database, tenant, session_id, {draft.draft_id: "stored "})
        await draft.say("and maybe not ")
        crashing.kill()
        assert isinstance(await outcome_code(draft), grpc.StatusCode)
        sent = 0 if from_the_beginning else len("stored ")
        again = Drafting(engines[1].caller, session_id, draft_id=draft.draft_id, sent=sent)
        await again.end("stored and maybe not stored"[sent:])
        assert await texts(engines[0], session_id) == ["stored and maybe not stored"]


async def outcome_code(draft: Drafting) -> grpc.StatusCode:
    """How a call ended whose server is gone."""
    try:
        await draft.ended()
    except grpc.aio.AioRpcError as error:
        return error.code()
    raise AssertionError("it did not end")


async def test_a_retry_gives_the_same_receipt_and_need_not_send_the_text_again(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    receipt = await Drafting(engines[0].caller, session_id, draft_id="d-1", message={"author": "a"}).end("text")
    for engine in engines:
        for text in ("text", "", "te"):
            again = Drafting(engine.caller, session_id, draft_id="d-1", message={"author": "a"})
            assert await again.end(text) == as_replayed(receipt)
    await engines[0].CloseSession(session_id=session_id)
    again = Drafting(engines[1].caller, session_id, draft_id="d-1", message={"author": "a"})
    assert await again.end("text") == as_replayed(receipt)
    assert len(await texts(engines[0], session_id)) == 1


async def test_a_retry_with_another_header_or_end_is_refused(
    engine: Rpc, create: Create, shared_database: Database, tenant: str
) -> None:
    session_id = await create()
    reused = (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")
    await Drafting(engine.caller, session_id, draft_id="d-1").end("text")
    other_header = Drafting(engine.caller, session_id, draft_id="d-1", message={"author": "b"})
    assert (await refusal(other_header.end("text"))).what == reused
    other_end = Drafting(engine.caller, session_id, draft_id="d-1")
    await other_end.say("text")
    assert (await refusal(other_end.end(message=said("other", role=ASSISTANT)))).what == reused
    appended = await refusal(engine.Append(session_id=session_id, request_id="d-1", messages=[said("text")]))
    assert appended.what == reused
    # While it is open, too.
    await Drafting(engine.caller, session_id, draft_id="d-2").say("text")
    await until_stored(shared_database, tenant, session_id, {"d-2": "text"})
    open_one = Drafting(engine.caller, session_id, draft_id="d-2", message={"author": "b"})
    refused = await refusal(open_one.end("text"))
    assert refused.what == reused
    assert await texts(engine, session_id) == ["text"]


async def test_a_fenced_run_drafts_no_more(engine: Rpc, create: Create, shared_database: Database, tenant: str) -> None:
    session_id = await create()
    run = (await engine.StartRun(session_id=session_id, worker="w")).run
    fence = {"run_id": run.run_id, "fencing_token": run.fencing_token}
    draft = Drafting(engine.caller, session_id, fence=fence)
    await draft.say("under the run")
    await until_stored(shared_database, tenant, session_id, {draft.draft_id: "under the run"})
    await engine.StartRun(session_id=session_id, worker="v", on_busy="ON_BUSY_INTERRUPT")
    assert (await refusal(draft.ended())).what == (grpc.StatusCode.FAILED_PRECONDITION, "RUN_FENCED")
    late = Drafting(engine.caller, session_id, fence=fence)
    assert (await refusal(late.end("late"))).reason == "RUN_FENCED"
    assert await texts(engine, session_id) == ["under the run"]


async def test_expected_versions_are_compared_at_the_beginning_and_at_the_end(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g"})
    early = Drafting(engine.caller, session_id, expected_version=2)
    assert (await refusal(early.end("text"))).what == (grpc.StatusCode.ABORTED, "VERSION_CONFLICT")
    assert (await Drafting(engine.caller, session_id, expected_version=1).end("text")).version == 2
    draft = Drafting(engine.caller, session_id, expected_version=2)
    await draft.say("text")
    await engine.Append(session_id=session_id, messages=[said("in between")])
    refused = await refusal(draft.end())
    assert (refused.reason, refused.metadata["current_version"]) == ("VERSION_CONFLICT", "3")
    guarded = Drafting(engine.caller, session_id, expected_memory_version=1)
    assert (await guarded.end("text", memory_change=replaced(goal="h"))).memory_version == 4
    stale = Drafting(engine.caller, session_id, expected_memory_version=1)
    assert (await refusal(stale.end("text"))).reason == "VERSION_CONFLICT"
    unguarded = Drafting(engine.caller, session_id)
    refused = await refusal(unguarded.end("text", memory_change=replaced(goal="i")))
    assert refused.what == (grpc.StatusCode.INVALID_ARGUMENT, "EXPECTED_VERSION_REQUIRED")
    forced = Drafting(engine.caller, session_id, force=True)
    assert (await forced.end("text", memory_change=replaced(goal="i"))).version == 5


async def test_a_user_drafts_nothing(user: Rpc, create: Create, shared_database: Database, tenant: str) -> None:
    session_id = await create()
    refused = await refusal(Drafting(user.caller, session_id, message={"role": USER}).end("text"))
    assert refused.what == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")
    assert await rows_left(shared_database, tenant, session_id) == 0


async def test_a_session_of_somebody_else_is_not_there(create: Create, call_as: As) -> None:
    session_id = await create()
    stranger = call_as("engine-1", "engine", tenant=fresh("tenant"))
    theirs = await refusal(Drafting(stranger.caller, session_id, draft_id="d").end("text"))
    never = await refusal(Drafting(stranger.caller, "never", draft_id="d").end("text"))
    assert (theirs.code, theirs.reason, theirs.text) == (never.code, never.reason, never.text)
    assert theirs.what == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")


def step(**fields: object) -> pb.StreamDraftRequest:
    return pb.StreamDraftRequest(**fields)  # type: ignore[arg-type]


ENDED = step(message=said("whole", role=ASSISTANT))
BAD: dict[str, tuple[dict[str, object], list[pb.StreamDraftRequest], str]] = {
    "a result": ({"message": {"role": "ROLE_TOOL"}}, [], "message.role"),
    "a role that is none": ({"message": {"role": 99}}, [], "message.role"),
    "parts in the header": ({"message": said("text", role=ASSISTANT)}, [], "message.parts"),
    "no session": ({"session_id": ""}, [], "session_id"),
    "no request_id": ({"request_id": ""}, [], "request_id"),
    "the server's request_id": ({"request_id": "server:draft/x"}, [], "request_id"),
    "a negative offset": ({"offset": -1}, [], "offset"),
    "a negative offset later": ({}, [step(offset=-1, text="x")], "offset"),
    "a request_id later": ({}, [step(request_id="d", text="x", offset=4)], "request_id"),
    "a session later": ({}, [step(session_id="s", text="x", offset=4)], "session_id"),
    "a version later": ({}, [step(expected_version=1, offset=4)], "expected_version"),
    "a step behind the message": ({}, [ENDED, step(text="x", offset=4)], "message"),
    "a step behind the memory": ({}, [step(memory_change=patched("{}")), step(text="x", offset=4)], "message"),
    "metadata that is no JSON": ({"message": {"metadata_json": "{"}}, [], "message.metadata_json"),
    "a run's end without a run": ({}, [step(finish_run={"status": 2})], "finish_run"),
    "a message without content": ({}, [step(message={"role": "ROLE_ASSISTANT"})], "message.parts"),
}


@pytest.mark.parametrize("name", BAD)
async def test_what_is_wrong_is_named_and_makes_no_commit(
    engine: Rpc, create: Create, shared_database: Database, tenant: str, name: str
) -> None:
    session_id, (first, following, field) = await create(), BAD[name]
    draft = Drafting(engine.caller, session_id)
    await draft.say("text", **first)
    for one in following:
        await draft.send(one)
    refused = await refusal(draft.end())
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"), refused
    assert refused.field.startswith(field)
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    if not following:
        assert await rows_left(shared_database, tenant, session_id) == 0


async def test_bytes_that_are_no_step_are_refused(engine: Rpc) -> None:
    for first in ([], [step(request_id="d", session_id="s").SerializeToString()]):
        call: Any = engine.caller.channel.stream_unary("/lockstitch.v1.SessionService/StreamDraft")
        refused = await refusal(call(iter([*first, b"\xff\xff\xff"]), metadata=engine.caller.headers))
        assert refused.reason in {"INVALID_FIELD", "SESSION_NOT_FOUND"}
    nothing: Any = engine.caller.channel.stream_unary("/lockstitch.v1.SessionService/StreamDraft")
    assert (await refusal(nothing(iter([]), metadata=engine.caller.headers))).field == "session_id"


async def test_text_beyond_the_limit_is_refused_where_it_begins(engine: Rpc, create: Create) -> None:
    session_id = await create()
    draft = Drafting(engine.caller, session_id)
    for _ in range(3):
        await draft.say("x" * MIB)
    await draft.say("y")
    refused = await refusal(draft.ended())
    assert refused.what == (grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_TOO_LARGE")
    assert refused.field == "text"
    at_once = Drafting(engine.caller, session_id)
    assert (await refusal(at_once.end("x" * (3 * MIB + 1)))).reason == "MESSAGE_TOO_LARGE"
    assert (await engine.GetSession(session_id=session_id)).session.version == 1


async def test_a_call_without_a_token_is_refused(create: Create, shared_servers: tuple[ServerProcess, ...]) -> None:
    session_id = await create()
    async with Caller(shared_servers[0].target) as nobody:
        refused = await refusal(Drafting(nobody, session_id).end("text"))
    assert refused.what == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING")
