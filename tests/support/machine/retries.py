"""Rules of retries, of nonsense, and of reading."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import ROLE_TOOL, ROLE_UNSPECIFIED, ROLE_USER, Message, Part
from model import Caller
from support import drawn
from support.choices import CALLERS
from support.machine.base import Machine


class RetryRules(Machine):
    """What was sent before, and what never makes sense."""

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
    def read(self, data: st.DataObject) -> None:
        if self.choices.one_in(3, data):
            caller = self.choices.caller(data)
            sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
            self.check(caller, self.choices.session_id(data, caller), sizes)
