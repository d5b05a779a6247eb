"""Rules of checkpoints."""

from typing import Any

from hypothesis import strategies as st

from lockstitch.v1 import checkpoint_service_pb2 as c
from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointValue, CheckpointWrite
from model import Caller
from model.checkpoints import values_in
from support.machine.base import OWN_IDS, Machine

IDS, NAMESPACES, TASKS = ("0001", "0002", "0003", "0004"), ("", "", "sub graph"), ("t1", "t2")
RUN_IDS = ("", "", "run 1", "mine")
METADATA = ("", '{"step": 1, "source":"loop"}', '{"source" : "loop"}', '{"step":null}', '{"step":1.0}')
KINDS = ("put", "put", "put", "put", "put", "write", "write", "copy", "copy", "delete")

writes = st.builds(
    CheckpointWrite,
    task_id=st.sampled_from(TASKS),
    task_path=st.sampled_from(("", "", "a/b")),
    index=st.integers(-2, 2),
    channel=st.sampled_from(("out", "__error__")),
    format=st.sampled_from(("", "json")),
    data=st.sampled_from((b"", b"1", b"\x00\xff")),
)


class CheckpointRules(Machine):
    """What engines save, of what they share, where they save it to, and what they throw away."""

    def checkpoint(self, data: st.DataObject) -> None:
        """Some steps of an execution."""
        caller = self.choices.caller(data, but="" if self.choices.one_in(14, data) else "user")
        session_id = self.choices.session_id(data, caller)
        for _ in range(data.draw(st.integers(1, 4))):
            self.take_a_step(data, caller, session_id)

    def take_a_step(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        match data.draw(st.sampled_from(KINDS)):
            case "put":
                self.put(data, caller, session_id)
            case "write":
                self.put_writes(data, caller, session_id)
            case "copy":
                self.copy(data, caller, session_id)
            case _:
                self.delete(data, caller, session_id)

    def put(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        state = self.choices.state(caller, session_id)
        stored = state.present.checkpoints if state else {}
        new = Checkpoint(
            checkpoint_id=data.draw(st.sampled_from(IDS)),
            namespace=data.draw(st.sampled_from(NAMESPACES)),
            format=data.draw(st.sampled_from(("", "pickle"))),
            data=data.draw(st.sampled_from((b"", b"\x80\x05", b"state"))),
            metadata_json=data.draw(st.sampled_from(METADATA)),
            version=data.draw(st.sampled_from((0, 77))),
            writes=data.draw(st.lists(writes, max_size=2)),
        )
        is_there = [checkpoint_id for namespace, checkpoint_id in stored if namespace == new.namespace]
        parents = [checkpoint_id for checkpoint_id in is_there if checkpoint_id < new.checkpoint_id]
        if parents and not self.choices.one_in(3, data):
            new.parent_id = data.draw(st.sampled_from(parents))
        elif self.choices.one_in(9, data):
            new.parent_id = data.draw(st.sampled_from(IDS))
        known = values_in(stored, new.namespace)
        for channel in data.draw(st.lists(st.sampled_from(("x", "y", "z")), max_size=3, unique=True)):
            value = CheckpointValue(channel=channel, version=data.draw(st.sampled_from(("1", "2"))))
            is_known = (channel, value.version) in known
            if is_known == self.choices.one_in(9, data):
                value.data = b"" if self.choices.one_in(14, data) else b"large"
                value.format = "json" if self.choices.one_in(14, data) else ""
            new.values.append(value)
        request = c.PutCheckpointRequest(request_id=self.choices.fresh(), session_id=session_id, checkpoint=new)
        self.create_if_missing(data, request)
        self.choices.guard(data, caller, request)
        if not request.HasField("fence") or self.choices.one_in(9, data):
            request.checkpoint.run_id = data.draw(st.sampled_from(RUN_IDS))
        self.send(caller, request)

    def create_if_missing(self, data: st.DataObject, request: Any) -> None:
        """Now and then a session that there may not be."""
        if self.choices.one_in(6, data):
            name = "session_id" if isinstance(request, c.PutCheckpointRequest) else "target_session_id"
            setattr(request, name, data.draw(st.sampled_from(OWN_IDS)))
            request.create_if_missing.user_id = data.draw(st.sampled_from(("", "", "ann", "bob")))

    def put_writes(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        request = c.PutCheckpointWritesRequest(
            session_id=session_id,
            namespace=data.draw(st.sampled_from(NAMESPACES)),
            checkpoint_id=data.draw(st.sampled_from(IDS)),
            writes=data.draw(st.lists(writes, min_size=1, max_size=3)),
        )
        self.change(data, caller, request)

    def copy(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        """Mostly from where there are some, and often to where there are others."""
        holders = [
            name
            for (tenant, name), line in self.lockstep.model.sessions.items()
            if tenant == caller.tenant and line.states[-1].present.checkpoints
        ]
        if holders and not self.choices.one_in(4, data):
            session_id = data.draw(st.sampled_from(holders))
        request = c.CopyCheckpointsRequest(request_id=self.choices.fresh(), session_id=session_id)
        request.target_session_id = self.choices.session_id(data, caller)
        others = [name for name in holders if name != session_id]
        if others and not self.choices.one_in(3, data):
            request.target_session_id = data.draw(st.sampled_from(others))
        if request.target_session_id == session_id and not self.choices.one_in(9, data):
            request.target_session_id = data.draw(st.sampled_from(OWN_IDS))
            request.create_if_missing.user_id = "ann"
        self.create_if_missing(data, request)
        self.change(data, caller, request)

    def delete(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        request = c.DeleteCheckpointsRequest(request_id=self.choices.fresh(), session_id=session_id)
        kind = data.draw(st.integers(0, 8))
        if kind == 4:
            request.all = True
        elif kind % 2:
            request.run_id = data.draw(st.sampled_from((self.choices.run_id(data, caller, session_id), "mine")))
        else:
            request.keep_newest = data.draw(st.integers(1, 3))
        self.change(data, caller, request)
