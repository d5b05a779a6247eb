"""An engine in a process of its own: holds a run, and writes under it for each line that it is given.

    python run_holder.py SESSION_ID LEASE_SECONDS

Says "held RUN_ID"; then for each line on stdin "stored", or the name of the error that ended it.
"""

import asyncio
import os
import sys
from datetime import timedelta

from lockstitch import Client, assistant
from lockstitch.errors import LockstitchError


async def hold(session_id: str, lease: timedelta) -> None:
    loop = asyncio.get_running_loop()
    async with Client(os.environ["LOCKSTITCH_TARGET"], token=os.environ["LOCKSTITCH_TOKEN"]) as client:
        try:
            async with client.session(session_id).run(worker=f"process {os.getpid()}", lease=lease) as run:
                say(f"held {run.run_id}")
                while line := await loop.run_in_executor(None, sys.stdin.readline):
                    await run.append(messages=[assistant(line.strip())])
                    say("stored")
        except LockstitchError as error:
            say(type(error).__name__)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1], timedelta(seconds=float(sys.argv[2]))))
