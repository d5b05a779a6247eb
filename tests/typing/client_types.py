"""The types that users of the client see. Checked by mypy, never run."""

from datetime import timedelta
from typing import assert_type

import grpc

from lockstitch import (
    Client,
    ContextBuilder,
    SessionHandle,
    VersionConflict,
    assistant,
    call,
    merge_patch,
    replace,
    tool,
    user,
    working_memory,
)
from lockstitch.context import ModelMessage
from lockstitch.types import (
    CloseSessionResponse,
    Commit,
    CommitReceipt,
    CompleteToolCallResponse,
    GetContextResponse,
    GetSessionResponse,
    MemoryChange,
    Message,
    RemoveMessagesResponse,
    RestoreSessionResponse,
    Session,
    SubscribeResponse,
    ToolCall,
    ToolCallPart,
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
    assert_type([one async for one in session.frames()], list[SubscribeResponse])

    context = await session.context(max_tokens=1_000)
    assert_type(context, GetContextResponse)
    builder = ContextBuilder(context, max_tokens=8_000)
    assert_type(builder.messages, tuple[ModelMessage, ...])
    assert_type(builder.openai_chat(), list[dict[str, object]])
    assert_type(builder.anthropic(), dict[str, object])
    assert_type(builder.open_calls, tuple[ToolCallPart, ...])


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
