"""Sessions with rich random histories, and what was read of them right after each commit."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from factories import (
    AWAITING_APPROVAL,
    INTERRUPTED,
    PENDING,
    RUNNING,
    TOOL,
    answered,
    called,
    keyed,
    patched,
    replaced,
    said,
)
from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, Message, Part, ToolResultPart
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, Session
from lockstitch.v1.session_service_pb2 import GetSessionResponse
from support.rpc import Refusal, Rpc, outcome

CALL_IDS = ("c0", "c1", "search:0")
KEYS = ("a", "b", "goal")


async def whole(caller: Rpc, session_id: str, at_version: int | None = None) -> GetSessionResponse:
    """Read all that GetSession gives, now or as of a version."""
    at = {} if at_version is None else {"at_version": at_version}
    answer: GetSessionResponse = await caller.GetSession(
        session_id=session_id, recent_messages=1000, include_memory=True, include_open_tool_calls=True, **at
    )
    return answer


async def paged(caller: Callable[..., Awaitable[Any]], items: str, *, page_size: int = 50, **asked: Any) -> list[Any]:
    """Follow a list's pages to the end, none of them larger than asked for."""
    found: list[Any] = []
    token = ""
    while True:
        page = await caller(page_size=page_size, page_token=token, **asked)
        assert len(getattr(page, items)) <= page_size
        found.extend(getattr(page, items))
        token = page.next_page_token
        if not token:
            return found


@dataclass
class History:
    """A session that is changed at random, by several servers, and what was read right after each commit."""

    callers: tuple[Rpc, ...]
    session_id: str
    random: Random
    seen: dict[int, GetSessionResponse] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    changes: int = 0

    async def look(self) -> GetSessionResponse:
        """Read the session; a version that was seen before must look the same."""
        found = await whole(self.random.choice(self.callers), self.session_id)
        version = found.session.version
        assert self.seen.setdefault(version, found) == found
        return found

    async def make(self, changes: int) -> None:
        """Make so many random changes; those that are refused must leave everything as it was."""
        now = await self.look()
        for _ in range(changes):
            caller = self.random.choice(self.callers)
            method, fields = self._change(now)
            told = await outcome(getattr(caller, method)(**fields))
            if isinstance(told, Refusal):
                self.refused.append(told.reason)
            before, now = now, await self.look()
            grown = now.session.version - before.session.version
            assert grown == (0 if isinstance(told, Refusal) else told.receipt.version - before.session.version)
            self.changes += grown
        assert sorted(self.seen) == list(range(1, now.session.version + 1))

    def _change(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        makers = (
            (4, self._append),
            (2, self._complete),
            (2, self._update_call),
            (3, self._memory),
            (1, self._details),
            (3, self._remove),
            (2, self._rewrite),
            (1, self._status),
        )
        weights, choices = zip(*makers, strict=True)
        make: Callable[[GetSessionResponse], tuple[str, dict[str, Any]]] = self.random.choices(choices, weights)[0]
        method, fields = make(now) if now.session.status == SESSION_STATUS_ACTIVE else self._status(now)
        return method, fields if method == "UpdateSession" else {"session_id": self.session_id} | fields

    def _word(self) -> str:
        return f"w{self.random.randrange(10**9)}"

    def _messages(self) -> list[Message]:
        made: list[Message] = []
        for _ in range(self.random.randrange(1, 4)):
            call_id = self.random.choice(CALL_IDS)
            made.append(
                self.random.choice(
                    (
                        said(self._word()),
                        said(self._word(), role=ROLE_SYSTEM),
                        said(self._word(), role=ROLE_ASSISTANT, message_id=self._word()),
                        called(call_id, arguments=f'{{"q": "{self._word()}"}}', text=self._word()),
                        called(call_id, self.random.choice(CALL_IDS)),
                        answered(call_id, f'"{self._word()}"', is_error=self.random.random() < 0.3),
                    )
                )
            )
        return made

    def _append(self, _: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        fields: dict[str, Any] = {"messages": self._messages()}
        if self.random.random() < 0.3:
            fields["memory_change"] = patched(f'{{"a": {{"x": "{self._word()}"}}}}')
        if self.random.random() < 0.3:
            fields["tool_calls"] = [{"call_id": self.random.choice(CALL_IDS), "name": "own", "arguments_json": "[1]"}]
        return "Append", fields

    def _call(self, now: GetSessionResponse) -> dict[str, str]:
        if now.open_tool_calls and self.random.random() < 0.8:
            return {"tool_call_id": self.random.choice(now.open_tool_calls).tool_call_id}
        return {"call_id": self.random.choice(CALL_IDS)}

    def _complete(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        ending = self.random.choice(
            (
                {"result_json": f'{{"r":"{self._word()}"}}', "resources": [{"uri": "u", "after": self._word()}]},
                {"error": self._word()},
                {"error": self._word(), "result_json": "1"},
                {"status": INTERRUPTED, "error": self._word()},
            )
        )
        return "CompleteToolCall", self._call(now) | ending

    def _update_call(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        change = self.random.choice(
            (
                {"status": RUNNING, "resources": [{"uri": "u", "before": self._word()}]},
                {"status": AWAITING_APPROVAL},
                {"status": PENDING},
                {"approval": {"granted": self.random.random() < 0.7, "note": self._word()}},
            )
        )
        return "UpdateToolCall", self._call(now) | change

    def _memory(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        key, word = self.random.choice(KEYS), self._word()
        change = self.random.choice(
            (
                patched(f'{{"{key}": "{word}"}}'),
                patched(f'{{"{key}": null}}'),
                patched(f'{{"deep": {{"{key}": ["{word}"]}}}}'),
                keyed("b", a=f'{{"z":1,"a":"{word}"}}'),
                replaced(goal=word, plan=[word, word], extra_json='{"k": 1}'),
            )
        )
        return "UpdateMemory", {"change": change, "expected_memory_version": now.session.memory_version}

    def _details(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        names = self.random.sample(["title", "labels", "metadata_json", "idle_ttl"], self.random.randrange(1, 4))
        session = Session(session_id=self.session_id, title=self._word(), labels={"k": self._word(), "l": "v"})
        session.metadata_json = f'{{"m":"{self._word()}"}}'
        session.idle_ttl.FromSeconds(self.random.randrange(1000, 2000))
        fields = {"session": session, "update_mask": FieldMask(paths=names), "expected_version": now.session.version}
        return "UpdateSession", fields

    def _remove(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        which: dict[str, Any] = {"last": self.random.randrange(1, 4)}
        if self.random.random() < 0.3:
            which = {"from_seq": max(1, now.session.last_seq - self.random.randrange(6))}
        if self.random.random() < 0.5:
            which["replacement"] = self._messages()
        return "RemoveMessages", which

    def _rewrite(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        if not now.messages:
            return self._append(now)
        target = self.random.choice(now.messages)
        message = Message(role=target.role, call_id=target.call_id, parts=target.parts)
        for part in message.parts:
            if part.HasField("tool_call"):
                part.tool_call.arguments_json = f'["{self._word()}"]'
            elif part.HasField("tool_result"):
                part.tool_result.CopyFrom(ToolResultPart(call_id=target.call_id, text=self._word()))
        if target.role != TOOL:
            message.parts.insert(0, Part(text=self._word()))
        return "UpdateMessage", {"message_id": target.message_id, "message": message}

    def _status(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        if now.session.status == SESSION_STATUS_ACTIVE:
            return "CloseSession", {"reason": self._word()}
        return "RestoreSession", {}
