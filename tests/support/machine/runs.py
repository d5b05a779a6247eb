"""Rules of runs."""

from google.protobuf.duration_pb2 import Duration
from hypothesis import strategies as st

from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2 as t
from lockstitch.v1.run_pb2 import Fence
from model import Caller
from support import drawn
from support.machine.base import Machine

KINDS = ("start", "start", "start", "renew", "finish", "cancel", "act", "act", "act", "remember", "run out", "run out")


class RunRules(Machine):
    """What engines do that take turns on a session, and time that takes it from them."""

    def run(self, data: st.DataObject) -> None:
        """What makes sense under a run is mostly done where there is one."""
        kind = data.draw(st.sampled_from(KINDS))
        caller = self.choices.caller(data, but="" if self.choices.one_in(14, data) else "user")
        session_id = self.choices.session_id(data, caller)
        state = self.choices.state(caller, session_id)
        is_idle = state is None or state.active is None
        if is_idle and not self.choices.one_in(6, data):
            kind = "start"
        match kind:
            case "start":
                self.start(data, caller, session_id)
            case "renew":
                request = r.RenewRunRequest(session_id=session_id, lease=Duration(seconds=1800))
                request.fence.CopyFrom(self.named_fence(data, caller, session_id))
                self.send(caller, request)
            case "finish":
                self.finish(data, caller, session_id)
            case "cancel":
                self.cancel(data, caller, session_id)
            case "act":
                self.act(data, caller, session_id)
            case "remember":
                self.remember(data, caller, session_id)
            case _:
                self.run_out(data, caller, session_id)

    def start(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        request = r.StartRunRequest(
            request_id=self.choices.fresh(),
            session_id=session_id,
            worker=data.draw(st.sampled_from(("", "worker 1"))),
            on_busy=data.draw(st.sampled_from(r.OnBusy.values())),
            labels=data.draw(st.sampled_from(({}, {"k": "v", "l": ""}))),
            lease=data.draw(st.sampled_from((None, Duration(seconds=3600), Duration(seconds=600, nanos=5000)))),
        )
        if self.choices.one_in(2, data):
            request.run_id = data.draw(st.sampled_from(("run 1", "run 2", "run 3", "run 4")))
        self.change(data, caller, request)

    def finish(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        end = data.draw(drawn.run_ends)
        request = r.FinishRunRequest(
            request_id=self.choices.fresh(), session_id=session_id, status=end.status, error=end.error
        )
        request.fence.CopyFrom(self.named_fence(data, caller, session_id))
        self.change(data, caller, request)

    def cancel(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        request = r.CancelRunRequest(request_id=self.choices.fresh(), session_id=session_id)
        request.run_id = self.choices.run_id(data, caller, session_id)
        request.now = data.draw(st.booleans()) if caller.role != "user" else self.choices.one_in(6, data)
        self.change(data, caller, request)

    def act(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        """Say that a call is RUNNING, as a run's holder does before it acts."""
        state = self.choices.state(caller, session_id)
        pending = [call for call in state.calls if call.status == t.TOOL_CALL_STATUS_PENDING] if state else []
        if state is None or state.active is None or not pending:
            return
        request = pb.UpdateToolCallRequest(request_id=self.choices.fresh(), session_id=session_id)
        request.fence.CopyFrom(Fence(run_id=state.active.run_id, fencing_token=state.active.fencing_token))
        request.tool_call_id = data.draw(st.sampled_from(pending)).tool_call_id
        request.status = t.TOOL_CALL_STATUS_RUNNING
        self.send(caller, request)

    def remember(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        """Change a run's own memory."""
        request = pb.UpdateMemoryRequest(
            request_id=self.choices.fresh(),
            session_id=session_id,
            run_id=self.choices.run_id(data, caller, session_id),
            change=data.draw(drawn.memory_changes),
            force=self.choices.one_in(5, data),
        )
        self.change(data, caller, request)

    def run_out(self, data: st.DataObject, caller: Caller, session_id: str) -> None:
        """Let a lease run out, and now and then somebody take over."""
        timeline = self.lockstep.model.sessions.get((caller.tenant, session_id))
        if timeline is None or timeline.is_purged or not timeline.states[-1].is_held:
            return
        present = timeline.states[-1].present
        present.lease.FromDatetime(self.behind.end_lease(caller.tenant, session_id))
        present.is_lapsed = True
        self.lockstep.reached["a lease ran out"] += 1
        if self.choices.one_in(1, data):
            self.start(data, caller, session_id)

    def named_fence(self, data: st.DataObject, caller: Caller, session_id: str) -> Fence:
        return self.choices.fence(data, caller, session_id, must=True) or Fence(run_id="nobody's", fencing_token=1)
