"""What a fork must be: its source as it was, told from what was read of it right after each commit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from factories import CANCELLED, FAILED, INTERRUPTED, SUCCEEDED
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import ForkSessionResponse, GetSessionResponse
from lockstitch.v1.tool_call_pb2 import ToolCall
from model.ledger import OPEN
from support.histories import History, paged, whole
from support.rpc import Rpc

UNSETTLED = {*OPEN, INTERRUPTED}
SETTLED = {SUCCEEDED, FAILED, CANCELLED}


@dataclass
class Life(History):
    """A random history that keeps the ledger of each version, too."""

    ledgers: dict[int, list[ToolCall]] = field(default_factory=dict)

    async def look(self) -> GetSessionResponse:
        found = await super().look()
        self.ledgers[found.session.version] = await ledger(self.callers[0], self.session_id)
        return found

    def whole_versions(self) -> list[int]:
        """The versions that split no call from its result: none that was open then, or unknown, has one by now."""
        last = {call.tool_call_id: call.status for _, calls in sorted(self.ledgers.items()) for call in calls}
        return [
            version
            for version, calls in sorted(self.ledgers.items())
            if not any(call.status in UNSETTLED and last[call.tool_call_id] in SETTLED for call in calls)
        ]


async def ledger(caller: Rpc, session_id: str) -> list[ToolCall]:
    """Read all tool calls of a session."""
    return await paged(caller.ListToolCalls, "tool_calls", page_size=1000, session_id=session_id)


def own(messages: Sequence[Message]) -> list[Message]:
    """Messages but for what a fork has of its own: versions, the server's ids, runs."""
    shown = [Message.FromString(message.SerializeToString()) for message in messages]
    for message in shown:
        message.ClearField("version")
        message.ClearField("run_id")
        if message.message_id.startswith("msg_"):
            message.ClearField("message_id")
    return shown


def own_calls(calls: Sequence[ToolCall], messages: Sequence[Message]) -> list[ToolCall]:
    """Tool calls likewise, their messages named by seq."""
    seqs = {message.message_id: str(message.seq) for message in messages}
    shown = [ToolCall.FromString(call.SerializeToString()) for call in calls]
    for call in shown:
        call.ClearField("tool_call_id")
        call.ClearField("run_id")
        call.requested_version = 1
        call.ended_version = min(call.ended_version, 1)
        call.message_id = seqs[call.message_id] if call.message_id else ""
        call.result_message_id = seqs[call.result_message_id] if call.result_message_id else ""
    return shown


async def is_a_copy(
    reader: Rpc, forked: ForkSessionResponse, source: GetSessionResponse, calls: Sequence[ToolCall]
) -> None:
    """Check that a fork that nobody changed yet is its source as it was, by every read."""
    session_id = forked.session.session_id
    for at_version in (None, 1):
        fork = await whole(reader, session_id, at_version)
        assert (fork.session.version, fork.session.last_seq) == (1, source.session.last_seq)
        assert fork.session.message_count == source.session.message_count == len(fork.messages)
        assert fork.session.memory_version == min(source.session.memory_version, 1)
        assert own(fork.messages) == own(source.messages)
        assert {message.version for message in fork.messages} <= {1}
        assert not any(message.run_id for message in fork.messages)
        fork.memory.version = source.memory.version
        assert fork.memory == source.memory
        still_open = own_calls([call for call in calls if call.status in OPEN], source.messages)
        assert own_calls(fork.open_tool_calls, fork.messages) == still_open
    listed = await paged(reader.ListMessages, "messages", page_size=1000, session_id=session_id)
    assert own(listed) == own(source.messages)
    copied = await ledger(reader, session_id)
    assert own_calls(copied, listed) == own_calls(calls, source.messages)
    assert {call.requested_version for call in copied} <= {1}
    assert not {call.tool_call_id for call in copied} & {call.tool_call_id for call in calls}
    assert (forked.receipt.version, forked.receipt.last_seq) == (1, source.session.last_seq)
