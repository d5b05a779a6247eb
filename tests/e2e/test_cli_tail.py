"""`lockstitch sessions tail`: live, across a restart of the server, for people and for programs."""

import json
import os
import pty
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from factories import fresh
from lockstitch import Client, SessionHandle, merge_patch, user
from lockstitch_server.server_process import ServerProcess
from support.client_commands import SECONDS_MAX, Commands

Serve = Callable[..., ServerProcess]


@pytest.fixture
def commands(server: ServerProcess) -> Commands:
    return Commands(server, fresh("tenant"))


@contextmanager
def tailing(commands: Commands, *arguments: str) -> Iterator[Callable[[], Any]]:
    """Follows through a pipe; gives what reads the next commit. In the end it is interrupted, as by Ctrl-C."""
    pipe = subprocess.PIPE
    # Unbuffered, or select would not know of lines that were read ahead.
    following = commands.start("sessions", "tail", *arguments, stdout=pipe, stderr=pipe, bufsize=0)
    with following as process:
        assert process.stdout
        assert process.stderr
        lines = process.stdout

        def commit() -> Any:
            ready, _, _ = select.select([lines], [], [], SECONDS_MAX)
            assert ready, "no commit came"
            return json.loads(lines.readline())

        try:
            yield commit
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS_MAX) == 130
            assert process.stderr.read() == b""
        finally:
            process.kill()


@contextmanager
def writing(commands: Commands) -> Iterator[tuple[Client, SessionHandle]]:
    with Client(commands.server.target, token=commands.environment["LOCKSTITCH_TOKEN"]) as client:
        yield client, client.run(client.create(title="Trip", messages=[user("one")]))


def test_it_goes_on_after_its_server_was_killed(serve: Serve) -> None:
    server = serve()
    commands = Commands(server, "tenant-1")
    with (
        writing(commands) as (client, session),
        tailing(commands, session.session_id, "--from", "start") as commit,
    ):
        assert commit()["messages"][0]["parts"][0]["text"] == "one"
        client.run(session.append(messages=[user("two")]))
        assert commit()["version"] == 2
        server.kill()
        serve("--listen", server.target)
        for text in ("three", "four"):
            client.run(session.append(messages=[user(text)]))
        given = [commit(), commit()]
    assert [one["version"] for one in given] == [3, 4]
    assert [one["messages"][0]["parts"][0]["text"] for one in given] == ["three", "four"]
    assert given[0]["principal"] == {"subject": "engine-1", "role": "CALLER_ROLE_ENGINE"}


def test_it_begins_where_it_is_told_to(commands: Commands) -> None:
    with writing(commands) as (client, session):
        client.run(session.append(messages=[user("two")]))
        client.run(session.append(messages=[user("three")]))
        with tailing(commands, session.session_id, "--from", "2") as commit:
            assert commit()["version"] == 3


def test_on_a_terminal_it_tells_what_happened_and_when_it_is_live(commands: Commands) -> None:
    with writing(commands) as (client, session), on_terminal(commands, session.session_id) as until:
        until("live behind version 1")
        client.run(session.append(messages=[user("To Oslo\x1b[2J")], memory_change=merge_patch({"goal": "fly"})))
        client.run(session.remove(last=1))
        client.run(session.close())
        shown = until("session: closed Trip")
    for said in ("version 2", "engine-1 (engine)", "To Oslo\\x1b[2J", '"goal":"fly"'.replace('"', '\\"')):
        assert said in shown
    assert "messages 2 to 2 were taken back" in shown
    assert "version 1\x1b" not in shown


def test_on_a_terminal_a_fork_says_where_it_comes_from(commands: Commands) -> None:
    with writing(commands) as (client, session):
        fork = client.run(session.fork())
        with on_terminal(commands, fork.session_id, "--from", "start") as until:
            until(f"fork of {session.session_id} at version 1")


@contextmanager
def on_terminal(commands: Commands, *arguments: str) -> Iterator[Callable[[str], str]]:
    """Follows on a terminal; gives what waits for words there and tells all that was written."""
    ours, theirs = pty.openpty()
    written = b""
    with commands.start("sessions", "tail", *arguments, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)

        def until(words: str) -> str:
            nonlocal written
            while words.encode() not in written:
                ready, _, _ = select.select([ours], [], [], SECONDS_MAX)
                assert ready, f"never shown: {words}, but {written.decode()}"
                written += os.read(ours, 65536)
            return written.decode()

        try:
            yield until
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS_MAX) == 130
        finally:
            process.kill()
    os.close(ours)


def test_who_reads_no_further_is_not_told_of_an_error(commands: Commands) -> None:
    with writing(commands) as (client, session):
        following = commands.start(
            *("sessions", "tail", session.session_id, "--from", "start"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        with following as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            client.run(session.append(messages=[user("two")]))
            assert process.stderr.read() == b""


@pytest.mark.parametrize("where", ["x", "-1", "²"])
def test_a_beginning_that_is_none_is_refused(commands: Commands, where: str) -> None:
    ended = commands.run("sessions", "tail", "s", "--from", where)
    assert ended.code == 2
    assert "is neither a version, nor start, nor now" in " ".join(ended.err.split())


def test_what_cannot_be_followed_is_said_in_a_sentence(commands: Commands) -> None:
    assert "there is no session 'none'" in commands.run("sessions", "tail", "none").sentence
    with writing(commands) as (_, session):
        ahead = commands.run("sessions", "tail", session.session_id, "--from", "9")
    assert "the session is at version 1" in ahead.sentence
