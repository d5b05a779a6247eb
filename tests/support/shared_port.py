"""Which of the processes that share a port serves, and which holds which connection, as the kernel sees it."""

from contextlib import suppress
from pathlib import Path

from lockstitch_server.server_process import ServerProcess
from support.processes import children

ESTABLISHED, LISTENING = "01", "0A"


def workers_of(server: ServerProcess) -> list[int]:
    """The processes that serve for a parent, or are about to."""
    return [pid for pid in children(server.process.pid) if "serve-worker" in _command(pid)]


def serving_workers(server: ServerProcess) -> set[int]:
    """Those of them that take connections."""
    return {pid for pid in workers_of(server) if _sockets(pid, server, LISTENING)}


def connections_of(pid: int, server: ServerProcess) -> set[str]:
    """The connections to a server that a process holds, each by its socket's number."""
    return _sockets(pid, server, ESTABLISHED)


def _sockets(pid: int, server: ServerProcess, state: str) -> set[str]:
    port = int(server.target.rpartition(":")[2])
    held = set()
    with suppress(FileNotFoundError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                held.add(str(entry.readlink()))
    # gRPC takes calls to 127.0.0.1 on sockets of either family.
    lines = [line for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    of_port = {
        f"socket:[{fields[9]}]"
        for fields in map(str.split, lines)
        if fields[3] == state and int(fields[1].rpartition(":")[2], 16) == port
    }
    return held & of_port


def _command(pid: int) -> str:
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""
