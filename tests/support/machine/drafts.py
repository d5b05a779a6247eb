"""Rules of drafts."""

from hypothesis import strategies as st

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import ROLE_UNSPECIFIED, ROLE_USER, Message
from model import Caller
from support import drawn
from support.drafting import break_draft_off, finish_draft
from support.machine.base import Machine

HEADERS = (
    Message(),
    Message(author="planner", metadata_json='{"a" : 1}'),
    Message(role=ROLE_USER, message_id="drafted"),
)


class DraftRules(Machine):
    """Text on its way, which breaks off, goes on elsewhere, and ends, or is lost."""

    def draft(self, data: st.DataObject) -> None:
        caller = self.choices.caller(data, but="" if self.choices.one_in(12, data) else "user")
        steps = self.steps(data, caller)
        if data.draw(st.booleans()):
            with self.watched():
                break_draft_off(self.lockstep, self.behind, caller, steps)
            return
        last = pb.StreamDraftRequest(offset=steps[-1].offset + len(steps[-1].text.encode()))
        if self.choices.one_in(3, data):
            last.message.CopyFrom(data.draw(drawn.assistant_messages))
        if self.choices.one_in(3, data):
            last.memory_change.CopyFrom(data.draw(drawn.memory_changes))
        if steps[0].HasField("fence") and self.choices.one_in(2, data):
            last.finish_run.CopyFrom(data.draw(drawn.run_ends))
        with self.watched():
            finish_draft(self.lockstep, caller, [*steps, last])

    def steps(self, data: st.DataObject, caller: Caller) -> list[pb.StreamDraftRequest]:
        """A new draft's, or those that go on with an open one: from its end, from its beginning, or beyond."""
        session_id = self.choices.session_id(data, caller)
        state = self.choices.state(caller, session_id)
        is_open = state.present.drafts if state else {}
        first = pb.StreamDraftRequest(session_id=session_id, request_id=self.choices.fresh())
        first.message.CopyFrom(data.draw(st.sampled_from(HEADERS)))
        known = b""
        if is_open and not self.choices.one_in(3, data):
            first.request_id = data.draw(st.sampled_from(list(is_open)))
            known = is_open[first.request_id].text
            if not self.choices.one_in(8, data):
                header = is_open[first.request_id].header
                first.message.CopyFrom(header)
                first.message.role = header.role if header.role == ROLE_USER else ROLE_UNSPECIFIED
        self.choices.guard(data, caller, first)
        first.offset = len(known) if data.draw(st.booleans()) else 0
        first.text = known[first.offset :].decode() + data.draw(st.sampled_from(("", "Hel", "Grüße, ", "all ")))
        steps = [first]
        for text in data.draw(st.lists(st.sampled_from(("lo", "", " — ", "!")), max_size=2)):
            steps.append(pb.StreamDraftRequest(offset=steps[-1].offset + len(steps[-1].text.encode()), text=text))
        if self.choices.one_in(8, data):
            del steps[1:]
            first.offset += 1 + len(known)
        return steps
