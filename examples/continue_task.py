"""Loses an engine and the server in the middle of a task, and goes on; then two tabs at once, and a lost reply.

    python examples/continue_task.py

Nothing is acted: the engines are processes of their own and are ended with kill -9, as the server is. There is no
model: what an engine does next is scripted, what it knows comes from the session. Exits with 1 if something is wrong.
"""

import argparse
import asyncio
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lockstitch import (
    Client,
    ContextBuilder,
    SessionHandle,
    assistant,
    call,
    replace,
    resource,
    tool,
    user,
    working_memory,
)
from lockstitch.types import SessionStatus, ToolCallStatus
from lockstitch_server.server_process import ServerProcess

RUNNING = ToolCallStatus.TOOL_CALL_STATUS_RUNNING
BROKEN, MENDED = "port = eighty\n", "port = 8080\n"


class NotAsItShouldBe(Exception):
    """Something that a session store must not do."""


def say(text: str) -> None:
    """Print one line of the story at once."""
    print(text, flush=True)


def check(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Say that something holds, or end the story."""
    if not holds:
        raise NotAsItShouldBe(what)
    say(f"  ✓ {what}")


# --- the engines: each runs in a process of its own -------------------------------------------------------------------


async def first_engine(session_id: str, workplace: Path) -> None:
    """Take the task, work two turns with tools, and begin a third that it will not live to end."""
    async with client_of_environment() as client:
        session = await client.create(session_id=session_id, user_id="ada", agent="mender", title="Start-up failure")
        plan = ["read the log", "read the configuration", "mend the configuration", "start the service"]
        await session.append(
            messages=[user("Fix the start-up failure.")],
            memory_change=replace(working_memory(goal="Fix the start-up failure", plan=plan, next_action=plan[0])),
        )
        say("  engine 1: took the task")

        log = await use_tool(session, "t1", "read_file", workplace / "service.log")
        await session.append(
            messages=[assistant(f"The log says: {log.strip()}")],
            memory_change={"completed": plan[:1], "errors": [log.strip()], "next_action": plan[1]},
        )
        say("  engine 1: turn 1 is done, it read the log")

        await use_tool(session, "t2", "read_file", workplace / "service.toml")
        action = f"write {MENDED.strip()!r} into service.toml, then start the service"
        await session.append(
            messages=[assistant("The port is not a number.")],
            memory_change={"completed": plan[:2], "important_files": ["service.toml"], "next_action": action},
        )
        say("  engine 1: turn 2 is done, it read the configuration")

        await session.append(messages=[assistant(tool_calls=[call("t3", "write_file", {"path": "service.toml"})])])
        touched = resource("service.toml", before=digest(BROKEN), after=digest(MENDED))
        await session.update_tool_call(call_id="t3", status=RUNNING, resources=[touched])
        write(workplace / touched.uri, MENDED)
        say("  engine 1: writes the configuration …")
        sys.stdin.read()  # … and is killed before it can say so


async def second_engine(session_id: str, workplace: Path) -> None:
    """Know nothing but the session's id and "continue the task"."""
    async with client_of_environment() as client:
        session = await client.get(session_id)
        await session.append(messages=[user("Continue the task.")])
        context = await session.context()
        say(f"  engine 2: the goal is {context.memory.goal!r}")
        say(f"  engine 2: the next action is {context.memory.next_action!r}")
        messages = ContextBuilder(context, max_tokens=8_000).openai_chat()
        say(f"  engine 2: a model would be given {len(messages)} messages")

        for open_call in context.open_tool_calls:
            # RUNNING means that the first engine may have acted. The ledger says what it wanted to leave behind: look.
            touched = open_call.resources[0]
            now = digest(read(workplace / touched.uri))
            check(now == touched.after, f"{open_call.name} was open, and the file shows that it did happen")
            await session.complete_tool_call(tool_call_id=open_call.tool_call_id, result={"written": touched.uri})

        port = (await use_tool(session, "t4", "read_file", workplace / "service.toml")).partition("= ")[2].strip()
        check(port.isdigit(), f"the service starts on port {port}")
        completed = [*context.memory.completed, "mend the configuration", "start the service"]
        await session.append(
            messages=[assistant(f"It is mended: the service listens on port {port}.")],
            memory_change={"completed": completed, "plan": [], "next_action": None},
        )
        await session.close(reason="mended")
        say("  engine 2: went on, finished, and closed the session")


async def use_tool(session: SessionHandle, call_id: str, name: str, path: Path) -> str:
    """Ask for a tool, say that it runs, run it, and store what it gave."""
    await session.append(messages=[assistant(tool_calls=[call(call_id, name, {"path": path.name})])])
    await session.update_tool_call(call_id=call_id, status=RUNNING)
    text = read(path)
    await session.append(messages=[tool(call_id, text)])
    return text


def read(path: Path) -> str:
    """What the tool read_file does."""
    return path.read_text()


def write(path: Path, text: str) -> None:
    """What the tool write_file does."""
    path.write_text(text)


def client_of_environment() -> Client:
    """The client of an engine: where and who come from its environment."""
    return Client(os.environ["LOCKSTITCH_TARGET"], token=os.environ["LOCKSTITCH_TOKEN"])


def digest(text: str) -> str:
    """What a file's content is known by."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


# --- the story --------------------------------------------------------------------------------------------------------


@contextmanager
def engine(which: str, session_id: str, workplace: Path, server: ServerProcess) -> "Iterator[subprocess.Popen[str]]":
    """Run an engine in a process of its own, and be sure that it is gone afterwards."""
    where = {"LOCKSTITCH_TARGET": server.target, "LOCKSTITCH_TOKEN": server.token(tenant="demo", user="mender")}
    arguments = [sys.executable, __file__, which, "--session", session_id, "--workplace", str(workplace)]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, env=os.environ | where, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def lose_engine_and_server(folder: Path) -> ServerProcess:
    """Lose both in the middle of a task, and go on with the session's id alone. Gives the server that is there then."""
    workplace = folder / "workplace"
    workplace.mkdir()
    (workplace / "service.log").write_text("start-up failed: port is not a number\n")
    (workplace / "service.toml").write_text(BROKEN)

    say("A task is begun:")
    server = ServerProcess.start(folder / "data")
    try:
        with engine("first-engine", "task-1", workplace, server) as process:
            for line in process.stdout or ():
                say(line.rstrip())
                if "writes the configuration" in line:
                    break
            process.kill()
        say(f"  engine 1 (pid {process.pid}) is killed with -9, while its tool runs")
        server.kill()
        say(f"  the server (pid {server.process.pid}) is killed with -9")

        say("Both are gone. A new server, a new engine, and only the session's id:")
        server = ServerProcess.start(folder / "data")
        with engine("second-engine", "task-1", workplace, server) as process:
            for line in process.stdout or ():
                say(line.rstrip())
            check(process.wait() == 0, "engine 2 ended well")
        asyncio.run(look_back(server))
    except BaseException:
        server.stop()
        raise
    return server


async def look_back(server: ServerProcess) -> None:
    """See that nothing was lost and nothing doubled."""
    async with Client(server.target, token=server.token(tenant="demo", user="mender")) as client:
        session = await client.get("task-1")
        check(session.info is not None and session.info.status == SessionStatus.SESSION_STATUS_CLOSED, "it is closed")
        said = [message.parts[0].text async for message in session.messages() if message.parts[0].text]
        check(said[0] == "Fix the start-up failure." and len(said) == len(set(said)), "nothing is lost, nothing twice")
        ledger = [entry.status async for entry in session.tool_calls()]
        check(ledger == [ToolCallStatus.TOOL_CALL_STATUS_SUCCEEDED] * 4, "4 tool calls, each with one known outcome")
        versions = [commit.version async for commit in session.commits()]
        check(versions == list(range(1, session.version + 1)), f"{session.version} commits, without a hole")


def run_beside(name: str, server: ServerProcess) -> None:
    """Run another example against the server; it says and checks for itself."""
    where = {"LOCKSTITCH_TARGET": server.target, "LOCKSTITCH_TOKEN": server.token(tenant="demo", user="mender")}
    done = subprocess.run([sys.executable, Path(__file__).with_name(name)], env=os.environ | where, check=False)
    if done.returncode:
        raise NotAsItShouldBe(name)


def tell() -> None:
    """Tell the whole story on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="lockstitch-demo-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # where this runs as root, Postgres runs as somebody else
        server = lose_engine_and_server(folder)
        try:
            run_beside("two_tabs.py", server)
            run_beside("lost_reply.py", server)
        finally:
            server.stop()
    say("All is as it should be.")


def main() -> None:
    """Tell the story, or be one of its engines."""
    parser = argparse.ArgumentParser(description="Lose an engine and the server in the middle of a task, and go on.")
    parser.add_argument("part", nargs="?", choices=["story", "first-engine", "second-engine"], default="story")
    parser.add_argument("--session", default="")
    parser.add_argument("--workplace", type=Path, default=Path())
    chosen = parser.parse_args()
    try:
        match chosen.part:
            case "first-engine":
                asyncio.run(first_engine(chosen.session, chosen.workplace))
            case "second-engine":
                asyncio.run(second_engine(chosen.session, chosen.workplace))
            case _:
                tell()
    except NotAsItShouldBe as wrong:
        sys.exit(f"  ✗ {wrong}")


if __name__ == "__main__":
    main()
