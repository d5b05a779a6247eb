"""Writers in a process of their own: each adds its messages to one session, without a version or with one."""

import argparse
import json
import os
from itertools import count

import uvloop

import load
from lockstitch import Client, VersionConflict, user


async def write(session_id: str, numbers: range, *, writers: int, guarded: bool) -> int:
    """Add the messages with these numbers; gives how many were refused, and tried again."""
    refused = 0
    async with Client(os.environ["LOCKSTITCH_TARGET"], token=os.environ["LOCKSTITCH_TOKEN"]) as client:
        plain = client.session(session_id)

        async def append(number: int) -> None:
            await plain.append(messages=[user(str(number))])

        async def append_guarded(number: int) -> None:
            nonlocal refused
            session = client.session(session_id)
            await session.get()
            for refusals in count(1):
                try:
                    await session.append(messages=[user(str(number))], expected_version=session.version)
                except VersionConflict:
                    refused += 1
                    await load.back_off(refusals)
                    await session.get()
                else:
                    return

        call = append_guarded if guarded else append
        await load.run(call, calls=len(numbers), in_flight=writers, first=numbers.start)
    return refused


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session")
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--messages", type=int, required=True)
    parser.add_argument("--writers", type=int, required=True)
    parser.add_argument("--guarded", action="store_true")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.messages)
    print(json.dumps(uvloop.run(write(asked.session, numbers, writers=asked.writers, guarded=asked.guarded))))
