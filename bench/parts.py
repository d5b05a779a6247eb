"""The parts of a run: what each measures, and how much of it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from beside_peers import what_people_use
from bounds import append_beside_its_bounds
from checkpoints import puts_and_growth
from drafts import against_appends
from endurance import many_appends
from fan_out import to_many_readers
from flatness import read_and_append
from forks import long_sessions
from go_client import go_client
from group_commit import one_caller
from growth_record import recorded_growth
from import_speed import import_against_append
from lists import sessions_and_removals
from overload import beyond_what_it_can
from results import Measured
from round_trips import of_each_call
from rpcs import each_call
from runs import fenced_and_renewed
from stage import Stage
from streams import beside_writers, idle
from sweeping import beside_a_backlog
from throughput import append_against_echo
from wake_up import across_processes


@dataclass(frozen=True, slots=True)
class Part:
    """A measure, and the targets that it measures."""

    name: str
    targets: tuple[str, ...]
    measure: Callable[[Stage, bool], Awaitable[Sequence[Measured]]]
    """Is told whether to be quick: to look whether all runs, at numbers that mean nothing."""
    seconds_max: float = 180.0
    """On a quiet machine none takes half of it; others may be at work."""


PARTS = (
    Part(
        "round trips",
        ("round_trips_create", "round_trips_append", "round_trips_get"),
        lambda stage, _quick: of_each_call(stage),
    ),
    Part(
        "bounds",
        ("append_vs_echo", "append_vs_pgbench", "hot_session_vs_spread"),
        lambda stage, quick: append_beside_its_bounds(stage, rounds=2 if quick else 4, seconds=0.2 if quick else 1.5),
    ),
    Part(
        "Python client",
        ("append_vs_echo_python_client",),
        lambda stage, quick: append_against_echo(stage, rounds=3 if quick else 7),
    ),
    Part(
        "Go client",
        ("go_client_vs_generator",),
        lambda stage, quick: go_client(stage, rounds=2 if quick else 6, seconds=0.2 if quick else 1.5),
    ),
    Part(
        "peers",
        (
            "append_vs_adk",
            "append_vs_openai_agents",
            "append_vs_langgraph",
            "append_latency_vs_best_peer",
            "load_1000_vs_best_peer",
            "load_1000_vs_adk",
            "tail_20_of_5000",
            "tail_20_of_5000_vs_10",
            "wal_per_append",
            "disk_per_message",
            "one_session_32_writers",
            "one_session_32_writers_order_stable",
            "one_session_32_writers_4_processes",
            "one_session_32_writers_4_processes_order_stable",
            "one_session_32_writers_guarded",
            "one_session_32_writers_vs_adk",
        ),
        what_people_use,
        seconds_max=900.0,
    ),
    Part("calls", (), lambda stage, quick: each_call(stage, seconds=0.2 if quick else 0.7)),
    Part(
        "group commit",
        ("group_commit_at_1",),
        lambda stage, quick: one_caller(stage, rounds=2 if quick else 11, calls=50 if quick else 400),
    ),
    Part(
        "flatness",
        ("get_50_of_5000_vs_50_of_50", "append_flatness", "append_flatness_wal"),
        lambda stage, quick: read_and_append(
            stage, long=500 if quick else 5000, rounds=3 if quick else 7, calls=40 if quick else 200
        ),
    ),
    Part(
        "lists",
        ("list_sessions_10000", "list_sessions_page_100_vs_1", "newest_50_after_10000_removals"),
        lambda stage, quick: sessions_and_removals(
            stage,
            sessions=500 if quick else 10_000,
            removals=500 if quick else 10_000,
            rounds=3 if quick else 9,
            calls=10 if quick else 40,
        ),
    ),
    Part(
        "forks",
        ("forked_messages_a_second", "fork_server_memory_mib"),
        lambda stage, quick: long_sessions(stage, messages=1000 if quick else 10_000, rounds=3 if quick else 9),
    ),
    Part(
        "checkpoints",
        ("checkpoint_put_vs_append", "checkpoint_writes_vs_append", "wal_of_checkpoint_1000_vs_change"),
        lambda stage, quick: puts_and_growth(
            stage, rounds=3 if quick else 7, calls=200 if quick else 1000, steps=100 if quick else 1000
        ),
    ),
    Part("idle streams", ("idle_stream_memory",), lambda stage, _quick: idle(stage)),
    Part(
        "subscribed appends",
        ("subscribed_append",),
        lambda stage, quick: beside_writers(stage, rounds=3 if quick else 7, calls=500 if quick else 1500),
    ),
    Part(
        "fan-out",
        ("fan_out_vs_echo", "commit_to_1000_readers_ms"),
        lambda stage, quick: to_many_readers(
            stage, rounds=3 if quick else 7, commits=20 if quick else 200, echoes=500 if quick else 4000
        ),
    ),
    Part(
        "wake-up",
        ("wake_up_across_processes_p50_ms",),
        lambda stage, quick: across_processes(stage, calls=20 if quick else 200),
    ),
    Part(
        "import",
        ("import_vs_append", "import_client_mib"),
        lambda stage, quick: import_against_append(
            stage, messages=5_000 if quick else 30_000, appends=1_000 if quick else 5_000
        ),
        seconds_max=300.0,
    ),
    Part(
        "runs",
        ("fenced_append_vs_plain", "renew_vs_echo"),
        lambda stage, quick: fenced_and_renewed(stage, rounds=2 if quick else 9, calls=300 if quick else 1200),
    ),
    Part(
        "drafts",
        ("drafts_vs_1000_appends",),
        lambda stage, quick: against_appends(
            stage, rounds=1 if quick else 3, seconds=1 if quick else 5, appends=500 if quick else 5000
        ),
    ),
    Part(
        "sweeping",
        ("append_beside_sweeping",),
        lambda stage, quick: beside_a_backlog(
            stage, expired=1_000 if quick else 100_000, rounds=2 if quick else 5, calls=500 if quick else 2000
        ),
    ),
    Part(
        "overload",
        ("overload_p99_vs_normal",),
        lambda _stage, quick: beyond_what_it_can(rounds=1 if quick else 3, seconds=1.0 if quick else 4.0),
    ),
    Part(
        "endurance",
        ("memory_after_100000_appends", "wal_bytes_per_append", "hot_updates_of_sessions"),
        lambda stage, quick: many_appends(stage, appends=5_000 if quick else 100_000),
        seconds_max=300.0,
    ),
    Part("growth", ("growth_20m",), lambda _stage, _quick: recorded_growth()),
)
"""In the order in which they run: the first ones find the tables young."""
