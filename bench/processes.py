"""What the kernel says of a process: its memory and its time."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM, _CHILDREN_USER, _CHILDREN_SYSTEM = 1, 11, 12, 13, 14


def resident_bytes(pid: int) -> int:
    """The memory that a process holds now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def cpu_seconds(pid: int) -> float:
    """The time that a process has worked."""
    return _seconds(pid, _USER, _SYSTEM)


def children_cpu_seconds(pid: int) -> float:
    """The time that the processes which a process started have worked, those that have ended included."""
    return _seconds(pid, _CHILDREN_USER, _CHILDREN_SYSTEM) + sum(_child_seconds(pid))


def _child_seconds(pid: int) -> Iterator[float]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                if int(_fields(int(folder.name))[_PARENT]) == pid:
                    yield cpu_seconds(int(folder.name))


def _seconds(pid: int, *places: int) -> float:
    fields = _fields(pid)
    return sum(int(fields[place]) for place in places) / _TICKS


def _fields(pid: int) -> list[str]:
    """What stands behind the name in /proc/PID/stat."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
