"""A short history with something of everything in it, recorded on two servers: what tests of the checker damage."""

import asyncio
import time
from pathlib import Path
from random import Random
from typing import Any

from factories import ASSISTANT, called, patched, replaced, said
from faults.followers import Follower
from faults.history import Record, records_in
from faults.reads_replayed import all_reads
from faults.recorder import Recorder, Told
from faults.servers import Servers
from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.run_pb2 import Fence
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from model.commits import ANSWERS
from support.rpc import SERVICE_OF
from support.streams import span
from support.waiting import POLL_SECONDS

SESSION = "story"
SECONDS = 20.0
STAYS = (8, 9)
"""After so many frames the reader of everything leaves, and comes again."""


class Storyteller:
    """Makes one call after the other; each change's request_id says in the tests which one it is."""

    def __init__(self, recorder: Recorder, servers: Servers) -> None:
        self._recorder, self._servers = recorder, servers

    async def ask(self, kind: Any, server: str = "a", *, unheard: bool = False, **fields: Any) -> Any:
        """Make a call and record it; None where it was refused. An unheard one's answer is lost on its way."""
        return await self.send(kind(session_id=SESSION, **fields), server, unheard=unheard)

    async def send(self, request: Any, server: str, *, unheard: bool = False) -> Any:
        kind = type(request)
        name = kind.__name__.removesuffix("Request")
        method = self._servers.channel(server, "storyteller").unary_unary(
            f"/{SERVICE_OF[name]}/{name}",
            request_serializer=kind.SerializeToString,
            response_deserializer=ANSWERS[f"{name}Response"].FromString,
        )
        headers = self._servers.headers
        if unheard:
            op = self._recorder.invoked(request, client="storyteller", server=server)
            await method(request, timeout=SECONDS, metadata=headers)
            self._recorder.failed(op, Told("unknown", "UNAVAILABLE", "", {}))
            return None
        try:
            return await self._recorder.call(
                method, request, client="storyteller", server=server, deadline=SECONDS, metadata=headers
            )
        except Told:
            return None

    async def tell(self) -> None:
        """The story."""
        create, one, two = (
            pb.CreateIfMissing(agent="story"),
            [said("one")],
            [said("two"), said("three", role=ASSISTANT)],
        )
        await self.ask(pb.AppendRequest, request_id="first", messages=one, expected_version=0, create_if_missing=create)
        await self.ask(pb.AppendRequest, "b", request_id="guarded", messages=two, expected_version=1)
        await self.ask(pb.UpdateMemoryRequest, request_id="patch", change=patched('{"goal": "g", "k": [1]}'))
        await self.ask(pb.UpdateMemoryRequest, request_id="nothing", change=patched('{"absent": null}'))
        await self._runs()
        await self._guards()
        await self._calls()
        await self._reads()
        await self._life()
        await self._lapse()
        for read in all_reads(SESSION):
            await self.send(read, "b")

    async def _runs(self) -> None:
        hour = span(3600)
        old = (await self.ask(r.StartRunRequest, request_id="run-1", lease=hour)).run
        fence = Fence(run_id=old.run_id, fencing_token=old.fencing_token)
        await self.ask(pb.AppendRequest, request_id="fenced", messages=[said("as run 1")], fence=fence)
        taken = await self.ask(r.StartRunRequest, "b", request_id="run-2", on_busy=r.ON_BUSY_INTERRUPT, lease=hour)
        new = taken.run
        await self.ask(pb.AppendRequest, request_id="late", messages=[said("as run 1, late")], fence=fence)
        fence = Fence(run_id=new.run_id, fencing_token=new.fencing_token)
        await self.ask(r.RenewRunRequest, fence=fence, lease=hour)
        await self.ask(pb.AppendRequest, "b", request_id="in time", messages=[said("as run 2")], fence=fence)
        await self.ask(r.StartRunRequest, "b", request_id="joined", on_busy=r.ON_BUSY_JOIN)

    async def _guards(self) -> None:
        two = [said("two"), said("three", role=ASSISTANT)]
        await self.ask(pb.AppendRequest, request_id="guarded", messages=two, expected_version=5)
        await self.ask(pb.AppendRequest, request_id="conflict", messages=[said("stale")], expected_version=3)
        await self.ask(pb.AppendRequest, request_id="guarded", messages=[said("other content")])
        await self.ask(pb.AppendRequest, unheard=True, request_id="unheard", messages=[said("who knows")])

    async def _calls(self) -> None:
        await self.ask(pb.AppendRequest, request_id="call", messages=[called("c1", text="look")])
        await self.ask(pb.CompleteToolCallRequest, "b", request_id="complete", call_id="c1", result_json="1")
        await self.ask(pb.RemoveMessagesRequest, request_id="take back", last=1)

    async def _reads(self) -> None:
        await self.ask(pb.GetContextRequest, "b")
        await self.ask(pb.ListMessagesRequest, page_size=50)
        await self.ask(pb.ListCommitsRequest, "b", page_size=50)
        await self.ask(pb.GetMemoryRequest, at_version=3)
        await self.ask(pb.GetSessionRequest, at_version=100)

    async def _life(self) -> None:
        await self.ask(pb.CloseSessionRequest, request_id="close", force=True)
        await self.ask(pb.AppendRequest, "b", request_id="closed", messages=[said("too late")])
        await self.ask(pb.CloseSessionRequest, request_id="close again")
        await self.ask(pb.RestoreSessionRequest, request_id="restore")
        change = replaced(goal="h", plan=["p"])
        await self.ask(pb.UpdateMemoryRequest, request_id="replace", change=change, expected_memory_version=3)

    async def _lapse(self) -> None:
        """A lease runs out, and the next run takes over."""
        await self.ask(r.StartRunRequest, request_id="run-3", lease=span(1))
        while await self.ask(r.StartRunRequest, "b", request_id="run-4", lease=span(3600)) is None:
            await asyncio.sleep(POLL_SECONDS * 10)


async def short_story(path: Path, servers: Servers) -> list[Record]:
    """Record it, with one reader that leaves and comes again, and one of an assistant's messages alone."""
    with Recorder(path) as recorder:
        recorder.acts_as(**servers.caller._asdict())
        storyteller = Storyteller(recorder, servers)
        await storyteller.ask(pb.GetSessionRequest)  # there is none yet
        everything = Follower(recorder, servers, SESSION, name="everything", random=Random(3), stays=STAYS)
        spoken = Follower(recorder, servers, SESSION, name="spoken", random=Random(3), roles=[ASSISTANT])
        try:
            await storyteller.tell()
            log = await _log(servers)
            for follower in (everything, spoken):
                await follower.reached(log[-1].version, SECONDS)
        finally:
            await everything.stop()
            await spoken.stop()
        recorder.log(SESSION, log, invoked_at=time.monotonic_ns(), reached=log[-1].version)
    await servers.close()
    return list(records_in(path))


async def _log(servers: Servers) -> Any:
    stub: Any = SessionServiceStub(servers.channel("a", "storyteller"))
    answer = await stub.ListCommits(
        pb.ListCommitsRequest(session_id=SESSION, page_size=1000), metadata=servers.headers, timeout=SECONDS
    )
    return answer.commits
