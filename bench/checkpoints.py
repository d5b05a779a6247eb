"""What a graph's step costs: a checkpoint with its writes against a plain append, and the log that it leaves."""

import os
from statistics import median

import load
from lockstitch import SessionHandle
from lockstitch.v1.checkpoint_pb2 import CheckpointValue, CheckpointWrite
from results import Figure, Target
from stage import Stage, message

IN_FLIGHT = 32
SESSIONS = 64
CHANNELS = 64
STATE_BYTES = 1024 * 1024
VALUE_BYTES = STATE_BYTES // CHANNELS
BLOB = b"s" * 300
"""As much as a message holds."""

_STRETCH = 10
_WHOLE_PAGES_STRETCHES, _COUNTED_STRETCHES = 3, 5


async def puts_and_growth(stage: Stage, *, rounds: int, calls: int, steps: int) -> list[Target | Figure]:
    """Put checkpoints in many sessions at once, then many in one session whose state grows."""
    return [*await _against_append(stage, rounds, calls), *await _growing(stage, steps)]


async def _against_append(stage: Stage, rounds: int, calls: int) -> list[Target | Figure]:
    sessions = await stage.sessions(SESSIONS)
    writes = [CheckpointWrite(task_id="task", index=place, channel="out", data=BLOB) for place in range(2)]

    def its(number: int) -> SessionHandle:
        return sessions[number % SESSIONS]

    async def append(number: int) -> object:
        return await its(number).append(messages=[message()])

    async def put(number: int) -> object:
        return await its(number).put_checkpoint(f"{number:09}", data=BLOB, metadata={"step": number}, writes=writes)

    async def put_writes(number: int) -> None:
        await its(number).put_checkpoint_writes(f"{number:09}", writes=writes)

    appends: list[load.Load] = []
    puts: list[load.Load] = []
    apart: list[load.Load] = []
    for turn in range(-1, rounds):
        first = (turn + 1) * calls
        appends.append(await load.run(append, calls=calls, in_flight=IN_FLIGHT))
        puts.append(await load.run(put, calls=calls, in_flight=IN_FLIGHT, first=first))
        apart.append(await load.run(put_writes, calls=calls, in_flight=IN_FLIGHT, first=first + 10**8))
    # The first of each warms all up.
    turns = list(zip(appends[1:], puts[1:], apart[1:], strict=True))
    ratios = [(put.rate / one.rate, alone.rate / one.rate) for one, put, alone in turns]
    steps = [1 / (1 / put.rate + 1 / alone.rate) for _, put, alone in turns]
    of_appends = median(step / one.rate for step, (one, _, _) in zip(steps, turns, strict=True))
    return [
        Target("checkpoint_put_vs_append", median(whole for whole, _ in ratios)),
        Target("checkpoint_writes_vs_append", median(alone for _, alone in ratios)),
        Figure("checkpoints a second with two writes each", f"{median(one.rate for one in puts[1:]):,.0f}"),
        Figure(
            "steps a second that are a put, and two writes in a call of their own; of the rate of appends",
            f"{median(steps):,.0f}; {of_appends:.2f}",
        ),
    ]


async def _growing(stage: Stage, steps: int) -> list[Target | Figure]:
    """A state of 64 values, one of which changes a step, against the same value put alone."""
    whole, alone = await stage.sessions(2)
    versions = dict.fromkeys(range(CHANNELS), 0)
    values = [_value(channel, 0, os.urandom(VALUE_BYTES)) for channel in range(CHANNELS)]
    for place in range(0, CHANNELS, CHANNELS // 2):
        await whole.put_checkpoint(f"start-{place}", values=values[place : place + CHANNELS // 2])

    async def grow(step: int) -> None:
        channel = step % CHANNELS
        versions[channel] = step
        changed = _value(channel, step, os.urandom(VALUE_BYTES))
        others = [_value(one, version, None) for one, version in versions.items() if one != channel]
        await whole.put_checkpoint(f"step-{step:09}", metadata={"step": step}, values=[changed, *others])

    async def put_alone(step: int) -> None:
        changed = _value(step % CHANNELS, step, os.urandom(VALUE_BYTES))
        await alone.put_checkpoint(f"step-{step:09}", metadata={"step": step}, values=[changed])

    await load.run(grow, calls=steps, in_flight=1, first=1)
    log = {grow: 0, put_alone: 0}
    step, checkpoint, unmarked = steps + 1, "", 0
    while unmarked < _WHOLE_PAGES_STRETCHES + _COUNTED_STRETCHES:
        taken = {}
        for call in (grow, put_alone):
            before = await stage.database.log_bytes()
            await load.run(call, calls=_STRETCH, in_flight=1, first=step)
            taken[call] = await stage.database.log_bytes() - before
        step += _STRETCH
        known = await stage.database.checkpoint()
        unmarked = unmarked + 1 if known == checkpoint else 0
        checkpoint = known
        # After a checkpoint of the database, pages are written whole on their first change.
        if unmarked > _WHOLE_PAGES_STRETCHES:
            log = {call: log[call] + taken[call] for call in log}
    a_step = log[grow] / _COUNTED_STRETCHES / _STRETCH
    return [
        Target("wal_of_checkpoint_1000_vs_change", log[grow] / log[put_alone]),
        Figure(f"log of a step that changes {VALUE_BYTES:,} bytes of 1 MiB", f"{a_step:,.0f} bytes"),
    ]


def _value(channel: int, version: int, data: bytes | None) -> CheckpointValue:
    return CheckpointValue(channel=f"channel-{channel:02}", version=f"{version:032}.{channel / 64:.16f}", data=data)
