"""Runs: started, ended, stored."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum


class RunStatus(IntEnum):
    """Where a run stands."""

    RUNNING = 1
    SUCCEEDED = 2
    FAILED = 3
    CANCELLED = 4
    SUPERSEDED = 5
    EXPIRED = 6


class OnBusy(IntEnum):
    """What starting a run does where one is active."""

    REJECT = 1
    JOIN = 2
    INTERRUPT = 3


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a run is started with."""

    run_id: str
    worker: str
    lease: timedelta
    on_busy: OnBusy
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run's holder ends it."""

    status: RunStatus
    error: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """A run at one version of its session."""

    run_id: str
    session_id: str
    status: RunStatus
    worker: str
    fencing_token: int
    lease_expire_time: datetime
    cancel_requested: bool
    error: bytes
    start_time: datetime
    end_time: datetime | None
    started_version: int
    ended_version: int
    labels: dict[str, str]
