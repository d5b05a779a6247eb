"""`lockstitch sessions`: the words and flags of its commands."""
# ruff: noqa: PLR0917 - a command's parameters are its flags, which typer passes by name

from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lockstitch.cli import changing, listing, showing, tailing, transfer
from lockstitch.cli.running import run
from lockstitch.cli.settings import DEFAULT_TARGET, Target, TokenFile
from lockstitch.cli.times import instant, past, span
from lockstitch.cli.transcripts.lines import STDIN
from lockstitch.cli.transcripts.reader import Format
from lockstitch.v1.session_pb2 import SessionStatus

cli = typer.Typer(help="List, show, follow, export, import, close and restore sessions.", no_args_is_help=True)

SessionId = Annotated[str, typer.Argument(metavar="ID", help="The session's id.")]
SessionIds = Annotated[list[str], typer.Argument(metavar="ID…", help="The sessions' ids.")]
Since = typer.Option(parser=past, metavar="TIME", help="A time, or how long ago (30d).")


def _beginning(text: str) -> int | None:
    if text in {"start", "now"}:
        return 0 if text == "start" else None
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(f"{text!r} is neither a version, nor start, nor now")
    return int(text)


class Status(StrEnum):
    """Where sessions stand."""

    ACTIVE = "active"
    CLOSED = "closed"
    EXPIRED = "expired"


class OnError(StrEnum):
    """What becomes of the lines behind one that can't be taken."""

    STOP = "stop"
    SKIP = "skip"


class ExportFormat(StrEnum):
    """What sessions are written as."""

    LOCKSTITCH = Format.LOCKSTITCH.value
    OPENAI_CHAT = Format.OPENAI_CHAT.value


@cli.command("list")
def list_(
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    user: Annotated[str, typer.Option(help="Only this user's.")] = "",
    agent: Annotated[str, typer.Option(help="Only those of this app or agent.")] = "",
    status: Annotated[list[Status] | None, typer.Option(help="Only those that are this; may be repeated.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only those with this label; may be repeated.")
    ] = None,
    created_after: Annotated[datetime | None, Since] = None,
    created_before: Annotated[datetime | None, Since] = None,
    active_after: Annotated[datetime | None, Since] = None,
    active_before: Annotated[datetime | None, Since] = None,
    limit: Annotated[
        int | None, typer.Option(min=0, help="The most; 0 is all. (default: 50 on a terminal, else all)")
    ] = None,
) -> None:
    """List sessions, the most recently used first. Piped, it gives a JSON object a line."""
    shown = listing.Filter(
        user=user,
        agent=agent,
        statuses=[SessionStatus.Value(f"SESSION_STATUS_{one.name}") for one in status or ()],
        labels=dict(_label(text) for text in label or ()),
        created_after=created_after,
        created_before=created_before,
        active_after=active_after,
        active_before=active_before,
    )
    run(target, token_file, lambda there: listing.list_sessions(there, shown, limit))


@cli.command()
def show(
    session_id: SessionId,
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    messages: Annotated[int, typer.Option(min=0, max=1000, help="How many of the newest messages.")] = 20,
    at_version: Annotated[int | None, typer.Option(min=1, help="The session as it was at this version.")] = None,
) -> None:
    """Show a session: its memory, open tool calls, newest messages. Piped, it gives one JSON object."""
    run(
        target,
        token_file,
        lambda there: showing.show_session(there, session_id, messages=messages, at_version=at_version),
    )


@cli.command()
def tail(
    session_id: SessionId,
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    after_version: Annotated[
        int | None,
        typer.Option(
            "--from", parser=_beginning, metavar="VERSION|start|now", help="Behind which version. (default: now)"
        ),
    ] = None,
) -> None:
    """Follow a session live, across restarts of servers. Piped, it gives a JSON object a commit.

    Ctrl-C ends it, with exit code 130.
    """
    run(target, token_file, lambda there: tailing.tail_session(there, session_id, after_version))


@cli.command()
def export(
    session_ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="The sessions' ids. (default: all)")
    ] = None,
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    form: Annotated[ExportFormat, typer.Option("--format", help="What is written.")] = ExportFormat.LOCKSTITCH,
) -> None:
    """Write sessions to stdout as JSON lines; counts and digests go to stderr."""
    as_chats = form is ExportFormat.OPENAI_CHAT
    run(target, token_file, lambda there: transfer.export_sessions(there, session_ids or [], as_chats=as_chats))


@cli.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON lines, plain or gzipped; - is stdin.", allow_dash=True)
    ],
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    form: Annotated[Format, typer.Option("--format", help="What the lines are.")] = Format.LOCKSTITCH,
    user: Annotated[
        str | None,
        typer.Option(help="Whose they become, whatever the file says. (default: the line's user, else the token's)"),
    ] = None,
    agent: Annotated[str, typer.Option(help="The app or agent they become sessions of.")] = "",
    id_prefix: Annotated[str, typer.Option(help="Stands before the ids that the file gives.")] = "",
    on_error: Annotated[OnError, typer.Option(help="At a line that can't be taken: stop, or skip it.")] = OnError.STOP,
) -> None:
    """Import conversations, 8 at once. Doing it again changes nothing, and goes on where it broke off."""
    settings = transfer.ImportSettings(
        file=file, form=form, user=user, agent=agent, id_prefix=id_prefix, goes_on=on_error is OnError.SKIP
    )
    if file != STDIN and not file.exists():
        raise typer.BadParameter(f"there is no file {file}", param_hint="FILE")
    if not run(target, token_file, lambda there: transfer.import_file(there, settings)):
        raise typer.Exit(1)


@cli.command()
def close(
    session_ids: SessionIds,
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    reason: Annotated[str, typer.Option(help="Why, at most 1,024 characters.")] = "",
) -> None:
    """Close sessions: they take no more changes until they are restored."""
    run(target, token_file, lambda there: changing.close_sessions(there, session_ids, reason))


@cli.command()
def restore(
    session_ids: SessionIds,
    target: Target = DEFAULT_TARGET,
    token_file: TokenFile = None,
    ttl: Annotated[
        timedelta | None, typer.Option(parser=span, metavar="SPAN", help="How long they live from now (30d).")
    ] = None,
    expire_time: Annotated[
        datetime | None, typer.Option(parser=instant, metavar="TIME", help="When their new life ends.")
    ] = None,
) -> None:
    """Make closed or expired sessions active again. Those whose time has passed need a new life."""
    if ttl is not None and expire_time is not None:
        raise typer.BadParameter("give --ttl or --expire-time, not both")
    run(
        target,
        token_file,
        lambda there: changing.restore_sessions(there, session_ids, ttl=ttl, expire_time=expire_time),
    )


def _label(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise typer.BadParameter(f"{text!r} is no label such as team=support", param_hint="--label")
    return key, value
