"""What the kernel says of a process: its memory and its time."""

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM = 1, 11, 12


def resident_bytes(pid: int) -> int:
    """The memory that a process holds now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def cpu_seconds(pid: int) -> float:
    """The time that a process has worked."""
    fields = _fields(pid)
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS


def children(pid: int) -> list[int]:
    """The processes that a process started and that still run."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = int(_fields(int(folder.name))[_PARENT])
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == pid:
                found.append(int(folder.name))
    return found


def _fields(pid: int) -> list[str]:
    """What stands behind the name in /proc/PID/stat."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
