"""`sessions export` and `sessions import`: files on one side, a client on the other."""

import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from lockstitch.cli.exporting import Exporter
from lockstitch.cli.failures import about
from lockstitch.cli.importing import Importer, Report
from lockstitch.cli.output import console, is_terminal, say, write_json
from lockstitch.cli.progress import progress
from lockstitch.cli.settings import Connection
from lockstitch.cli.transcripts.lines import opened
from lockstitch.cli.transcripts.reader import Format, reader
from lockstitch.cli.transcripts.transcript import Defaults
from lockstitch.client import Client
from lockstitch.session import SessionHandle

_TIMEOUT = timedelta(seconds=60)
"""Long enough to ride out a server's restart."""
_PAGE = 200


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """What is imported, and how."""

    file: Path
    form: Format
    user: str | None
    agent: str
    id_prefix: str
    goes_on: bool


async def export_sessions(connection: Connection, session_ids: Sequence[str], *, as_chats: bool) -> None:
    """Write sessions to stdout; say on stderr how many and what their digests are."""
    exporter = Exporter(sys.stdout.buffer.write)
    with progress("exporting", len(session_ids)) as told:
        async with connection.client(_TIMEOUT) as client:
            async for session in _chosen(client, session_ids):
                with about(session.session_id, connection.target):
                    await (exporter.chat(session) if as_chats else exporter.lines(session))
                told(exporter.sessions, f"{exporter.sessions} sessions, {exporter.messages} messages")
        sys.stdout.buffer.flush()
    for session_id in exporter.changed:
        say(f"session {session_id} was changed while it was read: export it again for its newest state")
    say(f"exported {exporter.sessions} sessions, {exporter.messages} messages, {exporter.bytes} bytes")
    say(f"sha256 of the bytes {exporter.sha256}")
    say(f"sha256 of the content {exporter.digest.text}")


async def _chosen(client: Client, session_ids: Sequence[str]) -> AsyncIterator[SessionHandle]:
    if session_ids:
        for session_id in session_ids:
            yield client.session(session_id)
    else:
        async for session in client.list(page_size=_PAGE):
            yield client.session(session.session_id)


async def import_file(connection: Connection, settings: ImportSettings) -> bool:
    """Import a file and say what came of it; True where nothing was left out."""
    defaults = Defaults(
        user=settings.user, subject=connection.subject, agent=settings.agent, id_prefix=settings.id_prefix
    )
    with opened(settings.file) as (lines, size), progress("importing", size) as told:

        def on_progress(report: Report) -> None:
            told(lines.bytes_read, f"{report.sessions} sessions, {report.messages} messages")

        async with connection.client(_TIMEOUT) as client:
            importer = Importer(
                client,
                reader(settings.form, lines, defaults),
                name=lines.name,
                target=connection.target,
                is_pipe=lines.is_pipe,
                goes_on=settings.goes_on,
                on_failure=say,
                on_progress=on_progress,
            )
            report = await importer.run()
    _tell(report)
    if report.stopped:
        say("stopped there; --on-error skip goes on behind it, and what is in already is not brought twice")
    return not report.failed


def _tell(report: Report) -> None:
    if not is_terminal():
        write_json(
            {
                "sessions": report.sessions,
                "already_there": report.known,
                "messages": report.messages,
                "failed": report.failed,
                "sha256": report.digest.text,
            }
        )
        return
    known = f" ({report.known} of them were there already)" if report.known else ""
    out = console()
    out.print(f"imported {report.sessions} sessions{known}, {report.messages} messages, {report.failed} failed")
    out.print(f"sha256 of the content {report.digest.text}", soft_wrap=True)
