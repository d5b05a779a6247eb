"""The suite as those run it who have a server and no source: by its command line."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lockstitch_server.server_process import ServerProcess

CHECKS_MIN = 80


def conformance(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "lockstitch_conformance", *arguments], check=False, capture_output=True, text=True
    )


def token_command(server: ServerProcess) -> str:
    words = [sys.executable, "-m", "lockstitch_server", "token", "--data-dir", str(server.data_dir)]
    return shlex.join(words) + " --tenant {tenant} --user {user} --role {role}"


@pytest.mark.timeout(900)
def test_our_server_keeps_every_promise(server: ServerProcess, tmp_path: Path) -> None:
    written = tmp_path / "report.json"
    run = conformance("--target", server.target, "--token-command", token_command(server), "--report", written)
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads(written.read_text())
    assert report["broken"] == 0
    assert report["kept"] == len(report["checks"]) >= CHECKS_MIN
    listed = conformance("--list").stdout.splitlines()
    assert [line.split(":")[0] for line in listed] == [f"{one['category']}/{one['name']}" for one in report["checks"]]
    assert all(one["promise"] in run.stdout for one in report["checks"])


@pytest.fixture
def one_tenant(server: ServerProcess, tmp_path: Path) -> tuple[str, ...]:
    """Arguments whose tokens are a tenant's, whatever tenant is asked for: its tenants are one, and not apart."""
    for role in ("user", "engine", "admin"):
        (tmp_path / role).write_text(server.token(tenant="one", role=role))
    return "--target", server.target, "--token-command", f"cat {shlex.quote(str(tmp_path))}/{{role}}"


def test_a_category_and_a_check_are_chosen_by_name(one_tenant: tuple[str, ...]) -> None:
    run = conformance(*one_tenant, "--category", "memory", "--check", "memory/null-deletes")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 of 1 promises kept" in run.stdout


def test_a_broken_promise_is_told_and_gives_1(one_tenant: tuple[str, ...]) -> None:
    run = conformance(*one_tenant, "--check", "isolation/the-same-id")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "BROKEN the-same-id" in run.stdout
    assert "ALREADY_EXISTS" in run.stdout
    assert "0 of 1 promises kept" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--target and --token-command are needed"),
        (["--target", "127.0.0.1:1", "--token-command", "false"], "gave no token"),
        (["--target", "127.0.0.1:1", "--token-command", "no-such-program"], "can't be run"),
        (["--target", "127.0.0.1:1", "--token-command", "echo t"], "does not answer GetServerInfo"),
        (["--check", "memory/nothing-of-the-kind"], "there is no such check"),
        (["--category", "nothing"], "invalid choice"),
    ],
)
def test_what_could_not_run_gives_2(arguments: list[str], told: str) -> None:
    run = conformance(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert told in run.stderr
    assert "Traceback" not in run.stderr
