"""Rules of messages, memory and tool calls."""

from google.protobuf.duration_pb2 import Duration
from hypothesis import strategies as st
from hypothesis.stateful import rule

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2 as t
from lockstitch.v1.message_pb2 import Message
from model import Caller
from support import drawn
from support.machine.base import LIFE, OWN_IDS, Machine


class ContentRules(Machine):
    """What callers say, remember and do."""

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
    def append_more(self, data: st.DataObject) -> None:
        kind = data.draw(st.integers(0, 2))
        (self.answer_a_call, self.append_anything, self.append_tool_calls)[kind](data)

    def answer_a_call(self, data: st.DataObject) -> None:
        self.append(data, self.choices.caller(data, but="user"), [data.draw(drawn.tool_messages)])

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
        if self.choices.one_in(8, data) and (fence := self.choices.fence(data, caller, request.session_id)):
            request.fence.CopyFrom(fence)
            request.finish_run.CopyFrom(data.draw(drawn.run_ends))
        self.change(data, caller, request)

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
