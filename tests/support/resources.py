"""What a process takes."""

from pathlib import Path


def resident_mib(pid: int) -> float:
    """The memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
