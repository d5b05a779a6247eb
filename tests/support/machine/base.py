"""What every rule needs: servers and model in lockstep, choices, and what was sent."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.checkpoint_service_pb2 import PutCheckpointRequest
from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, Message, Part, ToolCallPart
from lockstitch.v1.run_pb2 import RunStatus
from lockstitch.v1.run_service_pb2 import StartRunRequest
from model import SYSTEM, Caller, ledger, runs
from model.commits import Timeline
from model.session import State
from support import drawn
from support.behind import Behind
from support.choices import ENGINE, Choices
from support.databases import Database
from support.lockstep import Lockstep
from support.reads import check_reads

OWN_IDS = ("s1", "s2", "s3")
LIFE = timedelta(days=1, microseconds=7)


class Sent(NamedTuple):
    caller: Caller
    request: Any
    malformed: bool


class Machine(RuleBasedStateMachine):
    """Sends, compares, and stops at the first difference."""

    def __init__(self, lockstep: Lockstep, database: Database, tally: Counter[str]) -> None:
        super().__init__()
        self.tally = tally
        self.lockstep = lockstep
        self.behind = Behind(database)
        self.choices = Choices(self.lockstep.model)
        self.sent: list[Sent] = []
        self.failed = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note a failure, after which nothing more is read."""
        try:
            yield
        except BaseException:
            self.failed = True
            raise

    def send(self, caller: Caller, request: Any, *, malformed: bool = False) -> None:
        if "request_id" in request.DESCRIPTOR.fields_by_name:
            self.sent.append(Sent(caller, request, malformed))
        with self.watched():
            self.lockstep.change(caller, request, malformed=malformed)

    def change(self, data: st.DataObject, caller: Caller, request: Any) -> None:
        self.choices.guard(data, caller, request)
        self.send(caller, request)

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        calls = [ToolCallPart(call_id=call_id, name="search", arguments_json="{}") for call_id in drawn.CALL_IDS]
        for tenant in self.choices.tenants:
            request = pb.CreateSessionRequest(request_id="create", session_id="s1", user_id="ann")
            request.messages.append(Message(role=ROLE_ASSISTANT, parts=[Part(tool_call=call) for call in calls]))
            request.ttl.FromTimedelta(LIFE)
            request.idle_ttl.FromTimedelta(LIFE)
            self.send(Caller(tenant, *ENGINE), request)
            if data.draw(st.booleans()):
                self.send(Caller(tenant, *ENGINE), StartRunRequest(request_id="start", session_id="s1"))

    def check(self, caller: Caller, session_id: str, sizes: list[int]) -> None:
        with self.watched():
            check_reads(self.lockstep, caller, session_id, sizes)

    def teardown(self) -> None:
        """At the end everything is read."""
        for tenant, session_id in self.lockstep.model.sessions if not self.failed else ():
            self.check(Caller(tenant, *ENGINE), session_id, [2, 3])
        self.behind.close()
        self.tally.update(self.lockstep.reached)
        for timeline in self.lockstep.model.sessions.values():
            self.tally.update(happened(timeline))


def happened(timeline: Timeline) -> Iterator[str]:
    """What came of a session's commits, beside what was asked for."""
    for (before, after), (caller, request) in zip(pairwise(timeline.states), timeline.log, strict=True):
        lost = [run.run_id for run in after.runs if run.run_id in after.fenced - before.fenced]
        calls = zip(before.calls, after.calls, strict=False)
        for run_id in lost:
            yield f"{RunStatus.Name(runs.find(after, run_id).status)} by {type(request).__name__}"
        if lost and any(now.status == ledger.INTERRUPTED != then.status for then, now in calls):
            yield "calls were interrupted with their run"
        yield from forked_or_saved(before, after, request)
        if caller == SYSTEM and after.head.last_seq > before.head.last_seq:
            yield f"a draft was lost{' under a run' if after.under else ''}"


def forked_or_saved(before: State, after: State, request: Any) -> Iterator[str]:
    """What a commit made of checkpoints, and of the beginning of a fork."""
    was, now = before.present.checkpoints, after.present.checkpoints
    changed = [place for place in now if now[place] != was.get(place)]
    if was.keys() - now.keys():
        yield "checkpoints were deleted"
    if was.keys() & changed:
        yield f"a checkpoint was replaced by {type(request).__name__}"
    if isinstance(request, PutCheckpointRequest):
        if any(not value.HasField("data") for value in request.checkpoint.values):
            yield "a value was shared"
        if before.present.writes.keys() & {place for place in changed if place not in was}:
            yield "writes came before their checkpoint"
    if isinstance(request, pb.ForkSessionRequest):
        yield f"a fork {'of an earlier version' if request.HasField('at_version') else 'of the present'}"
        if any(call.status in {*ledger.OPEN, ledger.INTERRUPTED} for call in after.calls):
            yield "a fork with a call whose outcome is not known"
