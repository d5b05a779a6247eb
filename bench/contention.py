"""Thirty-two writers on one session: whether all is stored, once, in an order that never changes."""

import asyncio
from itertools import pairwise

import load
from lockstitch import SessionHandle, VersionConflict, user
from results import Figure, Target
from stage import Stage

WRITERS = 32
MESSAGES = 640


async def one_session(stage: Stage) -> list[Target | Figure]:
    """Write without a version, while somebody reads all the time; then with one, reading again when refused."""
    plain, guarded = await stage.sessions(2)
    reads: list[list[str]] = []
    writing = asyncio.create_task(
        load.run(lambda number: plain.append(messages=[user(str(number))]), calls=MESSAGES, in_flight=WRITERS)
    )
    while not writing.done():
        reads.append(await _read(plain))
    taken = await writing
    reads.append(await _read(plain))
    stable = all(later[: len(earlier)] == earlier for earlier, later in pairwise(reads))
    refused = 0

    async def append_guarded(number: int) -> None:
        nonlocal refused
        handle = stage.client.session(guarded.session_id)
        while True:
            await handle.get()
            try:
                await handle.append(messages=[user(str(number))], expected_version=handle.version)
            except VersionConflict:
                refused += 1
            else:
                return

    guarded_taken = await load.run(append_guarded, calls=MESSAGES, in_flight=WRITERS)
    stored = await _read(guarded)
    expected = {str(number) for number in range(MESSAGES)}
    return [
        Target("one_session_stored_once", len(set(reads[-1]) & expected) - _doubled(reads[-1]), f"== {MESSAGES}"),
        Target("one_session_order_stable", float(stable), "== 1"),
        Target("one_session_guarded_stored_once", len(set(stored) & expected) - _doubled(stored), f"== {MESSAGES}"),
        Figure(
            f"{WRITERS} writers on one session, {MESSAGES} messages",
            f"{taken.seconds:.1f} s, {len(reads)} reads beside",
        ),
        Figure(
            "the same, each with expected_version", f"{guarded_taken.seconds:.1f} s, {refused} refused and read again"
        ),
    ]


async def _read(session: SessionHandle) -> list[str]:
    return [message.parts[0].text async for message in session.messages(page_size=1000)]


def _doubled(texts: list[str]) -> int:
    return len(texts) - len(set(texts))
