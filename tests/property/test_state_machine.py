"""Random calls of several callers on two servers of one database: every answer is the model's."""

import asyncio
import os
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, cast

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2 as t
from lockstitch.v1.message_pb2 import (
    ROLE_ASSISTANT,
    ROLE_TOOL,
    ROLE_UNSPECIFIED,
    ROLE_USER,
    Message,
    Part,
    ToolCallPart,
)
from model import Caller
from support import drawn
from support.choices import CALLERS, ENGINE, Choices
from support.databases import Database
from support.lockstep import Lockstep, Servers
from support.reads import check_reads

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PROFILE = settings(
    max_examples=2000 if LONG else 80,
    stateful_step_count=80 if LONG else 30,
    derandomize=not LONG,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink) if LONG else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
OWN_IDS = ("s1", "s2", "s3")
END_OF_LIFE = """
    update lockstitch.sessions set expire_time = now() - interval '1 hour'
    where tenant_id = $1 and session_id = $2
"""
LIFE = timedelta(days=1, microseconds=7)


class Sent(NamedTuple):
    caller: Caller
    request: Any
    malformed: bool


class Sessions(RuleBasedStateMachine):
    """What callers do to the sessions of two tenants."""

    def __init__(self, servers: Servers, database: Database) -> None:
        super().__init__()
        self.lockstep = Lockstep(servers)
        self.database = database
        self.choices = Choices(self.lockstep.model)
        self.sent: list[Sent] = []
        self.failed = False

    def send(self, caller: Caller, request: Any, *, malformed: bool = False) -> None:
        self.sent.append(Sent(caller, request, malformed))
        try:
            self.lockstep.change(caller, request, malformed=malformed)
        except BaseException:
            self.failed = True
            raise

    def change(self, data: st.DataObject, caller: Caller, request: Any) -> None:
        self.choices.guard(data, caller, request)
        self.send(caller, request)

    @initialize()
    def begin(self) -> None:
        calls = [ToolCallPart(call_id=call_id, name="search", arguments_json="{}") for call_id in drawn.CALL_IDS]
        for tenant in self.choices.tenants:
            request = pb.CreateSessionRequest(request_id="create", session_id="s1", user_id="ann")
            request.messages.append(Message(role=ROLE_ASSISTANT, parts=[Part(tool_call=call) for call in calls]))
            request.ttl.FromTimedelta(LIFE)
            self.send(Caller(tenant, *ENGINE), request)

    @rule(data=st.data())
    def create(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data)
        request = pb.CreateSessionRequest(
            request_id=data.draw(st.sampled_from((self.choices.fresh(), "create"))),
            session_id=data.draw(st.sampled_from(("", "", *OWN_IDS))),
            user_id=data.draw(st.sampled_from(("", "ann", "bob"))),
            agent=data.draw(st.sampled_from(("", "coder"))),
            title=data.draw(st.sampled_from(("", "Titel"))),
            labels=data.draw(st.sampled_from(({}, {"k": "v"}, {"k": "v", "l": ""}))),
            metadata_json=data.draw(st.sampled_from(("", '{ "b":1.0,"a":1}'))),
            messages=data.draw(st.lists(drawn.user_messages if caller.role == "user" else drawn.messages, max_size=2)),
            idle_ttl=data.draw(st.none() | st.just(Duration(seconds=3600, nanos=5000))),
        )
        if caller.role != "user" or self.choices.one_in(4, data):
            request.memory.CopyFrom(data.draw(drawn.memories))
        if data.draw(st.booleans()):
            request.ttl.FromTimedelta(LIFE)
        self.send(caller, request)

    @rule(data=st.data())
    def say(self, data: st.DataObject) -> None:
        """Anybody says something."""
        self.append(data, self.choices.caller(data), data.draw(st.lists(drawn.user_messages, min_size=1, max_size=2)))

    @rule(data=st.data())
    def take_a_turn(self, data: st.DataObject) -> None:
        """Calls, and results of these or of earlier ones."""
        results = data.draw(st.lists(drawn.tool_messages, max_size=2))
        self.append(data, self.choices.caller(data, but="user"), [data.draw(drawn.assistant_messages), *results])

    @rule(data=st.data())
    def answer_a_call(self, data: st.DataObject) -> None:
        self.append(data, self.choices.caller(data, but="user"), [data.draw(drawn.tool_messages)])

    @rule(data=st.data())
    def append_anything(self, data: st.DataObject) -> None:
        self.append(data, self.choices.caller(data), data.draw(st.lists(drawn.messages, min_size=1, max_size=3)))

    def append(self, data: st.DataObject, caller: Caller, messages: list[Message]) -> None:
        request = pb.AppendRequest(request_id=self.choices.fresh(), session_id=self.choices.session_id(data, caller))
        request.messages.extend(self.choices.answering(data, caller, request.session_id, messages))
        request.allow_orphans = caller.role != "user" and self.choices.one_in(4, data)
        if self.choices.one_in(4, data):
            request.session_id = data.draw(st.sampled_from((*OWN_IDS, request.session_id)))
            request.create_if_missing.user_id = data.draw(st.sampled_from(("", "", "ann", "bob")))
        if caller.role != "user" and self.choices.one_in(4, data):
            request.memory_change.CopyFrom(data.draw(drawn.memory_changes))
            request.force = data.draw(st.booleans())
        self.change(data, caller, request)

    @rule(data=st.data())
    def append_tool_calls(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data, but="user")
        request = pb.AppendRequest(request_id=self.choices.fresh(), session_id=self.choices.session_id(data, caller))
        messages = data.draw(st.lists(drawn.messages, max_size=1))
        request.messages.extend(self.choices.answering(data, caller, request.session_id, messages))
        for _ in range(data.draw(st.integers(1, 3))):
            change = request.tool_calls.add(resources=self.choices.resources(data))
            kind = data.draw(st.integers(0, 3))
            if kind == 0:
                change.MergeFrom(data.draw(drawn.new_calls()))
                continue
            self.choices.target(data, caller, request.session_id, change)
            if kind == 1:
                change.MergeFrom(t.ToolCallChange(**data.draw(drawn.endings())))
            elif kind == 2:
                change.status = data.draw(drawn.open_statuses)
            else:
                change.approval.CopyFrom(data.draw(drawn.approvals))
        self.change(data, caller, request)

    @rule(data=st.data())
    def update_memory(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data, but="" if self.choices.one_in(8, data) else "user")
        request = pb.UpdateMemoryRequest(
            request_id=self.choices.fresh(),
            session_id=self.choices.session_id(data, caller),
            change=data.draw(drawn.memory_changes),
            force=self.choices.one_in(5, data),
        )
        self.change(data, caller, request)

    @rule(data=st.data())
    def update_tool_call(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data)
        request = pb.UpdateToolCallRequest(
            request_id=self.choices.fresh(), session_id=self.choices.session_id(data, caller)
        )
        self.choices.target(data, caller, request.session_id, request)
        if caller.role != "user" or self.choices.one_in(4, data):
            request.resources.extend(self.choices.resources(data))
        if self.choices.one_in(3, data) or caller.role == "user":
            request.approval.CopyFrom(data.draw(drawn.approvals))
        elif not request.resources or data.draw(st.booleans()):
            request.status = data.draw(drawn.open_statuses)
        self.change(data, caller, request)

    @rule(data=st.data())
    def complete_tool_call(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data, but="" if self.choices.one_in(8, data) else "user")
        request = pb.CompleteToolCallRequest(
            request_id=self.choices.fresh(),
            session_id=self.choices.session_id(data, caller),
            resources=self.choices.resources(data),
            **data.draw(drawn.endings()),
        )
        self.choices.target(data, caller, request.session_id, request)
        self.change(data, caller, request)

    @rule(data=st.data())
    def close_or_restore(self, data: st.DataObject) -> None:
        """What is closed does not stay so for long."""
        caller = self.choices.caller(data)
        session_id = self.choices.session_id(data, caller)
        state = self.choices.state(caller, session_id)
        restores = state is None or bool(state.head.close_reason) or state.expired
        if restores != self.choices.one_in(6, data):
            request: Any = pb.RestoreSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
            if not self.choices.one_in(4, data):
                request.ttl.FromTimedelta(2 * LIFE)
        elif self.choices.one_in(3, data):
            request = pb.CloseSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
            request.reason = data.draw(st.sampled_from(("done", "done", "")))
        else:
            return
        self.change(data, caller, request)

    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        """The same request_id once more: as it was, from another caller, with another guard, content or method."""
        caller, sent, malformed = data.draw(st.sampled_from(self.sent))
        request = type(sent).FromString(sent.SerializeToString())
        kind = data.draw(st.integers(0, 1 if malformed else 5))
        if kind == 1:
            caller = Caller(caller.tenant, *data.draw(st.sampled_from(CALLERS)))
        elif kind == 2:
            self.choices.guard(data, caller, request)
        elif kind == 3 and isinstance(request, pb.AppendRequest | pb.CreateSessionRequest):
            request.messages.append(Message(role=ROLE_USER, parts=[Part(text="more")]))
        elif kind == 4:
            request = pb.CloseSessionRequest(request_id=request.request_id, session_id=request.session_id or "s1")
        self.send(caller, request, malformed=malformed)

    @rule(data=st.data(), kind=st.integers(0, 20))
    def send_nonsense(self, data: st.DataObject, kind: int) -> None:
        """Malformed requests are refused whatever the state, but not before the role is known."""
        caller = self.choices.caller(data)
        request = pb.AppendRequest(request_id=self.choices.fresh(), session_id=self.choices.session_id(data, caller))
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
                request.messages[0].parts[0].json = data.draw(st.sampled_from(drawn.NO_JSON))
            case 5:
                request.messages.append(Message(role=ROLE_TOOL, parts=[Part(text="whose?")]))
            case 6:
                request.expected_version = -1
        if kind <= 6:
            self.send(caller, request, malformed=True)

    @rule(data=st.data())
    def let_time_pass(self, data: st.DataObject) -> None:
        """End the life of a session, as time would."""
        states = {key: timeline.states[-1] for key, timeline in self.lockstep.model.sessions.items()}
        mortal = [key for key, state in states.items() if state.head.HasField("expire_time")]
        if not mortal or not self.choices.one_in(10, data):
            return
        tenant, session_id = data.draw(st.sampled_from(mortal))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(self.database.as_superuser(END_OF_LIFE, tenant, session_id))
        loop.close()
        states[tenant, session_id].expired = True
        self.lockstep.aged.add(session_id)

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        if self.choices.one_in(3, data):
            caller = self.choices.caller(data)
            sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
            self.check(caller, self.choices.session_id(data, caller), sizes)

    def check(self, caller: Caller, session_id: str, sizes: list[int]) -> None:
        try:
            check_reads(self.lockstep, caller, session_id, sizes)
        except BaseException:
            self.failed = True
            raise

    def teardown(self) -> None:
        """At the end everything is read."""
        for tenant, session_id in self.lockstep.model.sessions if not self.failed else ():
            self.check(Caller(tenant, *ENGINE), session_id, [2, 3])


@pytest.mark.timeout(24 * 3600 if LONG else 600)
def test_every_answer_is_the_models(servers: Servers, database: Database) -> None:
    machine = cast("type[Sessions]", partial(Sessions, servers, database))
    run_state_machine_as_test(machine, settings=PROFILE)
