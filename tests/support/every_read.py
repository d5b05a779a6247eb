"""Each call that reads one session, of each kind there is, Subscribe aside."""

from collections.abc import Awaitable, Callable
from typing import Any

from support.rpc import Rpc

RUN_ID = "run-1"
_READS: dict[str, dict[str, Any]] = {
    "GetSession": {},
    "GetSession, at a version": {"at_version": 1},
    "GetMemory": {},
    "GetMemory, at a version": {"at_version": 1},
    "GetMemory, a run's": {"run_id": RUN_ID},
    "ListMemoryVersions": {},
    "ListMessages": {},
    "ListMessages, removed ones too": {"show_removed": True},
    "ListToolCalls": {},
    "ListCommits": {},
    "GetContext": {},
    "GetRun": {"run_id": RUN_ID},
    "ListRuns": {},
}


def _reading(name: str) -> Callable[[Rpc, str], Awaitable[Any]]:
    async def read(caller: Rpc, session_id: str) -> Any:
        return await getattr(caller, name.split(",", maxsplit=1)[0])(session_id=session_id, **_READS[name])

    return read


READS_OF_A_SESSION = {name: _reading(name) for name in _READS}
"""`await READS_OF_A_SESSION[name](engine, session_id)`; those of a run read the one named RUN_ID."""
