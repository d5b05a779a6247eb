"""Lets a person approve a tool call before it is run; the engine may come and go while it waits.

LOCKSTITCH_TARGET=127.0.0.1:50051 LOCKSTITCH_TOKEN=… python examples/ask_for_approval.py
"""

import asyncio
import os

from lockstitch import Client, ContextBuilder, assistant, call, user
from lockstitch.types import Approval, ToolCallStatus

AWAITING = ToolCallStatus.TOOL_CALL_STATUS_AWAITING_APPROVAL
RUNNING = ToolCallStatus.TOOL_CALL_STATUS_RUNNING


async def main() -> None:
    """Do it."""
    target = os.environ.get("LOCKSTITCH_TARGET", "127.0.0.1:50051")
    async with Client(target, token=os.environ["LOCKSTITCH_TOKEN"]) as client:
        session = await client.create(user_id="ada")
        await session.append(
            messages=[
                user("Pay invoice 12."),
                assistant("May I wire 40 euros?", tool_calls=[call("c9", "wire", {"eur": 40})]),
            ]
        )
        await session.update_tool_call(call_id="c9", status=AWAITING)

        # Anybody may read meanwhile: the call waits, and no result is made up for it.
        builder = ContextBuilder(await session.context())
        print(
            "waiting for a yes:", *(f"{open_call.name}({open_call.arguments_json})" for open_call in builder.open_calls)
        )

        await session.update_tool_call(call_id="c9", approval=Approval(granted=True, note="go ahead"))
        await session.update_tool_call(call_id="c9", status=RUNNING)  # said before it is done
        await session.complete_tool_call(call_id="c9", result={"sent": True})
        for message in ContextBuilder(await session.context()).openai_chat():
            print(message["role"], message["content"])


if __name__ == "__main__":
    asyncio.run(main())
