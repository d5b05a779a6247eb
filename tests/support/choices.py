"""What random callers choose: mostly what makes sense now, and now and then what does not."""

from itertools import count
from typing import Any

from hypothesis import strategies as st

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import tool_call_pb2 as t
from lockstitch.v1.message_pb2 import ROLE_TOOL, Message
from lockstitch.v1.run_pb2 import Fence
from model import Caller
from model.ledger import OPEN
from model.session import State
from model.store import Store
from support import drawn

ENGINE = ("engine", "engine")
CALLERS = (ENGINE, ENGINE, ENGINE, ENGINE, ENGINE, ("admin", "admin"), ("ann", "user"), ("bob", "user"))
_tenants = count(1)


class Choices:
    """Chooses from what the model knows; tenants of its own, and numbers that nobody used."""

    def __init__(self, model: Store) -> None:
        number = next(_tenants)
        self.tenants = (f"t{number}-a", f"t{number}-b")
        self._model = model
        self._numbers = count(1)

    def fresh(self) -> str:
        return f"r{next(self._numbers)}"

    def one_in(self, times: int, data: st.DataObject) -> bool:
        return data.draw(st.integers(0, times)) == (times + 1) // 2  # Hypothesis likes the ends of a range

    def caller(self, data: st.DataObject, *, but: str = "") -> Caller:
        tenant = self.tenants[self.one_in(8, data)]
        return Caller(tenant, *data.draw(st.sampled_from([caller for caller in CALLERS if caller[1] != but])))

    def session_id(self, data: st.DataObject, caller: Caller) -> str:
        own = [session_id for tenant, session_id in self._model.sessions if tenant == caller.tenant]
        if own and not self.one_in(12, data):
            if "s1" in own and data.draw(st.booleans()):
                return "s1"  # where most happens
            return data.draw(st.sampled_from(own))
        return data.draw(st.sampled_from((*(session_id for _, session_id in self._model.sessions), "nobody's")))

    def state(self, caller: Caller, session_id: str) -> State | None:
        timeline = self._model.sessions.get((caller.tenant, session_id))
        return timeline.states[-1] if timeline else None

    def guard(self, data: st.DataObject, caller: Caller, request: Any) -> None:
        """Now and then expected versions, which now and then are not the current ones."""
        state = self.state(caller, getattr(request, "target_session_id", "") or request.session_id)
        for name in ("expected_version", "expected_memory_version"):
            if name in request.DESCRIPTOR.fields_by_name and self.one_in(3, data):
                current = getattr(state.head, name.removeprefix("expected_")) if state else 0
                if name == "expected_memory_version" and isinstance(request, pb.UpdateMemoryRequest) and state:
                    current = state.memory(request.run_id).version
                setattr(request, name, max(0, current + data.draw(st.sampled_from((0, 0, 0, 0, 0, 0, -1, 1)))))
        if "fence" in request.DESCRIPTOR.fields_by_name and not request.HasField("fence"):
            fence = self.fence(data, caller, request.session_id)
            if fence is not None:
                request.fence.CopyFrom(fence)

    def fence(self, data: st.DataObject, caller: Caller, session_id: str, *, must: bool = False) -> Fence | None:
        """Mostly the active run's; now and then an old one's, another session's, a wrong one, or none."""
        state = self.state(caller, session_id)
        runs = list(state.runs) if state else []
        kind = data.draw(st.integers(0, 19))
        if caller.role == "user" and kind < 18 and not must:
            return None
        if kind == 7:
            runs += [run for line in self._model.sessions.values() for run in line.states[-1].runs]
            token = data.draw(st.integers(1, 3))
            return Fence(run_id=data.draw(st.sampled_from([run.run_id for run in runs] or ["x"])), fencing_token=token)
        if runs and kind in {3, 11, 15}:
            run = data.draw(st.sampled_from(runs))
            return Fence(run_id=run.run_id, fencing_token=run.fencing_token)
        if state is None or state.active is None or (kind in {2, 5, 8, 13, 17} and not must):
            return None
        return Fence(run_id=state.active.run_id, fencing_token=state.active.fencing_token)

    def run_id(self, data: st.DataObject, caller: Caller, session_id: str) -> str:
        """Mostly the active run; now and then an earlier one, or none that there is."""
        state = self.state(caller, session_id)
        if state is None or not state.runs or self.one_in(12, data):
            return "nobody's"
        if state.active is not None and not self.one_in(5, data):
            return state.active.run_id
        return data.draw(st.sampled_from([run.run_id for run in state.runs]))

    def target(self, data: st.DataObject, caller: Caller, session_id: str, request: Any) -> None:
        """A call of the session, mostly an open one, by either id; now and then another session's or none."""
        state = self.state(caller, session_id)
        calls = state.calls if state else []
        chosen = [call for call in calls if call.status in OPEN and not self.one_in(4, data)] or calls
        if not chosen or self.one_in(12, data):
            others = [c.tool_call_id for line in self._model.sessions.values() for c in line.states[-1].calls]
            request.tool_call_id = data.draw(st.sampled_from((*others, "call_0000000000000000_1_0", "x")))
        elif self.one_in(2, data):
            request.tool_call_id = data.draw(st.sampled_from(chosen)).tool_call_id
        else:
            request.call_id = data.draw(st.sampled_from(chosen)).call_id

    def resources(self, data: st.DataObject) -> list[t.Resource]:
        """What names a resource says something new about it."""
        uris = data.draw(st.lists(st.sampled_from(("file:///a", "file:///b")), max_size=2))
        return [t.Resource(uri=uri, before=data.draw(drawn.texts), after=f"v{next(self._numbers)}") for uri in uris]

    def answering(self, data: st.DataObject, caller: Caller, session_id: str, messages: list[Message]) -> list[Message]:
        """Let most TOOL messages answer calls that are open, or that end in an equal outcome."""
        state = self.state(caller, session_id)
        known = [call.call_id for call in state.calls if call.status in OPEN] if state else []
        for message in messages:
            known += [part.tool_call.call_id for part in message.parts if part.HasField("tool_call")]
            if message.role == ROLE_TOOL and known and not self.one_in(6, data):
                message.call_id = data.draw(st.sampled_from(known))
                for part in message.parts:
                    if part.tool_result.call_id:
                        part.tool_result.call_id = message.call_id
        return messages
