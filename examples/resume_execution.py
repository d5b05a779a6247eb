"""Loses an engine in the middle of a file write, and resumes the execution; then wakes an engine that was given up.

    python examples/resume_execution.py

Resuming a conversation needs what was said. Resuming an execution needs to know who may act, what was done, and what is
to come: a run says the first, the ledger of tool calls the second, a checkpoint the third. Nothing is acted: the
engines are processes of their own, and are ended with kill -9 and stopped with SIGSTOP. Exits with 1 if something is
wrong.
"""

import argparse
import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

from lockstitch import Client, RunActive, RunFenced, RunHandle, SessionHandle, assistant, call, resource, run_end, user
from lockstitch.types import Resource, RunStatus, ToolCallStatus
from lockstitch_server.server_process import ServerProcess

RUNNING = ToolCallStatus.TOOL_CALL_STATUS_RUNNING
LEASE = timedelta(seconds=1)  # so that the story is short; 30 seconds are more usual
BEFORE = "[service]\nport = eighty\n"
PLAN = (
    ("mend the port", "[service]\nport = 8080\n"),
    ("name the log", "[service]\nport = 8080\nlog = service.log\n"),
    ("raise the port", "[service]\nport = 9090 # by {worker}\nlog = service.log\n"),
)
"""What the engines are to do, step by step: the file after each of them."""


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


async def dies(session_id: str, file: Path) -> None:
    """Do the first step, begin the second, as checkpoint and ledger say beforehand, and be killed halfway."""
    async with client_of_environment() as client:
        session = await client.create(session_id=session_id, user_id="ada", messages=[user("Mend it, name its log.")])
        async with session.run(worker="engine 1", lease=LEASE) as run:
            say(f"  engine 1: holds the run, with token {run.fencing_token}")
            await save(run, step=1)
            await ask(run, "c1", file)
            await act(run, "c1", file, after(1))
            say(f"  engine 1: did step 1, {PLAN[0][0]}")
            await save(run, step=2)
            await ask(run, "c2", file)
            await announce(run, "c2", file, after(2))
            with file.open("w") as written:
                written.write(after(2)[: len(after(2)) // 2])
                written.flush()
                say("  engine 1: has written half of the file …")
                await asyncio.to_thread(sys.stdin.readline)  # … and is killed


async def takes_over(session_id: str, file: Path) -> None:
    """Wait for the lease to run out, see where the plan was and what was begun, look at the file, decide, and go on."""
    async with client_of_environment() as client, when_free(client, session_id, worker="engine 2") as run:
        session = client.session(session_id)
        _, lost = [one async for one in session.runs()]
        say(f"  engine 2: took over with token {run.fencing_token}; {lost.worker} is {RunStatus.Name(lost.status)}")
        step = await position(session, worker="engine 2")
        begun = next(call for call in (await run.context()).recent_tool_calls if call.call_id == f"c{step}")
        check(begun.status == ToolCallStatus.TOOL_CALL_STATUS_INTERRUPTED, "the call that it made is INTERRUPTED")

        (touched,) = begun.resources
        found = what_happened(touched, digest(read(file)))
        say(f"  engine 2: it was to take the file from {touched.before} to {touched.after}: {found}")
        if found == "done":
            await run.complete_tool_call(tool_call_id=begun.tool_call_id, result={"written": file.name})
        else:
            # Writing a whole file can be done again. What can't be would be asked about here.
            await run.complete_tool_call(tool_call_id=begun.tool_call_id, error=f"The engine was lost; {found}.")
            await ask(run, f"c{step} again", file)
            await act(run, f"c{step} again", file, after(step))
        await save(run, step=step + 1)
        await run.append(messages=[assistant("The port is mended, the log has a name.")], finish=run_end())
        say(f"  engine 2: did step {step}, {PLAN[step - 1][0]}, and finished the turn and the run")


async def sleeps(session_id: str, file: Path) -> None:
    """Be stopped for longer than the lease, between deciding to act and acting."""
    async with client_of_environment() as client:
        session = await client.get(session_id)
        try:
            async with session.run(worker="engine 3", lease=LEASE) as run:
                say(f"  engine 3: holds the run, with token {run.fencing_token}")
                step = await position(session, worker="engine 3")
                await ask(run, f"c{step}", file)
                say("  engine 3: recorded the call, and is about to write the file …")
                await asyncio.to_thread(sys.stdin.readline)  # … is stopped here, and woken
                await act(run, f"c{step}", file, after(step, "engine 3"))  # says so before it acts: found out in time
        except RunFenced as fenced:
            say(f"  engine 3: woke up, and is refused: {type(fenced).__name__}. It touches nothing.")


async def finishes(session_id: str, file: Path) -> None:
    """Take over from the one that sleeps: a call that is PENDING was not begun, and is safe to run."""
    async with client_of_environment() as client, when_free(client, session_id, worker="engine 4") as run:
        step = await position(client.session(session_id), worker="engine 4")
        (pending,) = (await run.context()).open_tool_calls
        check(pending.status == ToolCallStatus.TOOL_CALL_STATUS_PENDING, "the call of engine 3 was not begun")
        await act(run, pending.call_id, file, after(step, "engine 4"))
        await save(run, step=step + 1)
        await run.append(messages=[assistant("It is 9090 now.")], finish=run_end())
        say(f"  engine 4: took over with token {run.fencing_token}, wrote the file, finished the run")


async def save(run: RunHandle, *, step: int) -> None:
    """Say which step of the plan comes now, before it is begun: under the fence, so that only the holder says so."""
    state = json.dumps({"step": step}).encode()
    parent = f"{step - 1:04}" if step > 1 else ""
    await run.checkpoint(f"{step:04}", data=state, format="json", parent_id=parent)


async def position(session: SessionHandle, *, worker: str) -> int:
    """Which step of the plan comes now: where the last engine that held a run was."""
    latest = await session.latest_checkpoint()
    if latest is None:
        raise NotAsItShouldBe("there is no checkpoint")
    step = int(json.loads(latest.data)["step"])
    say(f"  {worker}: goes on from checkpoint {latest.checkpoint_id}: step {step} of {len(PLAN)}, {PLAN[step - 1][0]}")
    return step


def after(step: int, worker: str = "") -> str:
    """What the file holds after a step."""
    return PLAN[step - 1][1].format(worker=worker)


@asynccontextmanager
async def when_free(client: Client, session_id: str, *, worker: str) -> AsyncIterator[RunHandle]:
    """Hold a run as soon as nobody else does."""
    session, waits = client.session(session_id), False
    while True:
        try:
            async with session.run(worker=worker, lease=LEASE) as run:
                yield run
                return
        except RunActive as busy:
            if not waits:
                waits = True
                say(f"  {worker}: {busy.reason}, it waits for the lease to run out")
            await asyncio.sleep(0.1)


async def ask(run: RunHandle, call_id: str, file: Path) -> None:
    """Be the model, and ask for a file to be written."""
    await run.append(messages=[assistant(tool_calls=[call(call_id, "write_file", {"path": file.name})])])


async def act(run: RunHandle, call_id: str, file: Path, text: str) -> None:
    """Run a call from its beginning to its end, with the ledger's knowledge."""
    await announce(run, call_id, file, text)
    write(file, text)
    await run.complete_tool_call(call_id=call_id, result={"written": file.name})


async def announce(run: RunHandle, call_id: str, file: Path, text: str) -> None:
    """Say what is about to be done, before it is done: that the call runs, and the file before and after it."""
    touched = resource(file.name, before=digest(read(file)), after=digest(text))
    await run.update_tool_call(call_id=call_id, status=RUNNING, resources=[touched])


def read(file: Path) -> str:
    """What the file holds now."""
    return file.read_text()


def write(file: Path, text: str) -> None:
    """What the tool write_file does."""
    file.write_text(text)


def what_happened(touched: Resource, now: str) -> str:
    """Compare a file with what the ledger says of it."""
    return {touched.before: "not begun", touched.after: "done"}.get(now, f"half done, it is {now}")


def client_of_environment() -> Client:
    """The client of an engine: where and who come from its environment."""
    return Client(os.environ["LOCKSTITCH_TARGET"], token=os.environ["LOCKSTITCH_TOKEN"])


def digest(text: str) -> str:
    """What a file's content is known by."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:8]}"


# --- the story --------------------------------------------------------------------------------------------------------


@contextmanager
def engine(part: str, file: Path, server: ServerProcess) -> "Iterator[subprocess.Popen[str]]":
    """Run an engine in a process of its own, and be sure that it is gone afterwards."""
    where = {"LOCKSTITCH_TARGET": server.target, "LOCKSTITCH_TOKEN": server.token(tenant="demo", user="mender")}
    arguments = [sys.executable, __file__, part, "--session", "task-2", "--file", str(file)]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, env=os.environ | where, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def follow(process: "subprocess.Popen[str]", *, to: str = "") -> None:
    """Pass on what an engine says, up to these words; without them to its end, which must be a good one."""
    for line in process.stdout or ():
        say(line.rstrip())
        if to and to in line:
            return
    if process.wait() or to:
        raise NotAsItShouldBe("an engine failed")


def lose_an_engine(file: Path, server: ServerProcess) -> None:
    """Kill an engine in the middle of a write, and have another one go on."""
    say("An engine is lost in the middle of a file write:")
    with engine("dies", file, server) as process:
        follow(process, to="half of the file")
        process.kill()
        process.wait()
        say(f"  engine 1 (pid {process.pid}) is killed with -9; the file is {digest(read(file))}")
    say("The next engine knows the session's id, and resumes the execution:")
    with engine("takes-over", file, server) as process:
        follow(process)
    check(read(file) == after(2), "the file is whole")


def wake_an_engine(file: Path, server: ServerProcess) -> None:
    """Stop an engine for longer than its lease, and wake it when another one has gone on."""
    say("An engine is stopped for longer than its lease:")
    with engine("sleeps", file, server) as sleeper:
        follow(sleeper, to="recorded the call")
        sleeper.send_signal(signal.SIGSTOP)
        say(f"  engine 3 (pid {sleeper.pid}) is stopped with SIGSTOP")
        with engine("finishes", file, server) as process:
            follow(process)
        sleeper.send_signal(signal.SIGCONT)
        if sleeper.stdin:
            sleeper.stdin.write("\n")
            sleeper.stdin.flush()
        follow(sleeper)
    check(read(file) == after(3, "engine 4"), "the file is as engine 4 left it")


async def look_back(server: ServerProcess) -> None:
    """See what the session knows of it."""
    async with Client(server.target, token=server.token(tenant="demo", user="mender")) as client:
        session = await client.get("task-2")
        for run in reversed([run async for run in session.runs()]):
            say(f"  run {run.fencing_token} of {run.worker}: {RunStatus.Name(run.status).removeprefix('RUN_STATUS_')}")
        ledger = [entry async for entry in session.tool_calls()]
        for entry in ledger:
            status = ToolCallStatus.Name(entry.status).removeprefix("TOOL_CALL_STATUS_")
            say(f"  call {entry.call_id}: {status} {entry.error}".rstrip())
        _, failed, *_ = ledger
        others = [entry.status for entry in ledger if entry is not failed]
        check(failed.status == ToolCallStatus.TOOL_CALL_STATUS_FAILED, "the interrupted call was settled, once")
        check(set(others) == {ToolCallStatus.TOOL_CALL_STATUS_SUCCEEDED}, "the others have one known outcome each")
        saved = [checkpoint.checkpoint_id async for checkpoint in session.checkpoints()]
        check(
            saved == ["0004", "0003", "0002", "0001"], "each step has its checkpoint, and behind them the plan is done"
        )
        check(session.info is not None and not session.info.active_run_id, "nobody holds a run any more")


def tell() -> None:
    """Tell the whole story on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="lockstitch-demo-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # where this runs as root, Postgres runs as somebody else
        file = folder / "service.toml"
        write(file, BEFORE)
        server = ServerProcess.start(folder / "data")
        try:
            lose_an_engine(file, server)
            wake_an_engine(file, server)
            say("What the session knows of it:")
            asyncio.run(look_back(server))
        finally:
            server.stop()
    say("All is as it should be.")


def main() -> None:
    """Tell the story, or be one of its engines."""
    engines = {"dies": dies, "takes-over": takes_over, "sleeps": sleeps, "finishes": finishes}
    parser = argparse.ArgumentParser(description="Lose an engine in the middle of a file write, and resume.")
    parser.add_argument("part", nargs="?", choices=["story", *engines], default="story")
    parser.add_argument("--session", default="")
    parser.add_argument("--file", type=Path, default=Path())
    chosen = parser.parse_args()
    try:
        if chosen.part == "story":
            tell()
        else:
            asyncio.run(engines[chosen.part](chosen.session, chosen.file))
    except NotAsItShouldBe as wrong:
        sys.exit(f"  ✗ {wrong}")


if __name__ == "__main__":
    main()
