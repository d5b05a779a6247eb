"""Group commit for a caller who is alone: what it costs where there is nobody to share a commit with."""

import asyncio
import tempfile
from pathlib import Path
from statistics import median

from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch_server.config import Settings
from lockstitch_server.embedded import running_urls
from lockstitch_server.server_process import ServerProcess
from native import prepared
from results import Figure, Measured, NotMeasured, Target
from stage import Stage, message

SETTING = "group_commit"
SESSIONS = 100
_ROUND_SECONDS_MAX = 20.0


async def one_caller(stage: Stage, *, rounds: int, calls: int) -> list[Measured]:
    """Alternate appends, one in flight, at a server with group commit and at one without, on the same database."""
    if SETTING not in Settings.model_fields:
        raise NotMeasured(f"this server has no setting {SETTING}")
    sessions = await stage.sessions(SESSIONS)
    requests = [AppendRequest(session_id=one.session_id, messages=[message()]) for one in sessions]
    database_url = running_urls(stage.server.data_dir).app
    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        p50s: list[tuple[float, float]] = []
        servers: list[ServerProcess] = []
        try:
            for word in ("true", "false"):
                settings = {"LOCKSTITCH_DATABASE_URL": database_url, f"LOCKSTITCH_{SETTING.upper()}": word}
                servers.append(await asyncio.to_thread(ServerProcess.start, Path(name) / word, environment=settings))
            grouped, single = (
                prepared(server.target, server.token(tenant="bench", user="bench"), "SessionService/Append", requests)
                for server in servers
            )
            async with grouped as with_it, single as without:
                for turn in range(-1, rounds):
                    one = await with_it.run(in_flight=1, calls=calls, seconds=_ROUND_SECONDS_MAX)
                    other = await without.run(in_flight=1, calls=calls, seconds=_ROUND_SECONDS_MAX)
                    if turn >= 0:  # the first turn warms both up
                        p50s.append((one.p50_ms, other.p50_ms))
        finally:
            for server in servers:
                await asyncio.to_thread(server.stop)
    return [
        Target("group_commit_at_1", median(one / other for one, other in p50s)),
        Figure(
            "append, p50 at 1 in flight with group commit and without",
            f"{median(one for one, _ in p50s):.2f}, {median(other for _, other in p50s):.2f} ms",
        ),
    ]
