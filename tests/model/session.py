"""A session at one version, and what a commit makes of it."""

from dataclasses import dataclass, field

from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointWrite
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.message_pb2 import ROLE_TOOL, Message
from lockstitch.v1.run_pb2 import Run
from lockstitch.v1.session_pb2 import SESSION_STATUS_EXPIRED, Session
from lockstitch.v1.tool_call_pb2 import ToolCall, ToolCallChange
from lockstitch.v1.working_memory_pb2 import MemoryChange
from model import Given, Refused, ledger
from model.memory import Memory, after
from support.json_reference import digest

Place = tuple[str, str]
"""A checkpoint's namespace and id."""

Checkpoints = dict[Place, Checkpoint]


@dataclass
class Draft:
    """A message that is being generated, under the run that last went on with it."""

    header: Message
    under: str
    text: bytes = b""


@dataclass
class Present:
    """What has no history: time, leases, drafts, and checkpoints with the writes that wait for them."""

    activity: Timestamp = field(default_factory=Timestamp)
    lease: Timestamp = field(default_factory=Timestamp)
    is_lapsed: bool = False
    is_over: bool = False  # its expire_time has passed
    is_idle: bool = False  # its idle_ttl has passed
    is_gone: bool = False  # its purge_time has passed
    drafts: dict[str, Draft] = field(default_factory=dict)
    checkpoints: Checkpoints = field(default_factory=dict)  # with all their values, without writes
    # By task and index; they make no commit, so that a state is not another one by them.
    writes: dict[Place, dict[tuple[str, int], CheckpointWrite]] = field(default_factory=dict, compare=False)


@dataclass
class State:
    head: Session
    messages: list[Message] = field(default_factory=list)
    memories: dict[str, Memory] = field(default_factory=dict)  # by run; the session's own is ""
    calls: list[ToolCall] = field(default_factory=list)
    starters: dict[str, str] = field(default_factory=dict)  # the run under which a call was said to be RUNNING
    runs: list[Run] = field(default_factory=list)  # their leases as they were granted
    fenced: set[str] = field(default_factory=set)  # the runs that others ended
    before_delete: int = 0
    under: str = ""  # the run that this version's commit was made under
    present: Present = field(default_factory=Present)

    @property
    def active(self) -> Run | None:
        """The run that has not ended."""
        return next((run for run in self.runs if run.run_id == self.head.active_run_id), None)

    @property
    def is_held(self) -> bool:
        return self.active is not None and not self.present.is_lapsed

    @property
    def expired(self) -> bool:
        """The end of a life is computed; a session whose run holds a live lease is not idle."""
        idle = self.present.is_idle and not self.is_held
        return self.head.status == SESSION_STATUS_EXPIRED or self.present.is_over or idle

    def memory(self, run_id: str = "") -> Memory:
        return self.memories.get(run_id, Memory({}, 0))

    def begin_version(self, under: str) -> None:
        self.head.version += 1
        self.under = under

    def end_version(self, now: Timestamp, *, is_use: bool) -> None:
        """Move the times: any commit is an update, not any is use."""
        if is_use or self.head.version == 1:
            self.used(now)
        self.head.update_time.CopyFrom(now)
        self.head.last_activity_time.CopyFrom(self.present.activity)
        if self.head.version == 1:
            self.head.create_time.CopyFrom(now)

    def used(self, now: Timestamp) -> None:
        self.present.activity.CopyFrom(now)
        self.present.is_idle = False

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
        stored = self.store(message, given, call_id)
        if call is not None:
            ledger.end(call, outcome, self.head.version, given.now)
            call.result_message_id = stored.message_id
        for made in (part.tool_call for part in message.parts if part.HasField("tool_call")):
            new = ToolCallChange(call_id=made.call_id, name=made.name, arguments_json=made.arguments_json)
            self.record(new, given, stored.message_id)
        return True

    def store(self, message: Message, given: Given, call_id: str = "") -> Message:
        place = sum(stored.version == self.head.version for stored in self.messages)
        self.head.last_seq += 1
        self.head.message_count += 1
        stored = Message.FromString(message.SerializeToString())
        stored.seq, stored.version, stored.elided_bytes = self.head.last_seq, self.head.version, 0
        stored.call_id, stored.message_id = call_id, message.message_id or "".join(given.message_ids[place : place + 1])
        stored.run_id = self.under
        stored.create_time.CopyFrom(given.now)
        self.messages.append(stored)
        return stored

    def record(self, new: ToolCallChange, given: Given, message_id: str = "") -> None:
        """Enter a new call into the ledger."""
        place = sum(call.requested_version == self.head.version for call in self.calls)
        call = ToolCall(call_id=new.call_id, name=new.name, arguments_json=new.arguments_json, message_id=message_id)
        call.tool_call_id = "".join(given.tool_call_ids[place : place + 1])
        call.arguments_digest, call.requested_version = digest(new.arguments_json), self.head.version
        call.run_id = self.under
        call.create_time.CopyFrom(given.now)
        call.status = ledger.PENDING
        self.calls.append(call)
        ledger.touch(call, new.resources)
        if new.status > ledger.AWAITING_APPROVAL:
            ledger.end(call, (new.status, new.result_json, new.error), self.head.version, given.now)
        else:
            self._move(call, new, given)

    def _move(self, call: ToolCall, change: ToolCallChange, given: Given) -> None:
        before, approval = call.status, change.approval if change.HasField("approval") else None
        ledger.move(call, change.status, approval, self.head.version, given.now)
        if call.status == ledger.RUNNING != before:
            self.starters[call.tool_call_id] = self.under

    def change_call(self, change: ToolCallChange, given: Given) -> ToolCall:
        """Move a known call on, or end it: with its TOOL message where a message made it and the outcome is known."""
        call = ledger.find(self.calls, change.tool_call_id, change.call_id)
        ends = change.status > ledger.AWAITING_APPROVAL or change.result_json or change.error
        if change.HasField("approval") or not ends:
            self._move(call, change, given)
            ledger.touch(call, change.resources)
            return call
        status = change.status or (ledger.FAILED if change.error else ledger.SUCCEEDED)
        outcome = (status, change.result_json, change.error)
        if ledger.is_news(call, outcome):
            if call.message_id and status != ledger.INTERRUPTED:
                message = Message(role=ROLE_TOOL, parts=ledger.result_parts(outcome, change.call_id))
                call.result_message_id = self.store(message, given, call.call_id).message_id
            ledger.end(call, outcome, self.head.version, given.now)
            ledger.touch(call, change.resources)
        return call

    def remember(self, change: MemoryChange, run_id: str = "") -> None:
        """Change the session's memory, or a run's own."""
        old = self.memory(run_id)
        new = after(old.values, change)
        if new != old.values:
            self.memories[run_id] = Memory(new, self.head.version)
            self.head.memory_version = self.memory().version

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
