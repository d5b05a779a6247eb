"""Histories to check, recorded on two real servers."""

from pathlib import Path

import pytest

from faults.history import Record
from faults.recorder import Recorder
from faults.servers import Servers
from faults.short_story import short_story
from faults.traffic import Pace, Traffic
from lockstitch_server.server_process import ServerProcess

TRAFFIC_SEED = 7
CHANGES = 500


def _names(servers: tuple[ServerProcess, ServerProcess], tenant: str) -> Servers:
    targets = {name: server.target for name, server in zip("ab", servers, strict=True)}
    return Servers(targets, servers[0].token(tenant=tenant, user="engine-1", role="engine"))


@pytest.fixture(scope="module")
async def story(server_pair: tuple[ServerProcess, ServerProcess], session_folder: Path) -> list[Record]:
    """A short history with something of everything in it."""
    return await short_story(session_folder / "story.jsonl", _names(server_pair, "storytellers"))


@pytest.fixture(scope="module")
async def traffic_history(server_pair: tuple[ServerProcess, ServerProcess], session_folder: Path) -> Path:
    """A history of drawn traffic, of several sessions."""
    path, pace = session_folder / "traffic.jsonl", Pace(rate=200, versions=60)
    with Recorder(path, seed=TRAFFIC_SEED) as recorder:
        async with Traffic(recorder, _names(server_pair, "traffic"), seed=TRAFFIC_SEED, pace=pace) as traffic:
            await traffic.more(CHANGES)
    return path
