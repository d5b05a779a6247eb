"""Thirty-two writers on one session: whether all is stored, once, in an order that never changes."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from lockstitch import SessionHandle
from results import Figure, Measured, Target
from stage import Stage

WRITERS = 32
MESSAGES = 640
PROCESSES = 4
_SCRIPT = Path(__file__).with_name("writers.py")


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the messages."""

    stored_once: int
    changed_reads: int
    """How many reads did not begin with the whole of the one before."""
    reads: int
    refused: int
    seconds: float

    @property
    def is_stable(self) -> bool:
        """Whether the order never changed."""
        return not self.changed_reads


@dataclass(frozen=True, slots=True)
class Contended:
    """Without a version from one process, and with one."""

    plain: Written
    guarded: Written

    @property
    def guarded_rate(self) -> float:
        """Messages a second with a version each."""
        return MESSAGES / self.guarded.seconds


async def one_session(stage: Stage) -> tuple[list[Measured], Contended]:
    """Write from one process and from four, while somebody reads all the time; then with a version each."""
    one = await _written(stage, processes=1)
    many = await _written(stage, processes=PROCESSES)
    guarded = await _written(stage, processes=1, guarded=True)
    told: list[Measured] = [
        Target("one_session_32_writers", one.stored_once),
        Target("one_session_32_writers_order_stable", float(one.is_stable)),
        Target("one_session_32_writers_4_processes", many.stored_once),
        Target("one_session_32_writers_4_processes_order_stable", float(many.is_stable)),
        Target("one_session_32_writers_guarded", guarded.stored_once),
        Figure(f"{WRITERS} writers on one session, {MESSAGES} messages", _told(one)),
        Figure(f"the same, from {PROCESSES} processes", _told(many)),
        Figure("the same, from one, each with expected_version", f"{_told(guarded)}, {guarded.refused} refused"),
    ]
    return told, Contended(one, guarded)


async def _written(stage: Stage, *, processes: int, guarded: bool = False) -> Written:
    (session,) = await stage.sessions(1)
    reads: list[list[str]] = []
    began = time.perf_counter()
    each = MESSAGES // processes
    writing = asyncio.gather(
        *(
            _process(stage, session, place * each, each, WRITERS // processes, guarded=guarded)
            for place in range(processes)
        )
    )
    while not writing.done():
        reads.append(await _read(session))
    refused = sum(await writing)
    seconds = time.perf_counter() - began
    stored = await _read(session)
    reads.append(stored)
    return Written(
        stored_once=len(set(stored) & {str(number) for number in range(MESSAGES)}) - (len(stored) - len(set(stored))),
        changed_reads=sum(later[: len(earlier)] != earlier for earlier, later in pairwise(reads)),
        reads=len(reads),
        refused=refused,
        seconds=seconds,
    )


def _process(
    stage: Stage, session: SessionHandle, first: int, messages: int, writers: int, *, guarded: bool
) -> Awaitable[int]:
    numbers = ("--first", str(first), "--messages", str(messages), "--writers", str(writers))
    command = [sys.executable, str(_SCRIPT), session.session_id, *numbers, *(("--guarded",) if guarded else ())]
    token = stage.server.token(tenant="bench", user="bench")
    environment = os.environ | {"LOCKSTITCH_TARGET": stage.server.target, "LOCKSTITCH_TOKEN": token}

    def run() -> int:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        return int(done.stdout)

    return asyncio.to_thread(run)


async def _read(session: SessionHandle) -> list[str]:
    return [message.parts[0].text async for message in session.messages(page_size=1000)]


def _told(written: Written) -> str:
    return f"{written.seconds:.1f} s with the start of the process, {written.reads} reads beside"
