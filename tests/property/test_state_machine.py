"""Random calls of several callers on two servers of one database: every answer is the model's."""

import asyncio
import os
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any, NamedTuple, cast

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2 as t
from lockstitch.v1.message_pb2 import ROLE_TOOL, ROLE_UNSPECIFIED, ROLE_USER, Message, Part
from model import Caller
from support import drawn
from support.databases import Database
from support.lockstep import Lockstep, Servers
from support.reads import check_reads

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PROFILE = settings(
    max_examples=2000 if LONG else 50,
    stateful_step_count=80 if LONG else 40,
    derandomize=not LONG,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink) if LONG else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
OWN_IDS = ("s1", "s2")
END_OF_LIFE = """
    update lockstitch.sessions set expire_time = now() - interval '1 hour'
    where tenant_id = $1 and session_id = $2
"""
ROLES = (("ann", "user"), ("bob", "user"), ("engine", "engine"), ("engine", "engine"), ("admin", "admin"))
_tenants = count(1)


class Sent(NamedTuple):
    caller: Caller
    request: Any
    malformed: bool


class Sessions(RuleBasedStateMachine):
    """What callers do; most of them engines of the first tenant."""

    def __init__(self, servers: Servers, database: Database) -> None:
        super().__init__()
        self.lockstep = Lockstep(servers)
        self.database = database
        number = next(_tenants)
        self.tenants = (f"t{number}-a", f"t{number}-a", f"t{number}-a", f"t{number}-b")
        self.numbers = count(1)
        self.sent: list[Sent] = []
        self.failed = False

    # What is drawn from what is there.

    def caller(self, data: st.DataObject) -> Caller:
        return Caller(data.draw(st.sampled_from(self.tenants)), *data.draw(st.sampled_from(ROLES)))

    def session_id(self, data: st.DataObject) -> str:
        known = [session_id for _, session_id in self.lockstep.model.sessions]
        return data.draw(st.sampled_from((*known, *known, "s1", "nobody's")))

    def guard(self, data: st.DataObject, request: Any) -> None:
        """Now and then an expected version, which is not always the current one."""
        state = next(
            (t.states[-1] for (_, s), t in self.lockstep.model.sessions.items() if s == request.session_id), None
        )
        for name in ("expected_version", "expected_memory_version"):
            if name in request.DESCRIPTOR.fields_by_name and data.draw(st.integers(0, 2)) == 0:
                current = getattr(state.head, name.removeprefix("expected_")) if state else 0
                setattr(request, name, max(0, current + data.draw(st.sampled_from((0, 0, 0, -1, 1)))))

    def target(self, data: st.DataObject, request: Any) -> None:
        calls = [call for timeline in self.lockstep.model.sessions.values() for call in timeline.states[-1].calls]
        known = [call.tool_call_id for call in calls]
        by_ledger_id: bool = data.draw(st.booleans())
        if known and by_ledger_id:
            request.tool_call_id = data.draw(st.sampled_from((*known, "call_0000000000000000_1_0", "x")))
        else:
            request.call_id = data.draw(drawn.call_ids)

    def resources(self, data: st.DataObject) -> list[t.Resource]:
        """What names a resource says something new about it."""
        uris = data.draw(st.lists(st.sampled_from(("file:///a", "file:///b")), max_size=2))
        return [t.Resource(uri=uri, before=data.draw(drawn.texts), after=f"v{next(self.numbers)}") for uri in uris]

    def send(self, caller: Caller, request: Any, *, malformed: bool = False) -> None:
        self.sent.append(Sent(caller, request, malformed))
        try:
            self.lockstep.change(caller, request, malformed=malformed)
        except BaseException:
            self.failed = True
            raise

    def fresh(self) -> str:
        return f"r{next(self.numbers)}"

    # What callers do.

    @rule(data=st.data())
    def create(self, data: st.DataObject) -> None:
        request = pb.CreateSessionRequest(
            request_id=data.draw(st.sampled_from((self.fresh(), "create"))),
            session_id=data.draw(st.sampled_from(("", *OWN_IDS))),
            user_id=data.draw(st.sampled_from(("", "ann", "bob"))),
            agent=data.draw(st.sampled_from(("", "coder"))),
            title=data.draw(st.sampled_from(("", "Titel"))),
            labels=data.draw(st.sampled_from(({}, {"k": "v"}, {"k": "v", "l": ""}))),
            metadata_json=data.draw(st.sampled_from(("", '{ "b":1.0,"a":1}'))),
            messages=data.draw(st.lists(drawn.messages, max_size=2)),
            memory=data.draw(st.none() | drawn.memories),
            idle_ttl=data.draw(st.none() | st.just(Duration(seconds=3600, nanos=5000))),
        )
        if data.draw(st.booleans()):
            request.ttl.FromTimedelta(timedelta(days=1, microseconds=7))
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def append(self, data: st.DataObject) -> None:
        self.append_messages(data, data.draw(st.lists(drawn.messages, min_size=1, max_size=3)))

    @rule(data=st.data())
    def say(self, data: st.DataObject) -> None:
        self.append_messages(data, [data.draw(drawn.user_messages)])

    @rule(data=st.data())
    def take_a_turn(self, data: st.DataObject) -> None:
        self.append_messages(
            data, [data.draw(drawn.assistant_messages), *data.draw(st.lists(drawn.tool_messages, max_size=2))]
        )

    def append_messages(self, data: st.DataObject, messages: list[Message]) -> None:
        request = pb.AppendRequest(request_id=self.fresh(), session_id=self.session_id(data), messages=messages)
        self.guard(data, request)
        request.allow_orphans = data.draw(st.integers(0, 4)) == 0
        if data.draw(st.integers(0, 3)) == 0:
            request.create_if_missing.SetInParent()
            request.create_if_missing.user_id = data.draw(st.sampled_from(("", "", "ann", "bob")))
        if data.draw(st.integers(0, 3)) == 0:
            request.memory_change.CopyFrom(data.draw(drawn.memory_changes))
            request.force = data.draw(st.booleans())
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def append_tool_calls(self, data: st.DataObject) -> None:
        request = pb.AppendRequest(request_id=self.fresh(), session_id=self.session_id(data))
        request.messages.extend(data.draw(st.lists(drawn.messages, max_size=1)))
        for _ in range(data.draw(st.integers(1, 3))):
            change = request.tool_calls.add(resources=self.resources(data))
            kind = data.draw(st.integers(0, 3))
            if kind == 0:
                change.call_id, change.name = data.draw(drawn.call_ids), data.draw(st.sampled_from(drawn.NAMES))
                change.arguments_json = data.draw(drawn.values)
                ended = data.draw(st.booleans()) and data.draw(drawn.endings())
                change.MergeFrom(
                    t.ToolCallChange(**ended) if ended else t.ToolCallChange(status=data.draw(drawn.open_statuses))
                )
                if ended and not change.status:
                    change.status = t.TOOL_CALL_STATUS_FAILED if change.error else t.TOOL_CALL_STATUS_SUCCEEDED
                continue
            self.target(data, change)
            if kind == 1:
                change.MergeFrom(t.ToolCallChange(**data.draw(drawn.endings())))
            elif kind == 2:
                change.status = data.draw(drawn.open_statuses)
            else:
                change.approval.CopyFrom(data.draw(drawn.approvals))
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def update_memory(self, data: st.DataObject) -> None:
        request = pb.UpdateMemoryRequest(
            request_id=self.fresh(), session_id=self.session_id(data), change=data.draw(drawn.memory_changes)
        )
        self.guard(data, request)
        request.force = data.draw(st.integers(0, 3)) == 0
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def update_tool_call(self, data: st.DataObject) -> None:
        request = pb.UpdateToolCallRequest(
            request_id=self.fresh(), session_id=self.session_id(data), resources=self.resources(data)
        )
        self.target(data, request)
        self.guard(data, request)
        if data.draw(st.booleans()):
            request.approval.CopyFrom(data.draw(drawn.approvals))
        elif not request.resources or data.draw(st.booleans()):
            request.status = data.draw(drawn.open_statuses)
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def complete_tool_call(self, data: st.DataObject) -> None:
        request = pb.CompleteToolCallRequest(
            request_id=self.fresh(),
            session_id=self.session_id(data),
            resources=self.resources(data),
            **data.draw(drawn.endings()),
        )
        self.target(data, request)
        self.guard(data, request)
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        request = pb.CloseSessionRequest(request_id=self.fresh(), session_id=self.session_id(data))
        request.reason = data.draw(st.sampled_from(("", "done")))
        self.guard(data, request)
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        request = pb.RestoreSessionRequest(request_id=self.fresh(), session_id=self.session_id(data))
        if data.draw(st.booleans()):
            request.ttl.FromTimedelta(timedelta(days=2))
        self.guard(data, request)
        self.send(self.caller(data), request)

    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        """The same request_id once more: as it was, from another caller, with another guard, content or method."""
        if not self.sent:
            return
        caller, sent, malformed = data.draw(st.sampled_from(self.sent))
        request = type(sent).FromString(sent.SerializeToString())
        kind = data.draw(st.integers(0, 1 if malformed else 5))
        if kind == 1:
            caller = Caller(caller.tenant, *data.draw(st.sampled_from(ROLES)))
        elif kind == 2:
            self.guard(data, request)
        elif kind == 3 and isinstance(request, pb.AppendRequest | pb.CreateSessionRequest):
            request.messages.append(Message(role=ROLE_USER, parts=[Part(text="more")]))
        elif kind == 4:
            request = pb.CloseSessionRequest(request_id=request.request_id, session_id=request.session_id or "s1")
        self.send(caller, request, malformed=malformed)

    @rule(data=st.data(), kind=st.integers(0, 6))
    def send_nonsense(self, data: st.DataObject, kind: int) -> None:
        """Malformed requests are refused whatever the state, but not before the role is known."""
        request = pb.AppendRequest(request_id=self.fresh(), session_id=self.session_id(data))
        request.messages.append(Message(role=ROLE_USER, parts=[Part(text="hi")]))
        match kind:
            case 0:
                request.request_id = data.draw(st.sampled_from(("", "server:1", "x" * 129, "a\nb")))
            case 1:
                request.session_id = data.draw(st.sampled_from(("", "x" * 129, "a\0b")))
            case 2:
                request.messages[0].role = ROLE_UNSPECIFIED
            case 3:
                del request.messages[:]
            case 4:
                request.messages[0].parts[0].json = data.draw(
                    st.sampled_from(("", "{", "NaN", '"\\ud800"', "[" * 513 + "]" * 513))
                )
            case 5:
                request.messages.append(Message(role=ROLE_TOOL, parts=[Part(text="whose?")]))
            case _:
                request.expected_version = -1
        self.send(self.caller(data), request, malformed=True)

    @rule(data=st.data())
    def let_time_pass(self, data: st.DataObject) -> None:
        """End the life of a session, as time would."""
        states = {key: timeline.states[-1] for key, timeline in self.lockstep.model.sessions.items()}
        mortal = [key for key, state in states.items() if state.head.HasField("expire_time")]
        if not mortal:
            return
        tenant, session_id = data.draw(st.sampled_from(mortal))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(self.database.as_superuser(END_OF_LIFE, tenant, session_id))
        loop.close()
        states[tenant, session_id].expired = True
        self.lockstep.aged.add(session_id)

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
        self.check(self.caller(data), self.session_id(data), sizes)

    def check(self, caller: Caller, session_id: str, sizes: list[int]) -> None:
        try:
            check_reads(self.lockstep, caller, session_id, sizes)
        except BaseException:
            self.failed = True
            raise

    def teardown(self) -> None:
        """At the end everything is read."""
        if self.failed:
            return
        for tenant, session_id in self.lockstep.model.sessions:
            self.check(Caller(tenant, "engine", "engine"), session_id, [2, 3])


@pytest.mark.timeout(24 * 3600 if LONG else 600)
def test_every_answer_is_the_models(servers: Servers, database: Database) -> None:
    machine = cast("type[Sessions]", partial(Sessions, servers, database))
    run_state_machine_as_test(machine, settings=PROFILE)
