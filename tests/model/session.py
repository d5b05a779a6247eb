"""A session at one version, and what a commit makes of it."""

from dataclasses import dataclass, field
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.message_pb2 import ROLE_TOOL, Message
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_CLOSED, Session
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallChange
from lockstitch.v1.working_memory_pb2 import MemoryChange
from model import Given, Refused, ledger
from model.memory import Values, after
from support.json_reference import digest


def memory_change_of(request: Any) -> MemoryChange | None:
    if isinstance(request, pb.CreateSessionRequest):
        return MemoryChange(replace=request.memory) if request.HasField("memory") else None
    if isinstance(request, pb.UpdateMemoryRequest):
        return request.change
    return (
        request.memory_change if isinstance(request, pb.AppendRequest) and request.HasField("memory_change") else None
    )


@dataclass
class State:
    head: Session
    messages: list[Message] = field(default_factory=list)
    memory: Values = field(default_factory=dict)
    calls: list[ToolCall] = field(default_factory=list)
    expired: bool = False

    def set_status(self, request: pb.CloseSessionRequest | pb.RestoreSessionRequest, given: Given) -> None:
        head = self.head
        if isinstance(request, pb.CloseSessionRequest):
            if head.status == SESSION_STATUS_ACTIVE:
                head.status, head.close_reason = SESSION_STATUS_CLOSED, request.reason
                head.close_time.CopyFrom(given.now)
        elif head.status == SESSION_STATUS_CLOSED or self.expired:
            head.status, head.close_reason = SESSION_STATUS_ACTIVE, ""
            head.ClearField("close_time")
            self.live(request, given)

    def live(self, request: pb.CreateSessionRequest | pb.RestoreSessionRequest, given: Given) -> None:
        if request.WhichOneof("expiration"):
            ends = given.now.ToNanoseconds() + request.ttl.ToNanoseconds()
            self.head.expire_time.FromNanoseconds(request.expire_time.ToNanoseconds() or ends)
            self.expired = False

    def append(self, message: Message, given: Given, *, allow_orphans: bool) -> bool:
        """Store a caller's message; it makes calls, or ends one. False where it only repeats how a call ended."""
        call, outcome = None, ledger.outcome_of(message)
        call_id = message.call_id or "".join(part.tool_result.call_id for part in message.parts)
        if message.role == ROLE_TOOL:
            try:
                call = ledger.find(self.calls, "", call_id)
            except Refused as refused:
                if refused.reason != "TOOL_CALL_NOT_FOUND" or not allow_orphans:
                    raise
            if call is not None and not ledger.is_news(call, outcome):
                return False
        stored = self._store(message, given, call_id)
        if call is not None:
            ledger.end(call, outcome, self.head.version, given.now)
            call.result_message_id = stored.message_id
        for made in (part.tool_call for part in message.parts if part.HasField("tool_call")):
            new = ToolCallChange(call_id=made.call_id, name=made.name, arguments_json=made.arguments_json)
            self.record(new, given, stored.message_id)
        return True

    def _store(self, message: Message, given: Given, call_id: str) -> Message:
        place = sum(stored.version == self.head.version for stored in self.messages)
        self.head.last_seq += 1
        self.head.message_count += 1
        stored = Message.FromString(message.SerializeToString())
        stored.seq, stored.version, stored.elided_bytes = self.head.last_seq, self.head.version, 0
        stored.call_id, stored.message_id = call_id, message.message_id or "".join(given.message_ids[place : place + 1])
        stored.create_time.CopyFrom(given.now)
        self.messages.append(stored)
        return stored

    def record(self, new: ToolCallChange, given: Given, message_id: str = "") -> None:
        """Enter a new call into the ledger."""
        place = sum(call.requested_version == self.head.version for call in self.calls)
        call = ToolCall(call_id=new.call_id, name=new.name, arguments_json=new.arguments_json, message_id=message_id)
        call.tool_call_id = "".join(given.tool_call_ids[place : place + 1])
        call.arguments_digest, call.requested_version = digest(new.arguments_json), self.head.version
        call.create_time.CopyFrom(given.now)
        call.status = ledger.PENDING
        self.calls.append(call)
        ledger.touch(call, new.resources)
        if new.status > ledger.AWAITING_APPROVAL:
            ledger.end(call, (new.status, new.result_json, new.error), self.head.version, given.now)
        else:
            ledger.move(call, new.status, None, self.head.version, given.now)

    def change_call(self, change: ToolCallChange, given: Given) -> ToolCall:
        """Move a known call on, or end it: with its TOOL message where a message made it and the outcome is known."""
        call = ledger.find(self.calls, change.tool_call_id, change.call_id)
        approval = change.approval if change.HasField("approval") else None
        if approval is not None or not (change.status > ledger.AWAITING_APPROVAL or change.result_json or change.error):
            ledger.move(call, change.status, approval, self.head.version, given.now)
            ledger.touch(call, change.resources)
            return call
        status = change.status or (ledger.FAILED if change.error else ledger.SUCCEEDED)
        outcome = (status, change.result_json, change.error)
        if ledger.is_news(call, outcome):
            if call.message_id and status != ledger.INTERRUPTED:
                message = Message(role=ROLE_TOOL, parts=ledger.result_parts(outcome, change.call_id))
                call.result_message_id = self._store(message, given, call.call_id).message_id
            ledger.end(call, outcome, self.head.version, given.now)
            ledger.touch(call, change.resources)
        return call

    def remember(self, change: MemoryChange) -> None:
        new = after(self.memory, change)
        if new != self.memory:
            self.memory, self.head.memory_version = new, self.head.version

    def receipt(self, store_epoch: str, *, of_commit: bool) -> CommitReceipt:
        new = [message for message in self.messages if of_commit and message.version == self.head.version]
        calls = [call for call in self.calls if of_commit and call.requested_version == self.head.version]
        return CommitReceipt(
            version=self.head.version,
            first_seq=new[0].seq if new else 0,
            last_seq=self.head.last_seq,
            message_ids=[message.message_id for message in new],
            tool_call_ids=[call.tool_call_id for call in calls],
            memory_version=self.head.memory_version,
            commit_time=self.head.update_time,
            store_epoch=store_epoch,
        )
