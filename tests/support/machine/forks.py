"""Rules of forks."""

from hypothesis import strategies as st

from lockstitch.v1 import session_service_pb2 as pb
from model import Caller
from support.machine.base import OWN_IDS, Machine

SESSIONS_MAX = 7
"""Behind so many sessions, new ones only make what is read at the end longer."""


class ForkRules(Machine):
    """What makes one session out of another: as it is, as it was, or as it never was."""

    def fork(self, data: st.DataObject) -> None:
        if len(self.lockstep.model.sessions) >= SESSIONS_MAX and not self.choices.one_in(3, data):
            return
        caller = self.choices.caller(data)
        request = pb.ForkSessionRequest(
            request_id=self.choices.fresh(),
            session_id=self.source(data, caller),
            new_session_id=data.draw(st.sampled_from(("", "", "f1", "f2", *OWN_IDS))),
            title=data.draw(st.sampled_from(("", "Noch ein Versuch"))),
            labels=data.draw(st.sampled_from(({}, {"k": "v"}))),
        )
        state = self.choices.state(caller, request.session_id)
        version = state.head.version if state else 1
        if not self.choices.one_in(2, data):
            request.at_version = data.draw(st.integers(1, version))
        elif self.choices.one_in(5, data):
            request.at_version = version + data.draw(st.sampled_from((-1, 0, 1, 5)))
        malformed = request.HasField("at_version") and request.at_version < 1
        self.send(caller, request, malformed=malformed)

    def source(self, data: st.DataObject, caller: Caller) -> str:
        """Often one whose life has ended: it can be forked, too."""
        lines = self.lockstep.model.sessions.items()
        ended = [name for (tenant, name), line in lines if tenant == caller.tenant and line.states[-1].expired]
        if ended and not self.choices.one_in(1, data):
            return data.draw(st.sampled_from(ended))
        return self.choices.session_id(data, caller)
