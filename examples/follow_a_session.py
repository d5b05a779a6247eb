"""A second tab follows a session live: what was said before it came, then each commit as it is made, none twice.

LOCKSTITCH_TARGET=127.0.0.1:50051 LOCKSTITCH_TOKEN=… python examples/follow_a_session.py
"""

import asyncio
import os

from lockstitch import Client, SessionHandle, assistant, user


async def first_tab(session: SessionHandle) -> None:
    """Go on with the conversation."""
    for question, answer in (("And to Rome?", "Two hours more."), ("Then Oslo.", "Booked.")):
        await session.append(messages=[user(question)])
        await session.append(messages=[assistant(answer)])
    await session.close(reason="booked")


async def second_tab(client: Client, session_id: str, live: asyncio.Event) -> None:
    """Show the session, and tell what is live from what was there."""
    session = client.session(session_id)
    async for frame in session.frames(after_version=0):
        if frame.HasField("caught_up"):
            live.set()
        elif frame.HasField("commit"):
            for message in frame.commit.messages:
                print("live  " if live.is_set() else "before", frame.commit.version, message.parts[0].text)
            if frame.commit.session.close_reason:
                print(f"closed at version {session.version}: {frame.commit.session.close_reason}")
                return


async def main() -> None:
    """Open a session in two tabs."""
    target, token = os.environ.get("LOCKSTITCH_TARGET", "127.0.0.1:50051"), os.environ["LOCKSTITCH_TOKEN"]
    async with Client(target, token=token) as left, Client(target, token=token) as right:
        session = await left.create(user_id="ada", messages=[user("How long to Oslo?")])
        await session.append(messages=[assistant("Three hours.")])
        live = asyncio.Event()
        following = asyncio.create_task(second_tab(right, session.session_id, live))
        await live.wait()
        await first_tab(session)
        await following


if __name__ == "__main__":
    asyncio.run(main())
