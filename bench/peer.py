"""One of the peers, in a process and a database of its own on the server's Postgres; or lockstitch's own client."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from lockstitch_server.embedded import running_urls
from results import ROOT, NotMeasured
from stage import Stage

PYTHON = ROOT / ".venv-peers/bin/python"
"""What `make` makes: the peers' dependencies may clash with ours, and with each other's pins."""

PEERS = ("google_adk", "openai_agents", "langgraph")
LOCKSTITCH = "lockstitch"

_ANSWER_SECONDS_MAX = 300.0
_STOP_SECONDS_MAX = 10.0
_SIZE = (
    "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class"
    " where relnamespace in (select oid from pg_namespace where nspname in ('public', 'lockstitch')) and relkind = 'r'"
)


class Peer:
    """A running peer, which is asked in words and answers in numbers."""

    def __init__(self, name: str, process: "subprocess.Popen[str]", url: str) -> None:
        """Use `peer`."""
        self.name = name
        self._process = process
        self._url = url

    async def ask(self, command: str, **parameters: object) -> dict[str, Any]:
        """Have it do something, and wait for what it says of it."""
        if self._process.stdin is None:
            raise AssertionError  # it is a pipe
        self._process.stdin.write(json.dumps({"command": command, **parameters}) + "\n")
        self._process.stdin.flush()
        return await self.answer()

    async def answer(self) -> dict[str, Any]:
        """Wait for what it says."""
        if self._process.stdout is None:
            raise AssertionError  # it is a pipe
        try:
            async with asyncio.timeout(_ANSWER_SECONDS_MAX):
                line = await asyncio.to_thread(self._process.stdout.readline)
        except TimeoutError:
            self._process.kill()
            raise RuntimeError(f"{self.name} did not answer within {_ANSWER_SECONDS_MAX:.0f} s") from None
        answer: dict[str, Any] = json.loads(line or '{"error": "its process ended"}')
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer

    async def disk_bytes(self) -> int:
        """What its tables and their indexes take, without the room that Postgres made for many who wrote at once."""
        connection = await asyncpg.connect(self._url)
        try:
            await connection.execute("vacuum")
            return int(await connection.fetchval(_SIZE))
        finally:
            await connection.close()


@asynccontextmanager
async def peer(stage: Stage, name: str) -> AsyncIterator[Peer]:
    """Start a peer on a fresh database, and end it."""
    if not PYTHON.is_file():
        raise NotMeasured("the peers are not installed: `make bench` does that, where there is a package index")
    urls = running_urls(stage.server.data_dir)
    connection = await asyncpg.connect(urls.superuser)
    try:
        await connection.execute(f"create database peer_{name}")
    finally:
        await connection.close()
    url = urls.superuser.replace("/lockstitch?", f"/peer_{name}?", 1)
    async with _started(name, PYTHON, {"PEER_URL": url}) as process:
        yield await _ready(Peer(name, process, url))


@asynccontextmanager
async def ours(stage: Stage) -> AsyncIterator[Peer]:
    """Start the client of the stage's server likewise."""
    token = stage.server.token(tenant="bench", user="bench")
    environment = {"PEER_URL": stage.server.target, "LOCKSTITCH_TOKEN": token}
    async with _started(LOCKSTITCH, Path(sys.executable), environment) as process:
        yield await _ready(Peer(LOCKSTITCH, process, running_urls(stage.server.data_dir).superuser))


async def _ready(made: Peer) -> Peer:
    await made.answer()
    return made


@asynccontextmanager
async def _started(name: str, python: Path, environment: dict[str, str]) -> AsyncIterator["subprocess.Popen[str]"]:
    with subprocess.Popen(  # noqa: ASYNC220 - not asyncio's own: uvloop forks, and gRPC has a word to say about that
        [str(python), "-m", "peers.runner", name],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)} | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                await asyncio.to_thread(process.wait, _STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
