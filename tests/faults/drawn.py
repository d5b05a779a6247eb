"""The requests of traffic, drawn from what its clients know of a session."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from factories import ASSISTANT, INTERRUPTED, RUNNING, USER, answered, called, keyed, patched, replaced, said
from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.run_pb2 import RUN_STATUS_FAILED, RUN_STATUS_SUCCEEDED, Fence
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from support.streams import span

CALL_IDS = tuple(f"search:{place}" for place in range(4))
KEYS = ("a", "b", "goal", "next_action")
LEASE_SECONDS = (1.0, 1.5, 3.0)
KEPT_GRANTS = 4
KEPT_REQUESTS = 20


@dataclass
class View:
    """What clients know of a session; never more than they were told."""

    session_id: str
    version: int = 0
    memory_version: int = 0
    last_seq: int = 0
    is_closed: bool = False
    open_calls: list[str] = field(default_factory=list)
    grants: list[tuple[str, int]] = field(default_factory=list)
    acknowledged: list[Any] = field(default_factory=list)

    def learn(self, request: Any, answer: Any) -> None:
        """Take over what an answer told."""
        named = answer.DESCRIPTOR.fields_by_name
        if "receipt" in named:
            self._learn_receipt(request, answer.receipt)
        if "session" in named:
            head = answer.session
            self.version, self.memory_version = max(self.version, head.version), head.memory_version
            self.last_seq, self.is_closed = max(self.last_seq, head.last_seq), head.HasField("close_time")
        if "open_tool_calls" in named and answer.open_tool_calls:
            self.open_calls = [call.tool_call_id for call in answer.open_tool_calls]
        if isinstance(answer, r.StartRunResponse):
            self.grants = [*self.grants, (answer.run.run_id, answer.run.fencing_token)][-KEPT_GRANTS:]

    def _learn_receipt(self, request: Any, receipt: Any) -> None:
        self.version, self.last_seq = max(self.version, receipt.version), max(self.last_seq, receipt.last_seq)
        self.memory_version = max(self.memory_version, receipt.memory_version)
        if not receipt.replayed:
            self.open_calls += receipt.tool_call_ids
            self.acknowledged = [*self.acknowledged, request][-KEPT_REQUESTS:]

    def learn_conflict(self, details: dict[str, str]) -> None:
        """Take over what a VERSION_CONFLICT told."""
        self.version = max(self.version, int(details["current_version"]))
        self.last_seq = max(self.last_seq, int(details["last_seq"]))
        self.memory_version = max(self.memory_version, int(details["memory_version"]))


class Drawing:
    """Draws one client's requests, each with an id and texts of its own."""

    def __init__(self, random: Random, client: str) -> None:
        self.random = random
        self._client = client
        self._drawn = 0

    def request(self, view: View) -> Any:
        """Draw a request for a session; a new session is begun first."""
        if not view.version:
            return self.random.choice((self.creating_append, self.first_append, self.create_session))(view)
        if view.is_closed and self.random.random() < 0.7:
            return self._change(pb.RestoreSessionRequest, view)
        (draw,) = self.random.choices(list(DRAWN), weights=list(DRAWN.values()))
        request: Any = draw(self, view)
        return request

    def fresh(self) -> str:
        """An id that no other request has."""
        self._drawn += 1
        return f"{self._client}-{self._drawn}"

    def _change(self, kind: Any, view: View, **fields: Any) -> Any:
        return kind(request_id=self.fresh(), session_id=view.session_id, **fields)

    def _text(self) -> str:
        """A text; some are said more than once."""
        return "yes" if self.random.random() < 0.1 else f"said by {self._client} at {self._drawn}"

    def _messages(self) -> list[Message]:
        return [
            said(self._text(), role=self.random.choice((USER, ASSISTANT)))
            for _ in range(self.random.choice((1, 1, 1, 2, 3)))
        ]

    def _append(self, view: View, **fields: Any) -> pb.AppendRequest:
        made: pb.AppendRequest = self._change(pb.AppendRequest, view, messages=self._messages(), **fields)
        return made

    def plain_append(self, view: View) -> Any:
        return self._append(view)

    def guarded_append(self, view: View) -> Any:
        """Mostly with the newest version that a client knows, at times with an older one."""
        behind = 0 if self.random.random() < 0.85 else self.random.randrange(1, 4)
        return self._append(view, expected_version=max(1, view.version - behind))

    def creating_append(self, view: View) -> Any:
        """For a session that is there already, or is not."""
        return self._append(view, create_if_missing=pb.CreateIfMissing(agent="faults"))

    def first_append(self, view: View) -> Any:
        """Only if nobody else was first."""
        return self._append(view, create_if_missing=pb.CreateIfMissing(agent="faults"), expected_version=0)

    def create_session(self, view: View) -> Any:
        memory = WorkingMemory(goal=f"goal {self._drawn}")
        return self._change(pb.CreateSessionRequest, view, agent="faults", messages=self._messages(), memory=memory)

    def append_with_calls(self, view: View) -> Any:
        calls = self.random.sample(CALL_IDS, self.random.choice((1, 1, 2)))
        arguments = f'{{"q": "{self._drawn}"}}'
        return self._change(pb.AppendRequest, view, messages=[called(*calls, arguments=arguments, text=self._text())])

    def append_with_results(self, view: View) -> Any:
        call = self.random.choice(CALL_IDS)
        result = answered(call, f'"{self._drawn}"', is_error=self.random.random() < 0.2)
        return self._change(pb.AppendRequest, view, messages=[result, *self._messages()])

    def append_with_all(self, view: View) -> Any:
        """Messages, a call of its own, and a change of memory, in one commit."""
        call = {"call_id": self.random.choice(CALL_IDS), "name": "own", "arguments_json": f"[{self._drawn}]"}
        change = patched(f'{{"a": {{"x": "{self._drawn}"}}}}')
        return self._append(view, tool_calls=[call], memory_change=change)

    def complete_call(self, view: View) -> Any:
        ending: dict[str, Any] = self.random.choice(
            ({"result_json": f'"{self._drawn}"'}, {"error": f"no {self._drawn}"}, {"status": INTERRUPTED})
        )
        return self._change(pb.CompleteToolCallRequest, view, **self._call(view), **ending)

    def begin_call(self, view: View) -> Any:
        fields: dict[str, Any] = self._call(view)
        if view.grants and self.random.random() < 0.6:
            fields["fence"] = self._fence(view)
        return self._change(pb.UpdateToolCallRequest, view, status=RUNNING, **fields)

    def _call(self, view: View) -> dict[str, str]:
        if view.open_calls and self.random.random() < 0.8:
            return {"tool_call_id": view.open_calls.pop(self.random.randrange(len(view.open_calls)))}
        return {"call_id": self.random.choice(CALL_IDS)}

    def patch_memory(self, view: View) -> Any:
        key = self.random.choice(KEYS)
        nested = f'{{"deep": {{"{key}": {{"{self.random.choice(KEYS)}": {self._drawn}}}}}}}'
        value = self.random.choice(("null", f'"{self._drawn}"'))
        flat = f'{{"{key}": {value}}}'
        return self._change(pb.UpdateMemoryRequest, view, change=patched(self.random.choice((nested, flat))))

    def key_memory(self, view: View) -> Any:
        return self._change(pb.UpdateMemoryRequest, view, change=keyed("b", c=f'[{self._drawn}, "é"]'))

    def replace_memory(self, view: View) -> Any:
        """Guarded by what a client knows, which somebody else may have changed."""
        guard = (
            {"expected_version": view.version}
            if self.random.random() < 0.5
            else {"expected_memory_version": view.memory_version}
        )
        change = replaced(goal=f"goal {self._drawn}", plan=["one", "two"], extra_json=f'{{"k": {self._drawn}}}')
        return self._change(pb.UpdateMemoryRequest, view, change=change, **guard)

    def start_run(self, view: View) -> Any:
        on_busy = self.random.choice((r.ON_BUSY_REJECT, r.ON_BUSY_REJECT, r.ON_BUSY_JOIN, r.ON_BUSY_INTERRUPT))
        lease = span(self.random.choice(LEASE_SECONDS))
        return self._change(r.StartRunRequest, view, worker=self._client, lease=lease, on_busy=on_busy)

    def _fence(self, view: View) -> Fence:
        """Mostly the newest grant's, at times one that was taken over."""
        run_id, token = view.grants[-1] if self.random.random() < 0.75 else self.random.choice(view.grants)
        return Fence(run_id=run_id, fencing_token=token)

    def fenced_append(self, view: View) -> Any:
        return self._append(view, fence=self._fence(view)) if view.grants else self.start_run(view)

    def finishing_append(self, view: View) -> Any:
        if not view.grants:
            return self.start_run(view)
        return self._append(view, fence=self._fence(view), finish_run={"status": RUN_STATUS_SUCCEEDED})

    def renew_run(self, view: View) -> Any:
        if not view.grants:
            return self.start_run(view)
        lease = span(self.random.choice(LEASE_SECONDS))
        return r.RenewRunRequest(session_id=view.session_id, fence=self._fence(view), lease=lease)

    def finish_run(self, view: View) -> Any:
        if not view.grants:
            return self.start_run(view)
        end: dict[str, Any] = {"status": RUN_STATUS_FAILED, "error": f"no {self._drawn}"}
        return self._change(r.FinishRunRequest, view, fence=self._fence(view), **end)

    def cancel_run(self, view: View) -> Any:
        if not view.grants:
            return self.start_run(view)
        run_id = self.random.choice(view.grants)[0]
        return self._change(r.CancelRunRequest, view, run_id=run_id, now=self.random.random() < 0.5)

    def remove_messages(self, view: View) -> Any:
        which: dict[str, Any] = {"last": self.random.randrange(1, 4)}
        if self.random.random() < 0.3:
            which = {"from_seq": max(1, view.last_seq - self.random.randrange(4))}
        if self.random.random() < 0.4:
            which["replacement"] = self._messages()
        return self._change(pb.RemoveMessagesRequest, view, **which)

    def close_session(self, view: View) -> Any:
        return self._change(pb.CloseSessionRequest, view, reason=f"closed {self._drawn}", force=True)

    def restore_session(self, view: View) -> Any:
        return self._change(pb.RestoreSessionRequest, view)

    def repeat(self, view: View) -> Any:
        """A request that was acknowledged before, at times with other expectations: the same receipt must come."""
        if not view.acknowledged:
            return self.plain_append(view)
        request: Any = self.random.choice(view.acknowledged)
        again = type(request)()
        again.CopyFrom(request)
        if "expected_version" in again.DESCRIPTOR.fields_by_name and self.random.random() < 0.5:
            again.expected_version = view.version
        return again

    def reuse(self, view: View) -> Any:
        """An id that was used before, for something else."""
        if not view.acknowledged:
            return self.plain_append(view)
        other = self._append(view)
        other.request_id = self.random.choice(view.acknowledged).request_id
        return other

    def get_session(self, view: View) -> Any:
        """With all that it can show, now or as of a version that a client knows of."""
        asked = pb.GetSessionRequest(session_id=view.session_id, include_memory=True, include_open_tool_calls=True)
        asked.recent_messages = self.random.choice((0, 3, 1000))
        if self.random.random() < 0.4:
            asked.at_version = self.random.randrange(1, view.version + 2)
        return asked

    def get_context(self, view: View) -> Any:
        return pb.GetContextRequest(session_id=view.session_id, max_messages=self.random.choice((0, 5, 20)))

    def get_memory(self, view: View) -> Any:
        asked = pb.GetMemoryRequest(session_id=view.session_id)
        if self.random.random() < 0.5:
            asked.at_version = self.random.randrange(1, view.version + 1)
        return asked

    def list_messages(self, view: View) -> Any:
        asked = pb.ListMessagesRequest(session_id=view.session_id, page_size=self.random.choice((5, 50, 1000)))
        asked.descending = self.random.random() < 0.5
        asked.after_seq = self.random.choice((0, max(0, view.last_seq - 10)))
        return asked

    def list_tool_calls(self, view: View) -> Any:
        statuses = self.random.choice(([], [RUNNING, INTERRUPTED]))
        return pb.ListToolCallsRequest(session_id=view.session_id, statuses=statuses, page_size=1000)

    def list_runs(self, view: View) -> Any:
        return r.ListRunsRequest(session_id=view.session_id, page_size=self.random.choice((3, 1000)))

    def list_commits(self, view: View) -> Any:
        after = self.random.choice((0, max(0, view.version - 10)))
        return pb.ListCommitsRequest(session_id=view.session_id, after_version=after, page_size=20)


_Draw = Callable[[Drawing, View], Any]
DRAWN: dict[_Draw, int] = {
    Drawing.plain_append: 20,
    Drawing.guarded_append: 12,
    Drawing.creating_append: 2,
    Drawing.append_with_calls: 6,
    Drawing.append_with_results: 5,
    Drawing.append_with_all: 3,
    Drawing.complete_call: 6,
    Drawing.begin_call: 4,
    Drawing.patch_memory: 6,
    Drawing.key_memory: 2,
    Drawing.replace_memory: 4,
    Drawing.start_run: 5,
    Drawing.fenced_append: 7,
    Drawing.finishing_append: 1,
    Drawing.renew_run: 3,
    Drawing.finish_run: 2,
    Drawing.cancel_run: 1,
    Drawing.remove_messages: 3,
    Drawing.close_session: 1,
    Drawing.restore_session: 1,
    Drawing.repeat: 5,
    Drawing.reuse: 1,
    Drawing.get_session: 9,
    Drawing.get_context: 4,
    Drawing.get_memory: 3,
    Drawing.list_messages: 5,
    Drawing.list_tool_calls: 3,
    Drawing.list_runs: 2,
    Drawing.list_commits: 3,
}
"""What is drawn, and how often beside the others."""
