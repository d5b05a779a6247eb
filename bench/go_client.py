"""The Go client against the bare load generator: the same prepared appends to the same server, so many in flight."""

import asyncio
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from lockstitch.v1.session_service_pb2 import AppendRequest
from native import prepared
from results import ROOT, Figure, NotMeasured, Target
from stage import Stage, message

CLIENT = ROOT / "client/go/.build/bench"
"""What `make -C client/go bench` builds."""

IN_FLIGHT = 64
SESSIONS = 1000


async def go_client(stage: Stage, *, rounds: int, seconds: float) -> list[Target | Figure]:
    """Alternate both at 64 in flight; the ratio is the median of neighbouring rounds'."""
    if not CLIENT.is_file():
        raise NotMeasured("the Go client's bench was not built: `make -C client/go bench`")
    sessions = await stage.sessions(SESSIONS)
    requests = [AppendRequest(session_id=session.session_id, messages=[message()]) for session in sessions]
    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        bodies = Path(name) / "requests"
        encoded = [request.SerializeToString() for request in requests]
        bodies.write_bytes(b"".join(len(body).to_bytes(4) + body for body in encoded))
        async with prepared(
            stage.server.target, stage.server.token(tenant="bench", user="bench"), "SessionService/Append", requests
        ) as calls:
            bare: list[tuple[float, float]] = []
            client: list[tuple[float, float]] = []
            for number in range(rounds):
                # Who begins a pair of rounds has no part in who is faster.
                if number % 2:
                    client.append(await _by_client(stage, bodies, seconds))
                load = await calls.run(in_flight=IN_FLIGHT, seconds=seconds)
                bare.append((load.rate, load.own_microseconds))
                if not number % 2:
                    client.append(await _by_client(stage, bodies, seconds))
    return [
        Target("go_client_vs_generator", median(one[0] / other[0] for one, other in zip(client, bare, strict=True))),
        Figure("appends a second by the Go client at 64 in flight", f"{median(rate for rate, _ in client):,.0f}"),
        Figure("the Go client's CPU an append", f"{median(own for _, own in client):.0f} µs"),
        Figure("the bare generator's CPU an append", f"{median(own for _, own in bare):.0f} µs"),
    ]


async def _by_client(stage: Stage, bodies: Path, seconds: float) -> tuple[float, float]:
    """Give the calls a second, and the microseconds that the client worked for each."""
    command = [
        *(str(CLIENT), "-target", stage.server.target, "-bodies", str(bodies)),
        *("-in-flight", str(IN_FLIGHT), "-seconds", str(seconds), "-warm-up", str(4 * IN_FLIGHT)),
    ]
    # One core, as the generator has.
    environment = os.environ | {"LOCKSTITCH_TOKEN": stage.server.token(tenant="bench", user="bench"), "GOMAXPROCS": "1"}
    done = await asyncio.to_thread(subprocess.run, command, env=environment, stdout=subprocess.PIPE, check=True)
    told = json.loads(done.stdout)
    return told["calls"] / told["seconds"], told["cpu_seconds"] / told["calls"] * 1e6
