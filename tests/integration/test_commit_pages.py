"""Commits whose tool calls hold large arguments and results of their own: whole, and in pages of a size to take."""

from collections.abc import Awaitable, Callable
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2 as t
from support.callers import Caller

LARGE = '"' + "x" * 1_500_000 + '"'


async def pages(
    call: Callable[[pb.ListCommitsRequest], Awaitable[pb.ListCommitsResponse]], session_id: str
) -> list[Any]:
    request, found = pb.ListCommitsRequest(session_id=session_id), []
    while True:
        page = await call(request)
        found.append(list(page.commits))
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def test_what_no_message_holds_stands_in_the_commit_that_brought_it(connect: Callable[..., Caller]) -> None:
    sessions = connect().sessions
    await sessions.Append(
        pb.AppendRequest(
            request_id="r0",
            session_id="large-calls",
            create_if_missing=pb.CreateIfMissing(),
            tool_calls=[t.ToolCallChange(call_id=f"c{place}", name="read", arguments_json=LARGE) for place in range(2)],
        )
    )
    resources = [t.Resource(uri=f"file:///{place}", before="b" * 4000, after="a" * 4000) for place in range(20)]
    for place in range(2):
        await sessions.UpdateToolCall(
            pb.UpdateToolCallRequest(
                request_id=f"u{place}", session_id="large-calls", call_id=f"c{place}", resources=resources
            )
        )
        await sessions.CompleteToolCall(
            pb.CompleteToolCallRequest(
                request_id=f"e{place}", session_id="large-calls", call_id=f"c{place}", result_json=LARGE
            )
        )

    found = await pages(sessions.ListCommits, "large-calls")

    assert len(found) > 1
    first, *later = (commit for page in found for commit in page)
    assert [call.arguments_json for call in first.tool_calls] == [LARGE, LARGE]
    assert [call.arguments_json for commit in later for call in commit.tool_calls] == [""] * 4
    assert [call.result_json for commit in later for call in commit.tool_calls] == ["", LARGE, "", LARGE]
