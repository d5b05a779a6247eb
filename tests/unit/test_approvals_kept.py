"""What the ledger keeps of approvals: the last answer, and nothing of those before it."""

from itertools import permutations, product

import pytest

from lockstitch.v1.tool_call_pb2 import Approval, Resource, ToolCall
from lockstitch_server.api.convert import tool_calls

ANSWERS = [Approval(granted=granted, note=note) for granted, note in product((True, False), ("", "why not"))]


@pytest.mark.parametrize("answers", [*permutations(ANSWERS, 2), *permutations(ANSWERS, 3)])
def test_the_last_answer_stands_alone(answers: tuple[Approval, ...]) -> None:
    kept = b"".join(tool_calls.detail(prefix="", resources=ToolCall().resources, approval=a) or b"" for a in answers)
    kept += tool_calls.detail(prefix="", resources=ToolCall(resources=[Resource(uri="file:///a")]).resources) or b""

    assert ToolCall.FromString(kept).approval == answers[-1]
