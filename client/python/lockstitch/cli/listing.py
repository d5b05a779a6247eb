"""`sessions list`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.table import Table

from lockstitch.cli.output import ago, console, is_terminal, on_one_line, plain, say, write_json
from lockstitch.cli.settings import Connection
from lockstitch.v1.session_pb2 import Session, SessionStatus

SHOWN_ON_A_TERMINAL = 50
_PAGE_MAX = 1000
_TITLE_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Filter:
    """Which sessions."""

    user: str = ""
    agent: str = ""
    statuses: Sequence[SessionStatus.ValueType] = ()
    labels: Mapping[str, str] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    active_after: datetime | None = None
    active_before: datetime | None = None


async def list_sessions(connection: Connection, shown: Filter, limit: int | None) -> None:
    """Print sessions, the most recently used first: as a table on a terminal, else an object a line."""
    as_table = is_terminal()
    if limit is None:
        limit = SHOWN_ON_A_TERMINAL if as_table else 0
    found: list[Session] = []
    more = False
    async with connection.client() as client:
        count = 0
        async for session in client.list(
            user_id=shown.user,
            agent=shown.agent,
            statuses=shown.statuses,
            labels=shown.labels,
            created_after=shown.created_after,
            created_before=shown.created_before,
            active_after=shown.active_after,
            active_before=shown.active_before,
            page_size=min(limit + 1, _PAGE_MAX) if limit else _PAGE_MAX,
        ):
            if limit and count == limit:
                more = True
                break
            count += 1
            if as_table:
                found.append(session)
            else:
                write_json(plain(session))
    if as_table:
        _print(found)
    if more:
        say(f"there are more than {limit}: --limit 0 gives all")


def _print(sessions: Sequence[Session]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SESSION", no_wrap=True, overflow="fold")
    for name in ("STATUS", "USER", "AGENT"):
        table.add_column(name, overflow="fold")
    table.add_column("MESSAGES", justify="right")
    table.add_column("USED", no_wrap=True)
    table.add_column("TITLE, LABELS")
    now = datetime.now(UTC)
    for session in sessions:
        labels = " ".join(f"{key}={value}" for key, value in sorted(session.labels.items()))
        table.add_row(
            on_one_line(session.session_id),
            status_of(session),
            on_one_line(session.user_id),
            on_one_line(session.agent),
            str(session.message_count),
            ago(session.last_activity_time, now),
            on_one_line(f"{session.title} {labels}".strip(), _TITLE_CHARACTERS),
        )
    out = console()
    out.print(table if sessions else "No sessions.")


def status_of(session: Session) -> str:
    """A session's status as people write it."""
    return SessionStatus.Name(session.status).removeprefix("SESSION_STATUS_").lower()
