"""`sessions tail`."""

import sys

from rich.console import Console
from rich.text import Text

from lockstitch.cli.failures import about
from lockstitch.cli.listing import status_of
from lockstitch.cli.output import compact, console, is_terminal, moment, on_one_line, plain, write_json
from lockstitch.cli.settings import Connection
from lockstitch.cli.showing import call_status, message_text
from lockstitch.v1.commit_pb2 import CallerRole, Commit
from lockstitch.v1.subscription_pb2 import SubscribeResponse

_MEMORY_CHARACTERS = 300


async def tail_session(connection: Connection, session_id: str, after_version: int | None) -> None:
    """Print a session's commits behind a version, then each as it is made; None is behind the present one."""
    screen = _Screen(console()) if is_terminal() else None
    async with connection.client() as client:
        with about(session_id, connection.target):
            session = client.session(session_id)
            if after_version is None:
                await session.get()
            async for frame in session.frames(after_version=after_version):
                if screen is not None:
                    screen.show(frame)
                elif frame.HasField("commit"):
                    write_json(plain(frame.commit))
                    sys.stdout.flush()  # whoever reads the pipe follows live, too


class _Screen:
    """What a person sees."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._was_opened = False

    def show(self, frame: SubscribeResponse) -> None:
        """Print a commit, or how the stream stands."""
        match frame.WhichOneof("frame"):
            case "commit":
                self._out.print(_commit(frame.commit), "")
            case "opened":
                if self._was_opened:
                    self._remark("connected again")
                self._was_opened = True
            case "caught_up":
                self._remark(f"live behind version {frame.caught_up.version}; Ctrl-C ends it")
            case "fell_behind":
                self._remark("behind: reading the log")
            case "draining":
                self._remark("the server is going away: connecting again")
            case _:
                pass

    def _remark(self, text: str) -> None:
        self._out.print(Text(f"── {text}", style="dim"))


def _commit(commit: Commit) -> Text:
    who = f"{on_one_line(commit.principal.subject)} ({_role(commit.principal.role)})"
    lines = [
        Text.assemble((f"version {commit.version}", "bold"), (f"  {moment(commit.commit_time)}  by {who}", "dim")),
        *map(message_text, commit.messages),
    ]
    lines += (
        Text(f"tool call {on_one_line(call.call_id)} of {on_one_line(call.name)}: {call_status(call)}")
        for call in commit.tool_calls
    )
    if commit.HasField("memory"):
        change = compact(plain(commit.memory, whole=False))
        lines.append(Text(f"memory: {on_one_line(change, _MEMORY_CHARACTERS)}"))
    if commit.HasField("base"):
        origin = commit.base.session.forked_from
        lines.append(Text(f"fork of {on_one_line(origin.session_id)} at version {origin.version}"))
    if commit.HasField("session"):
        lines.append(Text(f"session: {status_of(commit.session)} {on_one_line(commit.session.title)}".rstrip()))
    lines += (Text(f"messages {taken.first_seq} to {taken.last_seq} were taken back") for taken in commit.removed)
    if commit.erased:
        lines.append(Text("content of it was erased since", style="dim"))
    return Text("\n").join(lines)


def _role(role: CallerRole.ValueType) -> str:
    return CallerRole.Name(role).removeprefix("CALLER_ROLE_").lower()
