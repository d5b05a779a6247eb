import asyncio
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lockstitch import Client
from lockstitch_server.server_process import ServerProcess

EXAMPLES = Path(__file__).parents[2] / "examples"
CHATS = Path(__file__).parents[3] / "shared/data/airline-chats.jsonl.gz"
OWN_SERVER = {"continue_task.py", "replay_chats.py", "resume_execution.py"}
SECONDS_MAX = 120


def run(name: str, *arguments: str, environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        env=os.environ | dict(environment or {}),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in OWN_SERVER))
def test_an_example_runs(lockstitch_server: ServerProcess, name: str) -> None:
    where = {"LOCKSTITCH_TARGET": lockstitch_server.target, "LOCKSTITCH_TOKEN": lockstitch_server.token()}
    done = run(name, environment=where)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert done.stderr == ""


# Also case A03, steps 1 to 3, through the client: the reply is lost on the way.
def test_the_task_goes_on_after_engine_and_server_were_killed() -> None:
    done = run("continue_task.py")
    assert done.returncode == 0, done.stdout + done.stderr
    for told in (
        "the goal is 'Fix the start-up failure'",
        "the next action is \"write 'port = 8080' into service.toml",
        "one wins, the other is told",
        "one message, not two",
        "All is as it should be.",
    ):
        assert told in done.stdout


def test_an_execution_is_resumed_and_the_engine_that_was_given_up_is_fenced() -> None:
    done = run("resume_execution.py")
    assert done.returncode == 0, done.stdout + done.stderr
    for told in (
        "engine 2: goes on from checkpoint 0002: step 2 of 3",
        "the call that it made is INTERRUPTED",
        "half done",
        "the file is whole",
        "engine 4: goes on from checkpoint 0003: step 3 of 3",
        "engine 3: woke up, and is refused: RunFenced",
        "the file is as engine 4 left it",
        "run 1 of engine 1: EXPIRED",
        "run 4 of engine 4: SUCCEEDED",
        "each step has its checkpoint",
        "All is as it should be.",
    ):
        assert told in done.stdout


@pytest.mark.skipif(not CHATS.is_file(), reason=f"{CHATS.name} is not beside this repository")
def test_recorded_chats_come_back_as_they_were_sent() -> None:
    done = run("replay_chats.py", str(CHATS))
    assert done.returncode == 0, done.stdout + done.stderr
    with gzip.open(CHATS, "rt") as lines:
        chats = [json.loads(line)["messages"] for line in lines]
    assert f"{len(chats)} sessions, " in done.stdout
    assert f" {sum(map(len, chats))} messages, " in done.stdout


CHAT = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Compare "}, {"type": "text", "text": "two cities 🏙"}]},
    {
        "role": "assistant",
        "content": "Looking both up.",
        "tool_calls": [
            {"id": name, "type": "function", "function": {"name": "weather", "arguments": f'{{ "city" : "{name}" }}'}}
            for name in ("oslo", "rome")
        ],
    },
    {"role": "tool", "tool_call_id": "rome", "content": "18"},
    {"role": "tool", "tool_call_id": "oslo", "content": ""},
    {"role": "assistant", "content": "Rome is warmer.\u0000"},
    {"role": "user", "content": ""},
]


def test_any_chat_can_be_replayed_on_any_server(lockstitch_server: ServerProcess, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_text("".join(json.dumps({"id": f"c{number}", "messages": CHAT}) + "\n" for number in range(10)))
    done = run("replay_chats.py", str(file), "--target", lockstitch_server.target, "--token", lockstitch_server.token())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 sessions, " in done.stdout
    assert " 70 messages, 20 tool calls" in done.stdout


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    done = run("replay_chats.py", str(tmp_path / "none.jsonl"))
    assert done.returncode == 2
    assert "there is no file" in done.stderr


# The engines of the other languages take part in `make test-clients`.
def test_engines_take_turns_and_check_what_the_others_left() -> None:
    done = run("five_engines/conversation.py", "python")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.partition(";")[0] for line in done.stdout.splitlines()] == [
        "turn 1: python: all is as the others left it",
        "turn 2: python: all is as the others left it",
        "One conversation, 1 languages: python.",
    ]


def test_an_engine_that_does_not_find_what_the_others_left_says_so(lockstitch_server: ServerProcess) -> None:
    where = {"LOCKSTITCH_TARGET": lockstitch_server.target, "LOCKSTITCH_TOKEN": lockstitch_server.token()}
    session_id = asyncio.run(_session(where))
    for turn, exit_code, told in (
        (2, 1, "NotAsItMustBe: messages: 0 is not 2\n"),
        (1, 0, ""),
        (3, 1, "messages: 2 is not 5"),
    ):
        done = run("five_engines/engine.py", "--session-id", session_id, "--turn", str(turn), environment=where)
        assert done.returncode == exit_code, done.stdout + done.stderr
        assert told in done.stderr


async def _session(where: Mapping[str, str]) -> str:
    async with Client(where["LOCKSTITCH_TARGET"], token=where["LOCKSTITCH_TOKEN"]) as client:
        return (await client.create(user_id="u1")).session_id
