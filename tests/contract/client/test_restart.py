import asyncio
from datetime import timedelta
from pathlib import Path

from lockstitch import Client, user
from lockstitch_server.server_process import ServerProcess

WRITERS, APPENDS = 16, 20


# Case A03, step 6, with many in flight
async def test_appends_ride_out_a_killed_server_and_none_is_made_twice(folder: Path) -> None:
    server = ServerProcess.start(folder / "data")
    target, token = server.target, server.token()
    enough = asyncio.Event()
    try:
        async with Client(target, token=token, timeout=timedelta(seconds=60)) as client:
            session = await client.create()
            made = 0

            async def write(writer: int) -> None:
                nonlocal made
                for number in range(APPENDS):
                    await session.append(messages=[user(f"{writer}-{number}")])
                    made += 1
                    if made == WRITERS * APPENDS // 4:
                        enough.set()

            async with asyncio.TaskGroup() as writers:
                for writer in range(WRITERS):
                    writers.create_task(write(writer))
                await enough.wait()
                await asyncio.to_thread(server.kill)
                server = await asyncio.to_thread(ServerProcess.start, folder / "data", arguments=["--listen", target])
            texts = [message.parts[0].text async for message in session.messages(page_size=1000)]
    finally:
        await asyncio.to_thread(server.stop)
    assert sorted(texts) == sorted(f"{writer}-{number}" for writer in range(WRITERS) for number in range(APPENDS))
