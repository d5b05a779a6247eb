"""Creates a session, appends to it, and reads it back.

LOCKSTITCH_TARGET=127.0.0.1:50051 LOCKSTITCH_TOKEN=… python examples/append_and_read.py
"""

import asyncio
import os

from lockstitch import Client, assistant, call, tool, user


async def main() -> None:
    """Do it."""
    target = os.environ.get("LOCKSTITCH_TARGET", "127.0.0.1:50051")
    async with Client(target, token=os.environ["LOCKSTITCH_TOKEN"]) as client:
        session = await client.create(user_id="ada", title="Weather")
        receipt = await session.append(
            messages=[
                user("What is the weather in Oslo?"),
                assistant(tool_calls=[call("c1", "weather", {"city": "Oslo"})]),
                tool("c1", {"degrees": 4}),
                assistant("It is 4 degrees."),
            ],
            memory_change={"goal": "Tell the weather", "next_action": "wait for the next question"},
            expected_version=session.version,
        )
        print(f"version {receipt.version}, messages {receipt.first_seq} to {receipt.last_seq}")

        async for message in session.messages():
            print(message.seq, message.parts[0].text or message.parts[0].WhichOneof("content"))
        async for entry in session.tool_calls():
            print(entry.name, entry.arguments_json, "gave", entry.result_json)
        print("next:", (await session.memory()).next_action)


if __name__ == "__main__":
    asyncio.run(main())
