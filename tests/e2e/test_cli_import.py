"""Transcripts go in once, whole, whatever happens on the way, and come out as they were."""

import gzip
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factories import fresh
from lockstitch_server.server_process import ServerProcess
from support.client_commands import Commands, lines_of
from support.waiting import until_blocking

CHATS = Path(__file__).parents[3] / "shared/data/airline-chats.jsonl.gz"
MIB = 1024 * 1024
OPENAI = ("--format", "openai-chat")


@pytest.fixture
def commands(server: ServerProcess) -> Commands:
    return Commands(server, fresh("tenant"))


@pytest.fixture
def import_lines(commands: Commands) -> Callable[..., Any]:
    """Import lines as a file of OpenAI's, and give what the command told."""

    def run(*values: object, flags: tuple[str, ...] = ()) -> Any:
        return commands.ok("sessions", "import", "-", *OPENAI, *flags, stdin=lines_of(*values)).value

    return run


def chat(name: str, *said: dict[str, Any]) -> dict[str, Any]:
    messages = said or ({"role": "user", "content": f"hello from {name}"}, {"role": "assistant", "content": "hello"})
    return {"id": name, "user": "u1", "messages": list(messages)}


def asks(*calls: tuple[str, str], content: str | None = None) -> dict[str, Any]:
    asked = [
        {"id": call_id, "type": "function", "function": {"name": "search", "arguments": arguments}}
        for call_id, arguments in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": asked}


def gives(call_id: str, content: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def exported(commands: Commands) -> dict[str, Any]:
    """All chats of the tenant, by id."""
    return {one["id"]: one for one in commands.ok("sessions", "export", *OPENAI).values}


def counts(told: Any) -> tuple[int, int, int]:
    return told["sessions"], told["already_there"], told["messages"]


@pytest.mark.skipif(not CHATS.is_file(), reason=f"{CHATS.name} is not beside this repository")
def test_recorded_chats_come_out_as_they_went_in(commands: Commands) -> None:
    told = commands.ok("sessions", "import", CHATS, *OPENAI).value
    out = commands.ok("sessions", "export", *OPENAI)
    with gzip.open(CHATS, "rt") as lines:
        chats = {one["id"]: one for one in map(json.loads, lines)}
    assert {one["id"]: one for one in out.values} == chats
    assert counts(told) == (40, 0, 1004)
    assert "exported 40 sessions, 1004 messages" in out.err
    assert f"sha256 of the content {told['sha256']}" in out.err


def test_a_second_import_doubles_nothing(commands: Commands, import_lines: Callable[..., Any]) -> None:
    long = chat("long", *({"role": "user", "content": f"message {n}"} for n in range(250)))
    assert counts(import_lines(chat("a"), long, chat("b"))) == (3, 0, 254)
    before = {one["session_id"]: one for one in commands.ok("sessions", "list").values}
    assert counts(import_lines(chat("a"), long, chat("b"))) == (3, 3, 254)
    assert {one["session_id"]: one for one in commands.ok("sessions", "list").values} == before
    assert [before[name]["version"] for name in ("a", "long")] == [1, 3]


def test_chats_without_an_id_are_kept_apart_and_known_again(
    commands: Commands, import_lines: Callable[..., Any]
) -> None:
    bare = [{"role": "user", "content": "the same"}]
    lines = (bare, bare, {"messages": bare}, {"id": 7, "messages": bare, "source": {"file": 1.5}})
    assert counts(import_lines(*lines)) == (4, 0, 4)
    assert counts(import_lines(*lines)) == (4, 4, 4)
    again = commands.ok("sessions", "export", *OPENAI).values
    assert sorted(map(json.dumps, again)) == sorted(map(json.dumps, lines))


def test_a_plain_file_a_gzipped_one_and_stdin_are_one_import(commands: Commands, tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + lines_of(chat("a"), chat("b")) + b"\n\n"
    plain, packed = tmp_path / "chats.jsonl", tmp_path / "packed"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    told = [
        commands.ok("sessions", "import", plain, *OPENAI).value,
        commands.ok("sessions", "import", packed, *OPENAI).value,
        commands.ok("sessions", "import", "-", *OPENAI, stdin=content).value,
        commands.ok("sessions", "import", "-", *OPENAI, stdin=gzip.compress(content)).value,
    ]
    assert [one["already_there"] for one in told] == [0, 2, 2, 2]
    assert len({one["sha256"] for one in told}) == 1


def test_a_broken_line_stops_the_import_and_is_named(commands: Commands) -> None:
    lines = lines_of(chat("a")) + b'{"id": "b", "messages": [\n' + lines_of(*(chat(f"c{n}") for n in range(40)))
    ended = commands.run("sessions", "import", "-", *OPENAI, stdin=lines)
    assert ended.code == 1
    assert ended.value["failed"] == 1
    first, second = ended.err.splitlines()
    assert "stdin, line 2: this is no JSON line" in first
    assert "--on-error skip" in second
    assert set(exported(commands)) == {"a"}


def test_a_broken_line_is_skipped_where_asked(commands: Commands) -> None:
    whole = [chat(f"c{n}") for n in range(40)]
    broken = [
        b"{]\n",
        b'"text"\n',
        lines_of(chat("r", {"role": "robot", "content": "hi"})),
        b'{"id": "n", "messages": [{"role": "user", "content": "x", "score": NaN}]}\n',
        b'{"id": "s", "messages": [{"role": "user", "content": "\\ud83d"}]}\n',
        b"\xff\xfe\n",
        lines_of({"id": "l", "messages": ["hi"]}),
        lines_of(chat("big", {"role": "user", "content": "x" * 4 * MIB})),
    ]
    lines = lines_of(*whole[:20]) + b"".join(broken) + lines_of(*whole[20:])
    ended = commands.run("sessions", "import", "-", *OPENAI, "--on-error", "skip", stdin=lines)
    assert ended.code == 1
    assert (ended.value["sessions"], ended.value["failed"]) == (40, len(broken))
    for number in range(21, 21 + len(broken)):
        assert f"stdin, line {number}: " in ended.err
    assert exported(commands) == {one["id"]: one for one in whole}


@pytest.mark.parametrize(
    ("form", "content", "told"),
    [
        ("openai-chat", b"id,user,text\n1,u,hello\n", "no JSON line"),
        ("openai-chat", b'[\n  {"id": "a"}\n]\n', "jq -c '.[]'"),
        ("openai-chat", b'{"title": "x", "mapping": {}}\n', "no list of messages"),
        ("openai-chat", b"PK\x03\x04rest", "zip file"),
        ("openai-chat", b"\x1f\x8b\x08\x00broken", "damaged gzip"),
        ("openai-chat", gzip.compress(b'{"messages": []}\n' * 9, mtime=0)[:-9], "damaged gzip"),
        ("openai-chat", lines_of({"format": "lockstitch/1", "session_id": "s"}), "--format lockstitch"),
        (
            "openai-chat",
            lines_of([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}]),
            "--format anthropic",
        ),
        ("anthropic", lines_of([gives("c", "done")]), "--format openai-chat"),
        ("anthropic", lines_of([asks(("c", "{}"))]), "--format openai-chat"),
        ("lockstitch", lines_of(chat("a")), "--format openai-chat"),
        ("lockstitch", lines_of({"format": "lockstitch/2"}), "newer lockstitch"),
    ],
)
def test_a_file_of_another_format_is_refused(commands: Commands, form: str, content: bytes, told: str) -> None:
    ended = commands.run("sessions", "import", "-", "--format", form, "--on-error", "skip", stdin=content)
    assert told in ended.sentence
    assert ended.out == ""


def test_a_chat_that_changed_since_is_told_and_not_doubled(
    commands: Commands, import_lines: Callable[..., Any]
) -> None:
    long = [{"role": "user", "content": f"message {n}"} for n in range(150)]
    import_lines(chat("a", *long))
    more = lines_of(chat("a", *long, {"role": "user", "content": "one more"}))
    other = lines_of(chat("a", {"role": "user", "content": "another"}))
    assert "has changed since" in commands.run("sessions", "import", "-", *OPENAI, stdin=more).err
    assert (
        "taken by a session with another beginning" in commands.run("sessions", "import", "-", *OPENAI, stdin=other).err
    )
    assert exported(commands)["a"]["messages"] == long


def test_what_a_ledger_would_refuse_is_kept_as_it_was(commands: Commands, import_lines: Callable[..., Any]) -> None:
    said = [
        gives("nobody's", "an orphan"),
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "user", "content": [{"type": "text", "text": "alone in a list"}]},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw==", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            ],
        },
        asks(("search:0", '{ "q" : 1e3 }')),
        gives("search:0", "first"),
        gives("search:0", "told again, otherwise"),
        gives("search:0", "told again, otherwise"),
        asks(("search:0", "not JSON"), content="never answered"),
        asks(("search:0", ""), ("search:0", "{}"), ("", "{}"), content=""),
        gives("search:0", [{"type": "text", "text": "of the first"}]),
        gives("search:0", "of the second"),
        gives("", None),
        {"role": "assistant", "content": None, "refusal": "No.", "logprobs": [-0.25, 1e-9]},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "{}"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "zero \u0000, emoji 🏙, ٣"},
    ]
    whole = chat("odd", *said) | {"tools": [{"type": "function"}], "created": 1700000000}
    assert counts(import_lines(whole, chat("none", *said[:0]) | {"messages": []})) == (2, 0, len(said))
    assert counts(import_lines(whole)) == (1, 1, len(said))
    assert exported(commands) == {"odd": whole, "none": {"id": "none", "user": "u1", "messages": []}}
    shown = commands.ok("sessions", "show", "odd").value
    assert [call["call_id"] for call in shown["open_tool_calls"]] == ["search:0"]
    assert shown["open_tool_calls"][0]["arguments_json"] == '"not JSON"'


def test_large_messages_and_long_chats_go_in(commands: Commands, import_lines: Callable[..., Any]) -> None:
    large = [{"role": "user", "content": "ü" * (MIB + n)} for n in range(4)]
    many = [asks(*((f"c{n}-{m}", "{}") for m in range(15))) for n in range(120)]
    told = import_lines(chat("large", *large), chat("many", *many), chat("both", *many, *large))
    assert counts(told) == (3, 0, 4 + 120 + 124)
    chats = exported(commands)
    assert chats["large"]["messages"] == large
    assert chats["both"]["messages"] == [*many, *large]


def test_a_session_is_the_users_whom_flag_line_or_token_names(commands: Commands) -> None:
    named, unnamed = chat("named"), {"messages": [{"role": "user", "content": "whose?"}]}

    def owners(*flags: str) -> list[str]:
        commands.ok("sessions", "import", "-", *OPENAI, *flags, stdin=lines_of(named, unnamed))
        return sorted(one["user_id"] for one in commands.ok("sessions", "list").values)

    assert owners() == ["engine-1", "u1"]
    assert owners("--user", "ada", "--id-prefix", "of-ada-", "--agent", "bot") == ["ada", "ada", "engine-1", "u1"]
    of_ada = commands.ok("sessions", "list", "--user", "ada", "--agent", "bot").values
    assert "of-ada-named" in [one["session_id"] for one in of_ada]
    assert commands.ok("sessions", "export", "of-ada-named", *OPENAI).value == named


def test_a_users_token_is_told_what_it_may_not(server: ServerProcess) -> None:
    user = Commands(server, fresh("tenant"), user="u1", role="user")
    ended = user.run("sessions", "import", "-", *OPENAI, "--on-error", "skip", stdin=lines_of(chat("a"), chat("b")))
    assert "user may not" in ended.sentence


def test_anthropics_blocks_become_calls_results_and_reasoning(commands: Commands) -> None:
    said = [
        {"role": "user", "content": "What is the weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I should look.", "signature": "abc"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
                {"type": "tool_use", "id": "toolu_2", "name": "weather", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no city", "is_error": True},
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "4 degrees"}]},
                {"type": "text", "text": "Well?"},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "nobody's", "content": "an orphan"}]},
        {
            "role": "assistant",
            "content": [{"type": "redacted_thinking", "data": "xyz"}, {"type": "text", "text": "4."}],
        },
    ]
    line = {"id": "w", "user": "u1", "system": [{"type": "text", "text": "Be brief."}], "model": "m", "messages": said}
    first, again = (
        commands.ok("sessions", "import", "-", "--format", "anthropic", stdin=lines_of(line, said)).value
        for _ in range(2)
    )
    assert (counts(first), counts(again)) == ((2, 0, 15), (2, 2, 15))
    shown = commands.ok("sessions", "show", "w").value
    assert [message["role"].removeprefix("ROLE_") for message in shown["messages"]] == (
        ["SYSTEM", "USER", "ASSISTANT", "TOOL", "TOOL", "USER", "TOOL", "ASSISTANT"]
    )
    thought, *_, call, _ = shown["messages"][2]["parts"]
    assert thought == {"reasoning": "I should look."}
    assert call["tool_call"]["arguments_json"] == '{"city":"Oslo"}'
    assert shown["messages"][3]["parts"][0]["tool_result"]["is_error"]
    assert shown["open_tool_calls"] == []
    assert json.loads(shown["session"]["metadata_json"]) == {"anthropic": {"model": "m"}}


def test_progress_is_shown_to_people_only(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_bytes(lines_of(*(chat(f"c{n}") for n in range(50))))
    seen = commands.on_terminal("sessions", "import", file, *OPENAI).out
    assert "importing" in seen
    assert "50 sessions, 100 messages" in seen
    assert "imported 50 sessions, 100 messages, 0 failed" in seen
    assert commands.ok("sessions", "import", file, *OPENAI).err == ""


def test_an_import_that_was_killed_goes_on_where_it_broke_off(commands: Commands, tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    chats = [
        chat(f"c{n}", *({"role": "user", "content": f"{n}: message {m} {'.' * 900}"} for m in range(205)))
        for n in range(60)
    ]
    content = lines_of(*chats)
    file.write_bytes(content)

    def stored() -> list[Any]:
        return commands.ok("sessions", "list").values

    with commands.start("sessions", "import", "-", *OPENAI, stdin=subprocess.PIPE) as importing:
        assert importing.stdin
        importing.stdin.write(content[: len(content) // 2])  # the line in the middle is not whole
        importing.stdin.flush()
        until_blocking(lambda: len(stored()) > 20, "the first sessions")
        os.kill(importing.pid, signal.SIGKILL)
    assert 20 < len(stored()) < 60
    told = commands.ok("sessions", "import", file, *OPENAI).value
    assert counts(told)[::2] == (60, 60 * 205)
    assert told["already_there"] < 60
    assert exported(commands) == {one["id"]: one for one in chats}


def test_an_import_takes_the_memory_of_some_chats_not_of_all(commands: Commands, tmp_path: Path) -> None:
    def peak_bytes(name: str, chats: int) -> int:
        file = tmp_path / name
        with file.open("wb") as lines:
            for number in range(chats):
                said = ({"role": "user", "content": f"{m} {'rain ' * 60}"} for m in range(25))
                lines.write(lines_of(chat(f"{name}-{number}", *said)))
        return commands.peak_bytes("sessions", "import", file, *OPENAI)

    small = peak_bytes("small", 40)
    large = peak_bytes("large", 30 * MIB // (25 * 330))
    assert (tmp_path / "large").stat().st_size > 30 * MIB
    assert large < 100 * MIB
    assert large - small < 10 * MIB, (small, large)
