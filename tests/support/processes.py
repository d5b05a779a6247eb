"""Looking at processes from outside."""

from pathlib import Path

from support.waiting import until_blocking


def postmaster_pid(data_dir: Path, *, after: int | None = None) -> int:
    """Wait for the process that runs a data folder's Postgres, after another one's end, and return it."""
    found: list[int] = []

    def another() -> bool:
        found[:] = [pid for pid in _pids_in(data_dir) if pid != after]
        return bool(found)

    until_blocking(another, "a postmaster")
    return found[0]


def _pids_in(data_dir: Path) -> list[int]:
    try:
        pid = int((data_dir / "pg/data/postmaster.pid").read_text().splitlines()[0])
        # Between two postmasters the server's own number stands there.
        return [pid] if Path(f"/proc/{pid}/comm").read_text().strip() == "postgres" else []
    except (FileNotFoundError, ProcessLookupError, IndexError, ValueError):
        return []


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def until_gone(pid: int) -> None:
    until_blocking(lambda: not is_alive(pid), f"the end of process {pid}")


def children(pid: int) -> list[int]:
    """Return the processes that the main thread of a process started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
