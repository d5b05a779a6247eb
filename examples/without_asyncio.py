"""Uses a session from plain synchronous code, and from threads: the same calls, waited for with `client.run`.

LOCKSTITCH_TARGET=127.0.0.1:50051 LOCKSTITCH_TOKEN=… python examples/without_asyncio.py
"""

import os
from concurrent.futures import ThreadPoolExecutor

from lockstitch import Client, user


def main() -> None:
    """Do it."""
    target = os.environ.get("LOCKSTITCH_TARGET", "127.0.0.1:50051")
    with Client(target, token=os.environ["LOCKSTITCH_TOKEN"]) as client:
        session = client.run(client.create(user_id="ada"))
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda n: client.run(session.append(messages=[user(f"note {n}")])), range(8)))
        for message in client.iterate(session.messages()):
            print(message.seq, message.parts[0].text)


if __name__ == "__main__":
    main()
