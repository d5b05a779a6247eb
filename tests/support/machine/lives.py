"""Rules of a session's life."""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from lockstitch.v1 import admin_service_pb2 as a
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_DELETED
from model import Caller
from model.commits import Timeline
from model.session import State
from support.machine.base import LIFE, Machine

NONE, LONG = timedelta(0), timedelta(hours=1)


class LifeRules(Machine):
    """What ends sessions, and what brings them back."""

    def end_or_bring_back(self, data: st.DataObject) -> None:
        kind = data.draw(st.integers(0, 9))
        if kind == 5:
            self.purge(data)
        elif kind % 2:
            self.close_or_restore(data)
        else:
            self.delete_or_undelete(data)

    def let_time_pass(self, data: st.DataObject) -> None:
        kind = data.draw(st.integers(0, 11))
        if kind == 5:
            self.end_a_life(data)
        elif kind in {3, 7}:
            self.leave_unused(data)
        elif kind == 6:
            self.reach_a_purge_time(data)
        else:
            self.sweep(data)

    def close_or_restore(self, data: st.DataObject) -> None:
        """What is closed does not stay so for long."""
        caller = self.choices.caller(data)
        session_id = self.choices.session_id(data, caller)
        state = self.choices.state(caller, session_id)
        restores = state is None or state.head.HasField("close_time") or state.expired
        if restores != self.choices.one_in(6, data):
            request: Any = pb.RestoreSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
            if not self.choices.one_in(4, data):
                request.ttl.FromTimedelta(2 * LIFE)
        elif self.choices.one_in(1, data):
            request = pb.CloseSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
            request.reason = data.draw(st.sampled_from(("done", "done", "")))
            request.force = self.forces(data, caller)
        else:
            return
        self.change(data, caller, request)

    def delete_or_undelete(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data)
        session_id = self.choices.session_id(data, caller)
        state = self.choices.state(caller, session_id)
        request: Any = pb.UndeleteSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
        is_deleted = state is None or state.head.status == SESSION_STATUS_DELETED
        if is_deleted == self.choices.one_in(6, data) or (not is_deleted and self.choices.one_in(1, data)):
            request = pb.DeleteSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
            request.force = self.forces(data, caller)
        self.change(data, caller, request)

    def forces(self, data: st.DataObject, caller: Caller) -> bool:
        return data.draw(st.booleans()) if caller.role != "user" else self.choices.one_in(6, data)

    def purge(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data)
        if not self.choices.one_in(8, data):
            caller = Caller(caller.tenant, "admin", "admin")
        session_id = data.draw(st.sampled_from(("s2", "s3", self.choices.session_id(data, caller))))
        timeline = self.lockstep.model.sessions.get((caller.tenant, session_id))
        request = a.PurgeSessionRequest(request_id=self.choices.fresh(), session_id=session_id)
        request.force = data.draw(st.booleans()) and not (timeline and timeline.is_purged)
        if timeline and timeline.purged_by and self.choices.one_in(1, data):
            request.request_id = timeline.purged_by[0]
        with self.watched():
            self.lockstep.purge(caller, request)

    def present(self) -> dict[tuple[str, str], Timeline]:
        return {key: line for key, line in self.lockstep.model.sessions.items() if not line.is_purged}

    def end_a_life(self, data: st.DataObject) -> None:
        """End the life of a session, as time would."""
        mortal = [key for key, line in self.present().items() if line.states[-1].head.HasField("expire_time")]
        if mortal:
            key = data.draw(st.sampled_from(mortal))
            self.behind.end_life(*key)
            self.present()[key].states[-1].present.is_over = True
            self.lockstep.aged.add(key[1])

    def leave_unused(self, data: st.DataObject) -> None:
        idle = [key for key, line in self.present().items() if line.states[-1].head.HasField("idle_ttl")]
        if idle:
            key = data.draw(st.sampled_from(idle))
            state = self.present()[key].states[-1]
            state.present.activity.FromDatetime(self.behind.leave_unused(*key))
            state.present.is_idle = True
            self.lockstep.reached["left unused"] += 1
            self.lockstep.reached["left unused under a live lease"] += state.is_held

    def reach_a_purge_time(self, data: st.DataObject) -> None:
        deleted = [k for k, line in self.present().items() if line.states[-1].head.status == SESSION_STATUS_DELETED]
        if deleted:
            key = data.draw(st.sampled_from(deleted))
            self.behind.reach_purge_time(*key)
            self.present()[key].states[-1].present.is_gone = True
            self.lockstep.reached["a purge time came"] += 1

    def sweep(self, data: st.DataObject) -> None:
        states = {k: line.states[-1] for k, line in self.lockstep.model.sessions.items() if not line.purged_by}
        due = [k for k, state in states.items() if is_due(state)]
        if not states:
            return
        key = data.draw(st.sampled_from(due or list(states)))
        loses_drafts, loses_run = data.draw(st.booleans()), data.draw(st.booleans())
        self.behind.sweep(*key, run_grace=NONE if loses_run else LONG, draft_idle=NONE if loses_drafts else LONG)
        with self.watched():
            self.lockstep.sweep(*key, loses_drafts=loses_drafts, loses_run=loses_run)


def is_due(state: State) -> bool:
    """Whether the sweeper might find something to do."""
    present, is_lapsed = state.present, state.active is not None and state.present.is_lapsed
    expires = state.head.status == SESSION_STATUS_ACTIVE and state.expired
    return bool(present.is_gone or is_lapsed or present.drafts or expires)
