"""`lockstitch sessions` and `doctor`: tables for people, JSON for programs, one sentence for what is wrong."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from factories import fresh
from lockstitch import Client, assistant, call, merge_patch, user, working_memory
from lockstitch_server.server_process import ServerProcess
from support.client_commands import Commands
from support.waiting import until_blocking

ESCAPE = "\x1b"


@pytest.fixture
def commands(server: ServerProcess) -> Commands:
    return Commands(server, fresh("tenant"))


@pytest.fixture
async def client(commands: Commands) -> AsyncIterator[Client]:
    async with Client(commands.server.target, token=commands.environment["LOCKSTITCH_TOKEN"]) as made:
        yield made


class TestList:
    async def test_piped_it_gives_an_object_a_line(self, client: Client, commands: Commands) -> None:
        for name in ("first", "second"):
            await client.create(session_id=name, user_id="u1", title=name.title(), labels={"k": "v"})
        second, first = commands.ok("sessions", "list").values
        assert (first["session_id"], first["title"], first["labels"]) == ("first", "First", {"k": "v"})
        assert (second["session_id"], second["status"]) == ("second", "SESSION_STATUS_ACTIVE")
        assert (second["version"], second["message_count"], second["agent"]) == (1, 0, "")
        assert "expire_time" not in second

    async def test_on_a_terminal_it_gives_a_table(self, client: Client, commands: Commands) -> None:
        await client.create(session_id="s1", user_id="u1", title="Trip to Oslo", agent="bot", labels={"team": "a"})
        shown = commands.on_terminal("sessions", "list").out
        assert ESCAPE in shown
        for word in ("SESSION", "s1", "active", "u1", "bot", "Trip to Oslo team=a"):
            assert word in shown
        assert "{" not in shown

    async def test_it_is_narrowed_by_every_flag(self, client: Client, commands: Commands) -> None:
        await client.create(session_id="a", user_id="u1", agent="bot", labels={"team": "x", "env": "e=1"})
        await (await client.create(session_id="b", user_id="u2", agent="bot", labels={"team": "x"})).close()

        def listed(*flags: str) -> list[str]:
            return [one["session_id"] for one in commands.ok("sessions", "list", *flags).values]

        assert listed("--user", "u1") == ["a"]
        assert listed("--agent", "bot") == ["b", "a"]
        assert listed("--status", "closed") == ["b"]
        assert listed("--status", "closed", "--status", "active") == ["b", "a"]
        assert listed("--label", "team=x", "--label", "env=e=1") == ["a"]
        assert listed("--limit", "1") == ["b"]
        for flag in ("--created-after", "--active-after"):
            assert listed(flag, "1h") == ["b", "a"]
            assert listed(flag, "2999-01-01") == []
        for flag in ("--created-before", "--active-before"):
            assert listed(flag, "2999-01-01T12:00:00+02:00") == ["b", "a"]
            assert listed(flag, "30d") == []

    async def test_who_reads_no_further_is_not_told_of_an_error(self, client: Client, commands: Commands) -> None:
        for _ in range(3):
            await client.create(user_id="u1", metadata={"text": "x" * 60_000})
        with commands.start("sessions", "list", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""


class TestShow:
    async def test_it_gives_memory_open_calls_and_messages(self, client: Client, commands: Commands) -> None:
        session = await client.create(
            user_id="u1", memory=working_memory(goal="Fly", plan=["book"], extra={"k": [1.0]})
        )
        await session.append(messages=[user("To Oslo"), assistant(tool_calls=[call("c1", "book", {"to": "Oslo"})])])
        piped = commands.ok("sessions", "show", session.session_id).value
        assert piped["memory"]["goal"] == "Fly"
        assert piped["memory"]["extra_json"] == '{"k":[1.0]}'
        assert [one["call_id"] for one in piped["open_tool_calls"]] == ["c1"]
        assert [one["seq"] for one in piped["messages"]] == [1, 2]
        assert commands.ok("sessions", "show", session.session_id, "--messages", "1").value["messages"][0]["seq"] == 2
        shown = commands.on_terminal("sessions", "show", session.session_id).out
        for word in ("Working memory", "Fly", "• book", "[1.0]", "Open tool calls", "pending", "To Oslo", "→"):
            assert word in shown

    async def test_it_gives_a_session_as_it_was(self, client: Client, commands: Commands) -> None:
        session = await client.create(user_id="u1", memory=working_memory(goal="old"))
        await session.append(messages=[user("hello")])
        await session.update_memory(change=merge_patch({"goal": "new"}))
        as_it_was = commands.ok("sessions", "show", session.session_id, "--at-version", "1").value
        assert (as_it_was["session"]["version"], as_it_was["memory"]["goal"], as_it_was["messages"]) == (1, "old", [])
        ahead = commands.run("sessions", "show", session.session_id, "--at-version", "9")
        assert session.session_id in ahead.sentence

    async def test_no_text_steers_the_terminal(self, client: Client, commands: Commands) -> None:
        evil = f"{ESCAPE}]0;owned\x07{ESCAPE}[2J\x9b2J[bold]\r\u202e"
        session = await client.create(
            user_id="u1", memory=working_memory(goal=evil, extra={"k": evil}), metadata={"k": evil}
        )
        await session.append(messages=[user(evil), assistant(evil, tool_calls=[call("c", "n", {"k": evil})])])
        for words in (("show", session.session_id), ("list",)):
            shown = commands.on_terminal("sessions", *words).out
            for forbidden in (f"{ESCAPE}]0", f"{ESCAPE}[2J", "\x9b", "\x07", "\u202e"):
                assert forbidden not in shown
        assert "[bold]" in commands.on_terminal("sessions", "show", session.session_id).out


class TestCloseAndRestore:
    async def test_a_closed_session_is_restored(self, client: Client, commands: Commands) -> None:
        sessions = [await client.create(user_id="u1") for _ in range(2)]
        ids = [session.session_id for session in sessions]
        closed = commands.ok("sessions", "close", *ids, "--reason", "resolved").values
        assert [(one["session_id"], one["close_reason"]) for one in closed] == [(one, "resolved") for one in ids]
        assert "is active" in commands.on_terminal("sessions", "restore", ids[0]).out
        (restored,) = commands.ok("sessions", "restore", ids[1], "--ttl", "30d").values
        assert restored["status"] == "SESSION_STATUS_ACTIVE"
        assert "expire_time" in restored

    async def test_an_expired_session_needs_a_new_life(self, client: Client, commands: Commands) -> None:
        session = await client.create(user_id="u1", ttl=timedelta(seconds=1))
        until_blocking(lambda: bool(commands.ok("sessions", "list", "--status", "expired").out), "its end")
        assert "restore it with a new" in commands.run("sessions", "restore", session.session_id).sentence
        restored = commands.ok("sessions", "restore", session.session_id, "--expire-time", "2999-01-01T00:00:00Z").value
        assert restored["expire_time"] == "2999-01-01T00:00:00Z"


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        "words", [("show", "nobody's"), ("close", "nobody's"), ("restore", "nobody's"), ("export", "nobody's")]
    )
    def test_a_session_that_is_not_there_is_named(self, commands: Commands, words: tuple[str, ...]) -> None:
        assert 'there is no session "nobody\'s"' in commands.run("sessions", *words).sentence

    @pytest.mark.parametrize(
        "words",
        [
            ("sessions", "show"),
            ("sessions", "list", "--status", "open"),
            ("sessions", "list", "--label", "team"),
            ("sessions", "list", "--created-after", "soon"),
            ("sessions", "restore", "s", "--ttl", "1 moon"),
            ("sessions", "restore", "s", "--ttl", "1d", "--expire-time", "2999-01-01"),
            ("sessions", "import", "/nowhere/chats.jsonl"),
            ("sessions", "export", "--format", "anthropic"),
            ("sessions", "list", "--token-file", "/nowhere/token"),
        ],
    )
    def test_a_wrong_word_is_a_usage_error(self, commands: Commands, words: tuple[str, ...]) -> None:
        ended = commands.run(*words)
        assert (ended.code, ended.out) == (2, "")
        assert "Traceback" not in ended.err

    def test_a_missing_token_is_told(self, commands: Commands) -> None:
        ended = commands.run("sessions", "list", settings={"LOCKSTITCH_TOKEN": ""})
        assert ended.code == 2
        assert "LOCKSTITCH_TOKEN" in ended.err

    def test_a_token_may_come_from_a_file(self, commands: Commands, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text(commands.environment["LOCKSTITCH_TOKEN"] + "\n")
        assert commands.run("sessions", "list", "--token-file", file, settings={"LOCKSTITCH_TOKEN": ""}).code == 0

    def test_a_forged_token_is_told(self, commands: Commands) -> None:
        ended = commands.run("sessions", "list", settings={"LOCKSTITCH_TOKEN": "a.b.c"})
        assert "does not take this token" in ended.sentence

    def test_where_nobody_serves_is_told(self, commands: Commands) -> None:
        ended = commands.run("sessions", "list", "--target", "127.0.0.1:1")
        assert "no server answers at 127.0.0.1:1" in ended.sentence

    @pytest.mark.parametrize("module", ["typer", "rich"])
    def test_without_its_extra_it_says_what_to_install(self, module: str) -> None:
        code = f"import sys; sys.modules['{module}'] = None; from lockstitch.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
        assert done.returncode == 2
        (sentence,) = done.stderr.splitlines()
        assert sentence == f"lockstitch: {module} is missing: pip install 'lockstitch[cli]'"


class TestDoctor:
    def test_it_says_a_verdict_on_each_step(self, commands: Commands) -> None:
        found = {one["check"]: one for one in commands.ok("doctor").values}
        assert list(found) == ["target", "token", "access", "server", "durability", "limits", "clock"]
        assert {one["verdict"] for one in found.values()} == {"ok"}
        assert "engine 'engine-1'" in found["token"]["detail"]
        assert "Postgres" in found["server"]["detail"]
        shown = commands.on_terminal("doctor")
        assert (shown.code, shown.out.count("ok     ")) == (0, 7)
        assert ESCAPE in shown.out

    def test_a_user_is_not_told_about_the_server(self, server: ServerProcess) -> None:
        *_, last = Commands(server, "t", user="u1", role="user").ok("doctor").values
        assert (last["check"], last["verdict"]) == ("server", "note")

    @pytest.mark.parametrize(
        ("settings", "check", "told"),
        [
            ({"LOCKSTITCH_TARGET": "127.0.0.1:1"}, "target", "no server answers"),
            ({"LOCKSTITCH_TOKEN": ""}, "token", "there is none"),
            ({"LOCKSTITCH_TOKEN": "secret"}, "token", "no token"),
            ({"LOCKSTITCH_TOKEN": "e30.eyJleHAiOiAxfQ.e30"}, "token", "expired"),
            ({"LOCKSTITCH_TOKEN": "e30.eyJleHAiOiA5OTk5OTk5OTk5fQ.e30"}, "access", "does not take this token"),
        ],
    )
    def test_what_fails_is_named(self, commands: Commands, settings: dict[str, str], check: str, told: str) -> None:
        ended = commands.run("doctor", settings=settings)
        failed = {one["check"]: one["detail"] for one in ended.values if one["verdict"] == "failed"}
        assert ended.code == 1
        assert told in failed[check]
        assert json.dumps(settings.get("LOCKSTITCH_TOKEN") or "-") not in ended.out
