"""The types that users of the client see. Checked by mypy, never run."""

from datetime import datetime, timedelta
from typing import assert_type

import grpc

from lockstitch import (
    Client,
    ContextBuilder,
    DraftHandle,
    RunActive,
    RunHandle,
    SessionHandle,
    VersionConflict,
    assistant,
    call,
    merge_patch,
    replace,
    run_end,
    tool,
    user,
    working_memory,
)
from lockstitch.context import ModelMessage
from lockstitch.types import (
    CancelRunResponse,
    CloseSessionResponse,
    Commit,
    CommitReceipt,
    CompleteToolCallResponse,
    DeleteSessionResponse,
    Draft,
    FinishRunResponse,
    GetContextResponse,
    GetSessionResponse,
    MemoryChange,
    Message,
    RemoveMessagesResponse,
    RestoreSessionResponse,
    Run,
    RunEnd,
    Session,
    SubscribeResponse,
    ToolCall,
    ToolCallPart,
    UndeleteSessionResponse,
    UpdateMemoryResponse,
    UpdateMessageResponse,
    UpdateSessionResponse,
    UpdateToolCallResponse,
    WorkingMemory,
)


def every_way_to_name_a_server() -> None:
    async def fresh() -> str:
        return "token"

    Client("127.0.0.1:50051", token="token")
    Client("127.0.0.1:50051", token=lambda: "token", timeout=timedelta(seconds=3))
    Client("store.example.org:443", token=fresh, tls=True)
    Client("store.example.org:443", token=fresh, tls=b"-----BEGIN CERTIFICATE-----")
    Client("store.example.org:443", token=fresh, tls=grpc.ssl_channel_credentials())


async def what_calls_give(client: Client) -> None:
    async with client as entered:
        assert_type(entered, Client)
    session = await client.create(user_id="u1", memory=working_memory(goal="g"), ttl=timedelta(days=1))
    assert_type(session, SessionHandle)
    assert_type(await client.get("s"), SessionHandle)
    assert_type(client.session("s"), SessionHandle)
    assert_type([one async for one in client.list(user_id="u1")], list[Session])

    assert_type(await session.append(messages=[user("hi")], expected_version=session.version), CommitReceipt)
    assert_type(await session.append(memory_change={"goal": None}), CommitReceipt)
    assert_type(await session.update_memory(change=merge_patch({"a": 1})), UpdateMemoryResponse)
    assert_type(await session.update_tool_call(call_id="c1"), UpdateToolCallResponse)
    assert_type(
        await session.complete_tool_call(tool_call_id="t1", result={"any": ["thing"]}), CompleteToolCallResponse
    )
    assert_type(await session.close(), CloseSessionResponse)
    assert_type(await session.restore(ttl=timedelta(days=1)), RestoreSessionResponse)
    assert_type(await session.delete(force=True), DeleteSessionResponse)
    assert_type(await session.undelete(), UndeleteSessionResponse)

    assert_type(await session.update(title="T", idle_ttl=None), UpdateSessionResponse)
    assert_type(await session.remove(last=1, replacement=[user("hi")]), RemoveMessagesResponse)
    assert_type(await session.update_message(message_id="m1", message=user("hi")), UpdateMessageResponse)

    assert_type(await session.get(recent_messages=5, at_version=1), GetSessionResponse)
    assert_type([one async for one in session.memory_versions()], list[WorkingMemory])
    assert_type(await session.memory(), WorkingMemory)
    assert_type([one async for one in session.messages()], list[Message])
    assert_type([one async for one in session.commits()], list[Commit])
    assert_type([one async for one in session.tool_calls()], list[ToolCall])
    assert_type([one async for one in session.subscribe(after_version=0)], list[Commit])
    assert_type([one async for one in session.subscribe(drafts=True)], list[Commit | Draft])
    assert_type([one async for one in session.frames()], list[SubscribeResponse])

    context = await session.context(max_tokens=1_000)
    assert_type(context, GetContextResponse)
    builder = ContextBuilder(context, max_tokens=8_000)
    assert_type(builder.messages, tuple[ModelMessage, ...])
    assert_type(builder.openai_chat(), list[dict[str, object]])
    assert_type(builder.anthropic(), dict[str, object])
    assert_type(builder.open_calls, tuple[ToolCallPart, ...])


async def what_runs_and_drafts_give(session: SessionHandle) -> None:
    async with session.run(worker="w", lease=timedelta(seconds=30), on_busy="join", labels={"a": "b"}) as run:
        assert_type(run, RunHandle)
        assert_type((run.run_id, run.fencing_token, run.cancel_requested), tuple[str, int, bool])
        assert_type(run.lease_expire_time, datetime)
        assert_type(await run.append(messages=[user("hi")], finish=run_end()), CommitReceipt)
        assert_type(await run.update_own_memory(change={"goal": None}), UpdateMemoryResponse)
        assert_type(await run.own_memory(), WorkingMemory)
        assert_type(await run.renew(), Run)
        async with run.draft() as draft:
            assert_type(draft, DraftHandle)
            assert_type(await draft.finish(memory_change={"goal": None}, finish=run_end()), CommitReceipt)
            assert_type(draft.receipt, CommitReceipt | None)
        assert_type(await run.finish(status="failed", error="why"), FinishRunResponse)
    async with session.draft(author="writer") as draft:
        await draft.write("text")
    assert_type([one async for one in session.runs()], list[Run])
    assert_type(await session.get_run("r"), Run)
    assert_type(await session.cancel_run("r", now=True), CancelRunResponse)
    assert_type((await session.context()).last_run, Run)
    assert_type(run_end("failed", error="why"), RunEnd)


async def what_operators_get(client: Client, active: RunActive) -> None:
    assert_type(await client.purge("s"), datetime)
    assert_type(await client.erase_user("u1"), int)
    assert_type(active.lease_expire_time, datetime | None)


def what_plain_code_gets(client: Client) -> None:
    with client as entered:
        assert_type(entered, Client)
    session = client.run(client.create(user_id="u1"))
    assert_type(session, SessionHandle)
    assert_type(client.run(session.append(messages=[user("hi")])), CommitReceipt)
    assert_type(list(client.iterate(session.messages())), list[Message])
    assert_type(list(client.iterate(session.subscribe())), list[Commit])


def what_makers_and_errors_have(conflict: VersionConflict) -> None:
    assert_type(assistant("hi", tool_calls=[call("c1", "f", {"a": 1})]), Message)
    assert_type(tool("c1", object()), Message)
    assert_type(replace(working_memory()), MemoryChange)
    assert_type(conflict.current_version, int)
    assert_type(conflict.code, grpc.StatusCode)
    assert_type(conflict.request_id, str)
