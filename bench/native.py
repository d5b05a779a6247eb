"""The native load generator: prepared requests go out from a process that takes little of the cores it shares."""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message

from results import ROOT, NotMeasured

GENERATOR = ROOT / ".cache/bench/load"
"""What `make` builds from bench/load, where Go is."""

WARM_UP_CALLS = 4
_STOP_SECONDS_MAX = 10.0


@dataclass(frozen=True, slots=True)
class NativeLoad:
    """What a run of calls took."""

    calls: int
    answered: int
    """Those, and those that were not counted, since they warmed up."""
    seconds: float
    p50_ms: float
    p99_ms: float
    cpu_seconds: float
    bytes_per_answer: float
    turned_away: int
    """How often a caller was told to come again."""

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds

    @property
    def own_microseconds(self) -> float:
        """What the generator itself worked for a call."""
        return self.cpu_seconds / self.calls * 1e6


class Calls:
    """Calls of one method of one server, with prepared requests that are taken in turn."""

    def __init__(self, target: str, token: str, method: str, requests: Path, request_id_field: int) -> None:
        """Use `prepared`."""
        self._command = [
            *(str(GENERATOR), "-target", target, "-method", method, "-bodies", str(requests)),
            *("-request-id-field", str(request_id_field)),
        ]
        # On one core it works less for a call: its callers do not wake each other's threads.
        self._environment = os.environ | {"LOCKSTITCH_TOKEN": token, "GOMAXPROCS": "1"}

    async def run(
        self,
        *,
        in_flight: int,
        seconds: float,
        calls: int | None = None,
        settle: float = 0.0,
        connections: int = 1,
        warm_up: bool = True,
    ) -> NativeLoad:
        """Call for so long, or so often, whichever is over first.

        What begins within the first `settle` seconds is left out, or else, with `warm_up`, the first calls of each
        caller. Callers who are turned away come again when they were told to, as every client does.
        """
        first = str(WARM_UP_CALLS * in_flight if warm_up else 0)
        command = [
            *(*self._command, "-in-flight", str(in_flight), "-seconds", str(seconds)),
            *("-connections", str(connections), "-pushback"),
            *(("-settle", str(settle)) if settle else ("-warm-up", first)),
            *(() if calls is None else ("-calls", str(calls))),
        ]
        done = await asyncio.to_thread(
            subprocess.run, command, env=self._environment, stdout=subprocess.PIPE, check=True, text=True
        )
        told = json.loads(done.stdout)
        failed, failure = told.pop("failed"), told.pop("first_failure", "")
        if failed or not told["calls"]:
            raise RuntimeError(f"{failed} calls failed: {failure}")
        return NativeLoad(**told)

    @contextmanager
    def started(self, *arguments: str) -> "Iterator[subprocess.Popen[str]]":
        """Start the generator with other arguments; it ends with its input."""
        with subprocess.Popen(
            [*self._command, *arguments],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                if process.stdin is not None:
                    process.stdin.close()
                try:
                    process.wait(_STOP_SECONDS_MAX)
                except subprocess.TimeoutExpired:
                    process.kill()


@asynccontextmanager
async def prepared(target: str, token: str, method: str, requests: Sequence[Message]) -> AsyncIterator[Calls]:
    """Prepare calls: `method` is "Service/Method", and each call gets a request_id of its own where it has a field."""
    if not GENERATOR.is_file():
        raise NotMeasured("the native load generator was not built: that needs Go")
    request_id = requests[0].DESCRIPTOR.fields_by_name.get("request_id")
    with tempfile.TemporaryDirectory(prefix="lockstitch-bench-") as name:
        file = Path(name) / "requests"
        bodies = [request.SerializeToString() for request in requests]
        file.write_bytes(b"".join(len(body).to_bytes(4) + body for body in bodies))
        yield Calls(target, token, f"/lockstitch.v1.{method}", file, request_id.number if request_id else 0)
