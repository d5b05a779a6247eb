"""How sizes and durations are written in settings."""

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

KIB = 1024
MIB = 1024 * KIB


def _seconds(value: object) -> object:
    """Read a bare number as seconds, since pydantic knows durations in words only."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


Duration = Annotated[timedelta, BeforeValidator(_seconds), Field(gt=timedelta(0), le=timedelta(days=1))]
LongDuration = Annotated[timedelta, BeforeValidator(_seconds), Field(gt=timedelta(0), le=timedelta(days=3653))]
