"""All rules together."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from support.machine.checkpoints import CheckpointRules
from support.machine.content import ContentRules
from support.machine.drafts import DraftRules
from support.machine.forks import ForkRules
from support.machine.lives import LifeRules
from support.machine.retries import RetryRules
from support.machine.runs import RunRules

KINDS = (*["run"] * 7, *["draft"] * 3, *["life"] * 2, *["time"] * 3, *["fork"] * 3, *["checkpoint"] * 5)


class Sessions(ContentRules, RunRules, DraftRules, LifeRules, ForkRules, CheckpointRules, RetryRules):
    """What callers do to the sessions of two tenants.

    Hypothesis leaves some rules out of each example; what needs each other is one rule, and that one is there thrice.
    """

    @rule(data=st.data())
    def take_turns(self, data: st.DataObject) -> None:
        kind = data.draw(st.sampled_from(KINDS))
        {
            "run": self.run,
            "draft": self.draft,
            "life": self.end_or_bring_back,
            "time": self.let_time_pass,
            "fork": self.fork,
            "checkpoint": self.checkpoint,
        }[kind](data)

    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        self.take_turns(data)

    @rule(data=st.data())
    def go_further(self, data: st.DataObject) -> None:
        self.take_turns(data)
