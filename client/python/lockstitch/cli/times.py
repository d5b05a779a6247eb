"""Times as people type them."""

import re
from datetime import UTC, datetime, timedelta

import typer

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FORMS = "a time such as 2026-11-29, 2026-11-29T12:00 or 2026-11-29T12:00:00Z"


def span(text: str) -> timedelta:
    """`90s`, `15m`, `12h`, `30d`, `2w`."""
    found = _SPAN.fullmatch(text.strip())
    if not found:
        raise typer.BadParameter(f"{text!r} is no length of time such as 90s, 15m, 12h, 30d or 2w")
    try:
        return timedelta(seconds=float(found[1]) * _SECONDS[found[2]])
    except OverflowError:
        raise typer.BadParameter(f"{text!r} is too long") from None


def instant(text: str) -> datetime:
    """An ISO time; without a zone it is this machine's."""
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is not {_FORMS}") from None


def past(text: str) -> datetime:
    """An ISO time, or how long ago: `30d`."""
    if _SPAN.fullmatch(text.strip()):
        return datetime.now(UTC) - span(text)
    try:
        return instant(text)
    except typer.BadParameter:
        raise typer.BadParameter(f"{text!r} is neither {_FORMS}, nor how long ago, such as 30d") from None
