"""Importing chats against appending, and against a client that has them ready; and in how much memory."""

import asyncio
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import load
from lockstitch.cli.transcripts import openai_chat
from lockstitch.cli.transcripts.lines import Line
from lockstitch.cli.transcripts.transcript import Defaults
from lockstitch_server.server_process import ServerProcess
from results import ROOT, Figure, Target
from stage import TEXT, Stage, message

IN_FLIGHT = 8
SESSIONS = 1000
_CHATS = ROOT.parent / "shared/data/airline-chats.jsonl.gz"
_MIB = 1024 * 1024
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import took."""

    messages: int
    seconds: float
    peak_bytes: int


async def import_against_append(stage: Stage, *, messages: int, appends: int) -> list[Target | Figure]:
    """Import the recorded chats again and again under new ids, between two rounds of appends of one message each."""
    sessions = await stage.sessions(SESSIONS)

    async def append(number: int) -> object:
        return await sessions[number % SESSIONS].append(messages=[message()])

    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        file = Path(name) / "chats.jsonl"
        count = _write(file, messages)
        await load.run(append, calls=SESSIONS, in_flight=IN_FLIGHT)
        before = await load.run(append, calls=appends, in_flight=IN_FLIGHT)
        first = await _import(stage.server, file)
        again = await _import(stage.server, file)
        after = await load.run(append, calls=appends, in_flight=IN_FLIGHT)
        ready = await _create_ready(stage, count)
    if first.messages != count or again.messages != count:
        raise RuntimeError(f"{count} messages were to be imported, and {first.messages} were")
    rate = first.messages / first.seconds
    return [
        Target("import_vs_append", rate / mean((before.rate, after.rate))),
        Target("import_client_mib", max(first.peak_bytes, again.peak_bytes) / _MIB),
        Figure(
            f"messages a second, importing {count:,} in chats of {'25' if _CHATS.is_file() else '20'}", f"{rate:,.0f}"
        ),
        Figure("messages a second, importing them again", f"{again.messages / again.seconds:,.0f}"),
        Figure("messages a second, the same chats ready in a client's memory, 8 at once", f"{ready:,.0f}"),
        Figure("appends a second at 8 in flight", f"{mean((before.rate, after.rate)):,.0f}"),
    ]


def _write(file: Path, messages: int) -> int:
    """Write so many messages or a few more, in whole chats; gives how many."""
    count = 0
    chats = list(_chats())
    with file.open("w") as lines:
        for number in itertools.count():
            for chat in chats:
                if count >= messages:
                    return count
                lines.write(json.dumps(chat | {"id": f"{chat['id']}-{number}"}, ensure_ascii=False) + "\n")
                count += len(chat["messages"])
    raise AssertionError  # count never ends


def _chats() -> Iterator[dict[str, Any]]:
    """The recorded chats, or, where they are not beside this repository, made ones of their size."""
    if _CHATS.is_file():
        with gzip.open(_CHATS, "rt") as lines:
            yield from map(json.loads, lines)
        return
    for number in range(40):
        said = [{"role": role, "content": f"{TEXT * 2}{turn}"} for turn in range(10) for role in ("user", "assistant")]
        yield {"id": f"chat-{number}", "user": f"user-{number}", "messages": said}


async def _create_ready(stage: Stage, messages: int) -> float:
    """What the import would reach if reading and converting cost nothing: messages a second."""
    nobody = Defaults(user=None, subject="bench", agent="", id_prefix="")
    lines = (Line(number, json.dumps(chat).encode(), chat) for number, chat in enumerate(_chats()))
    ready = [list(next(openai_chat.transcript(line, nobody).batches).messages) for line in lines]

    async def create(number: int) -> object:
        return await stage.client.create(user_id="bench", messages=ready[number % len(ready)])

    calls = messages * len(ready) // sum(map(len, ready))
    made = await load.run(create, calls=calls, in_flight=IN_FLIGHT)
    return sum(len(ready[number % len(ready)]) for number in range(calls)) / made.seconds


async def _import(server: ServerProcess, file: Path) -> Imported:
    """Run the command as users do, start included."""
    token = server.token(tenant="bench-import", user="bench")
    command = [sys.executable, "-m", "lockstitch.cli", "sessions", "import", str(file), "--format", "openai-chat"]
    environment = os.environ | {"LOCKSTITCH_TARGET": server.target, "LOCKSTITCH_TOKEN": token}
    began = time.perf_counter()
    peak = 0
    # Not asyncio's own: uvloop forks, and gRPC's handlers of forks would have a word to say about that.
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220
        while process.poll() is None:
            peak = max(peak, _peak_bytes(process.pid))
            await asyncio.sleep(_POLL_SECONDS)
        seconds = time.perf_counter() - began
        told = process.stdout.read() if process.stdout else ""
    if process.returncode != 0:
        raise RuntimeError(f"the import ended with exit code {process.returncode}")
    return Imported(messages=json.loads(told)["messages"], seconds=seconds, peak_bytes=peak)


def _peak_bytes(pid: int) -> int:
    """The most memory that a process ever held; 0 where it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
