"""Servers that are killed at random moments: no acknowledged change is lost, none is made twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, cast

import grpc
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from lockstitch_server.server_process import ServerProcess
from support.blocking import UNSWEPT, methods_on
from support.crashing import Crashing, CrashingPair
from support.databases import Database
from support.machine.sessions import Sessions

PROFILE = settings(
    max_examples=3,
    stateful_step_count=40,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


class SessionsOfCrashingServers(Sessions):
    """Every answer, the log and all reads are still the model's."""

    @rule(milliseconds=st.none() | st.integers(0, 20))
    def kill(self, milliseconds: int | None) -> None:
        after = None if milliseconds is None else milliseconds / 1000
        cast("Crashing", self.lockstep).kill_at_next_call(after)

    @rule(milliseconds=st.none() | st.integers(0, 5))
    def kill_soon(self, milliseconds: int | None) -> None:
        self.kill(milliseconds)


@pytest.fixture
def crashing_pair(database: Database, start_server: Callable[..., ServerProcess]) -> Iterator[CrashingPair]:
    channels: list[grpc.Channel] = []

    def start() -> tuple[ServerProcess, Any]:
        server = start_server(database, **UNSWEPT)
        channels.append(grpc.insecure_channel(server.target))
        return server, methods_on(channels[-1])

    yield CrashingPair(start)
    for channel in channels:
        channel.close()


@pytest.mark.timeout(600)
def test_what_was_acknowledged_is_kept_once_whatever_is_killed(crashing_pair: CrashingPair, database: Database) -> None:
    tally: Counter[str] = Counter()
    for number in range(3):
        machine = cast("type[Sessions]", lambda: SessionsOfCrashingServers(Crashing(crashing_pair), database, tally))
        run_state_machine_as_test(seed(number)(machine), settings=PROFILE)
    assert tally["kills"] > 0
    assert tally["an answer was lost, not its commit"] > 0
