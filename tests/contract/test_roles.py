"""CONTRACT 5: who may do what, cell by cell."""

from typing import Any

import grpc
import pytest

from factories import ASSISTANT, AWAITING_APPROVAL, TOOL, USER, answered, called, held, keyed, patched, said
from lockstitch.v1 import admin_service_pb2
from lockstitch.v1.message_pb2 import ROLE_DEVELOPER, ROLE_SYSTEM, Blob, Message, Original
from support.every_change import RUN, prepared
from support.rpc import As, Create, Rpc, field_refused, refusal

NOT_ALLOWED = (grpc.StatusCode.PERMISSION_DENIED, "ROLE_NOT_ALLOWED")

# (what, method, fields beside the session's id)
EVERYBODY: list[tuple[str, str, dict[str, Any]]] = [
    ("get", "GetSession", {"recent_messages": 5, "include_memory": True, "include_open_tool_calls": True}),
    ("messages", "ListMessages", {}),
    ("memory", "GetMemory", {}),
    ("memory versions", "ListMemoryVersions", {}),
    ("tool calls", "ListToolCalls", {}),
    ("commits", "ListCommits", {}),
    ("context", "GetContext", {}),
    ("append text", "Append", {"messages": [said("hi")]}),
    ("append json", "Append", {"messages": [held(json="{}")]}),
    ("append blob", "Append", {"messages": [held(blob=Blob(mime_type="image/png", uri="u"))]}),
    ("append or create", "Append", {"messages": [said("hi")], "create_if_missing": {}}),
    ("close", "CloseSession", {}),
    ("restore", "RestoreSession", {}),
    ("delete", "DeleteSession", {}),
    ("undelete", "UndeleteSession", {}),
    ("answer an approval", "UpdateToolCall", {"call_id": "c1", "approval": {"granted": True}}),
]
OF_A_RUN: list[tuple[str, str, dict[str, Any]]] = [
    ("get a run", "GetRun", {"run_id": "run-1"}),
    ("runs", "ListRuns", {}),
    ("a run's memory", "GetMemory", {"run_id": "run-1"}),
    ("a run's memory versions", "ListMemoryVersions", {"run_id": "run-1"}),
    ("ask a run to end", "CancelRun", {"run_id": "run-1"}),
]
ENGINES_OF_A_RUN: list[tuple[str, str, dict[str, Any]]] = [
    ("end a run at once", "CancelRun", {"run_id": "run-1", "now": True}),
    ("interrupt a run", "StartRun", {"on_busy": 3}),
    ("join a run", "StartRun", {"on_busy": 2}),
    ("renew a run", "RenewRun", {"fence": RUN}),
    ("finish a run", "FinishRun", {"fence": RUN, "status": 2}),
    ("append under a run", "Append", {"fence": RUN, "messages": [said("hi")]}),
    ("finish a run with an append", "Append", {"fence": RUN, "finish_run": {"status": 2}}),
    ("write a run's memory", "UpdateMemory", {"run_id": "run-1", "change": patched('{"k":1}')}),
    ("answer under a run", "UpdateToolCall", {"fence": RUN, "call_id": "c1", "approval": {"granted": True}}),
    ("close by force", "CloseSession", {"force": True}),
    ("delete by force", "DeleteSession", {"force": True}),
]
ENGINES: list[tuple[str, str, dict[str, Any]]] = [
    ("write memory", "UpdateMemory", {"change": patched('{"k":1}')}),
    ("write memory on append", "Append", {"memory_change": keyed(k="1")}),
    ("assistant", "Append", {"messages": [said("hi", role=ASSISTANT)]}),
    ("system", "Append", {"messages": [said("hi", role=ROLE_SYSTEM)]}),
    ("developer", "Append", {"messages": [said("hi", role=ROLE_DEVELOPER)]}),
    ("tool", "Append", {"messages": [answered("c1")]}),
    ("orphans", "Append", {"messages": [answered("c77")], "allow_orphans": True}),
    ("claim orphans", "Append", {"messages": [said("hi")], "allow_orphans": True}),
    ("one among others", "Append", {"messages": [said("hi"), said("hi", role=ASSISTANT)]}),
    ("original", "Append", {"messages": [Message(role=USER, original=Original(format="f", data=b"x"))]}),
    ("author", "Append", {"messages": [said("hi", author="somebody")]}),
    ("record a call", "Append", {"tool_calls": [{"call_id": "c", "name": "n", "arguments_json": "{}"}]}),
    ("end a call on append", "Append", {"tool_calls": [{"call_id": "c1", "result_json": "1"}]}),
    ("approve on append", "Append", {"tool_calls": [{"call_id": "c1", "approval": {"granted": True}}]}),
    ("force", "Append", {"messages": [said("hi")], "force": True}),
    ("resources", "UpdateToolCall", {"call_id": "c1", "resources": [{"uri": "u"}]}),
    ("status", "UpdateToolCall", {"call_id": "c2", "status": 2}),
    ("status with an approval", "UpdateToolCall", {"call_id": "c1", "status": 1, "approval": {"granted": True}}),
    ("complete", "CompleteToolCall", {"call_id": "c1", "result_json": "1"}),
    ("start a run", "StartRun", {}),
    ("remove", "RemoveMessages", {"last": 1}),
    ("redact", "UpdateMessage", {"message_id": "first", "message": said("x")}),
]


@pytest.mark.parametrize("role", ["user", "engine", "admin"])
@pytest.mark.parametrize(("method", "fields"), [case[1:] for case in OF_A_RUN], ids=[case[0] for case in OF_A_RUN])
async def test_everybody_reads_runs_and_asks_them_to_end(
    call_as: As, engine: Rpc, create: Create, role: str, *, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _waiting(engine, create)
    await engine.StartRun(session_id=session_id, run_id=RUN["run_id"])
    await getattr(call_as("u1", role), method)(session_id=session_id, **fields)


@pytest.mark.parametrize("role", ["engine", "admin"])
@pytest.mark.parametrize(
    ("method", "fields"), [case[1:] for case in ENGINES_OF_A_RUN], ids=[case[0] for case in ENGINES_OF_A_RUN]
)
async def test_engines_and_admins_hold_runs_and_a_user_does_not(
    call_as: As, engine: Rpc, create: Create, role: str, *, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _waiting(engine, create)
    run = (await engine.StartRun(session_id=session_id, run_id=RUN["run_id"])).run
    before = (await engine.GetSession(session_id=session_id)).session
    refused = await refusal(getattr(call_as("u1"), method)(session_id=session_id, **fields))
    assert refused.what == NOT_ALLOWED
    assert (await engine.GetSession(session_id=session_id)).session == before
    assert (await engine.GetRun(session_id=session_id, run_id=RUN["run_id"])).run == run
    await getattr(call_as("somebody", role), method)(session_id=session_id, **fields)


async def _waiting(engine: Rpc, create: Create) -> str:
    session_id = await prepared(create)
    await engine.UpdateToolCall(session_id=session_id, call_id="c1", status=AWAITING_APPROVAL)
    return session_id


@pytest.mark.parametrize("role", ["user", "engine", "admin"])
@pytest.mark.parametrize(("method", "fields"), [case[1:] for case in EVERYBODY], ids=[case[0] for case in EVERYBODY])
async def test_everybody_may(
    call_as: As, engine: Rpc, create: Create, role: str, *, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _waiting(engine, create)
    await getattr(call_as("u1", role), method)(session_id=session_id, **fields)


@pytest.mark.parametrize("role", ["engine", "admin"])
@pytest.mark.parametrize(("method", "fields"), [case[1:] for case in ENGINES], ids=[case[0] for case in ENGINES])
async def test_engines_and_admins_may_and_a_user_may_not(
    call_as: As, engine: Rpc, create: Create, role: str, *, method: str, fields: dict[str, Any]
) -> None:
    session_id = await _waiting(engine, create)
    before = (await engine.GetSession(session_id=session_id)).session
    refused = await refusal(getattr(call_as("u1"), method)(session_id=session_id, **fields))
    assert refused.what == NOT_ALLOWED
    assert (await engine.GetSession(session_id=session_id)).session == before
    await getattr(call_as("somebody", role), method)(session_id=session_id, **fields)


@pytest.mark.parametrize("paths", [["labels"], ["metadata_json"], ["expire_time"], ["idle_ttl"], ["title", "labels"]])
async def test_a_user_changes_the_title_only(call_as: As, create: Create, paths: list[str]) -> None:
    session_id = await create()
    new = {"session_id": session_id, "title": "mine", "labels": {"a": "b"}, "metadata_json": "1"}
    await call_as("u1").UpdateSession(session=new, update_mask={"paths": ["title"]})
    refused = await refusal(call_as("u1").UpdateSession(session=new, update_mask={"paths": paths}, expected_version=2))
    assert refused.what == NOT_ALLOWED
    forced = call_as("u1").UpdateSession(session=new, update_mask={"paths": ["title"]}, force=True)
    assert (await refusal(forced)).what == NOT_ALLOWED


@pytest.mark.parametrize(
    ("allowed", "fields"),
    [
        (True, {"messages": [said("hi")]}),
        (True, {"title": "t", "labels": {"a": "b"}, "metadata_json": "1", "agent": "a"}),
        (False, {"messages": [said("hi"), said("hi", role=ASSISTANT)]}),
        (False, {"messages": [called("c")]}),
        (False, {"memory": {"goal": "g"}}),
        (False, {"memory": {}}),
        (False, {"user_id": "u2"}),
    ],
)
async def test_a_user_creates_sessions_of_its_own_with_its_own_words(
    call_as: As, *, allowed: bool, fields: dict[str, Any]
) -> None:
    user = call_as("u1")
    if allowed:
        assert (await user.CreateSession(**fields)).session.user_id == "u1"
    else:
        assert (await refusal(user.CreateSession(**fields))).what == NOT_ALLOWED
    assert len((await user.ListSessions()).sessions) == int(allowed)


async def test_an_engine_acts_for_whom_it_names(call_as: As, engine: Rpc) -> None:
    made = await engine.CreateSession(user_id="u7")
    assert (await call_as("u7").GetSession(session_id=made.session.session_id)).session.user_id == "u7"
    nobodys = (await engine.CreateSession()).session
    assert nobodys.user_id == ""
    assert (await refusal(call_as("engine-1").GetSession(session_id=nobodys.session_id))).reason == "SESSION_NOT_FOUND"


@pytest.mark.parametrize(
    "part", [{"reasoning": "r"}, {"tool_call": {"call_id": "c", "name": "n"}}, {"tool_result": {}}]
)
@pytest.mark.parametrize("role", ["user", "engine"])
async def test_a_user_message_holds_nothing_that_could_be_taken_for_the_models(
    call_as: As, create: Create, role: str, part: dict[str, Any]
) -> None:
    session_id = await create()
    (kind,) = part
    refused = field_refused(call_as("u1", role).Append(session_id=session_id, messages=[held(**part)]))
    assert await refused == f"messages[0].parts[0].{kind}"


async def test_no_role_at_all_is_refused_by_name_for_engines(call_as: As, engine: Rpc, create: Create) -> None:
    session_id = await create()
    for role in (0, 6, 77, -1):
        message = Message(role=role, parts=said("x").parts)  # type: ignore[arg-type]
        assert await field_refused(engine.Append(session_id=session_id, messages=[message])) == "messages[0].role"
        refused = await refusal(call_as("u1").Append(session_id=session_id, messages=[message]))
        assert refused.code in {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED}
    assert TOOL


@pytest.mark.parametrize(("role", "allowed"), [("user", False), ("engine", True), ("admin", True)])
async def test_the_server_tells_engines_and_admins_of_itself(call_as: As, role: str, *, allowed: bool) -> None:
    call = call_as("x", role).caller.admin.GetServerInfo(admin_service_pb2.GetServerInfoRequest())
    if allowed:
        info = await call
        assert info.durability.fsync
        assert info.limits.content_bytes_max == 3 * 1024 * 1024
    else:
        assert (await refusal(call)).what == NOT_ALLOWED


@pytest.mark.parametrize(("user", "role", "number"), [("u1", "user", 1), ("e", "engine", 2), ("a", "admin", 3)])
async def test_every_commit_records_who_made_it(call_as: As, create: Create, user: str, role: str, number: int) -> None:
    session_id = await create()
    await call_as(user, role).Append(session_id=session_id, messages=[said("hi")])
    (commit,) = (await call_as("u1").ListCommits(session_id=session_id, after_version=1)).commits
    assert (commit.principal.subject, commit.principal.role) == (user, number)
