"""StreamDraft: its steps as they come, and what they become."""

import asyncio
from collections.abc import AsyncIterator

from lockstitch.v1 import message_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.api import checks
from lockstitch_server.api.convert import memory, messages, runs
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import InvalidField, MessageTooLarge
from lockstitch_server.model import Change, Content, Draft, DraftText, MessageRole, Method, NewDraft
from lockstitch_server.service.drafts import text_too_large

_BREAK_OFF_SECONDS = 0.1
"""How long the end of the steps is waited out where none of them said that it is the last.

A call that breaks off looks like a half-close at first: its cancellation is an event of its own, which comes behind it.
Text that was cut off must not be stored as if it were whole.
"""

_OF_THE_FIRST = frozenset({"request_id", "session_id", "expected_version", "expected_memory_version", "fence", "force"})


class DraftRequest:
    """One StreamDraft call: read step by step."""

    def __init__(self, steps: AsyncIterator[pb.StreamDraftRequest], requests: Requests) -> None:
        """Nothing is read before `begin`."""
        self._steps = steps
        self._requests = requests
        self._first = pb.StreamDraftRequest()
        self._last = pb.StreamDraftRequest()

    async def begin(self) -> tuple[Change, NewDraft]:
        """Read the first step: what is drafted, and where."""
        first = await anext(self._steps, None)
        if first is None:
            raise InvalidField("session_id", "is required in a first step")
        requests = self._requests
        policy, principal = requests.policy, requests.principal
        policy.require(principal, Claim.WRITE_DRAFT)
        messages.authorise([first.message], principal, policy)
        request_id = requests.request_id(first.request_id)
        requests.ref(first.session_id)
        header = first.message
        if not header.role:
            header.role = message_pb2.ROLE_ASSISTANT
        if header.role == message_pb2.ROLE_TOOL:
            raise InvalidField("message.role", "may not be TOOL: a result is not drafted")
        if header.parts or header.HasField("original"):
            raise InvalidField("message.parts", "come as text, and whole in the last step")
        messages.forget_output([header])
        probe = message_pb2.Message()
        probe.CopyFrom(header)
        probe.parts.add().text = " "
        messages.new_messages([probe], requests.message_limits, "message")
        checks.not_negative(first.offset, "offset")
        if len(first.text.encode()) > requests.settings.content_bytes_max:
            raise text_too_large(requests.settings.content_bytes_max)
        self._first.CopyFrom(first)
        new = NewDraft(
            draft_id=request_id,
            role=MessageRole(header.role),
            header=header.SerializeToString(deterministic=True),
        )
        return self._change(), new

    async def texts(self) -> AsyncIterator[DraftText]:
        """Read what follows: the text, until no more comes."""
        step = self._first
        while True:
            yield DraftText(checks.not_negative(step.offset, "offset"), step.text.encode())
            ended = step.last or step.HasField("memory_change") or step.HasField("finish_run")
            following = await anext(self._steps, None)
            if following is None:
                if not ended and not self._last.HasField("message"):
                    await asyncio.sleep(_BREAK_OFF_SECONDS)
                return
            if ended or self._last.HasField("message"):
                raise InvalidField("message", "may not be followed by another step")
            for field, _ in following.ListFields():
                if field.name in _OF_THE_FIRST:
                    raise InvalidField(field.name, "is allowed in the first step only")
            step = self._last = following

    def end(self, draft: Draft | None) -> tuple[Change, Content]:
        """What the draft becomes, given what is stored of it; None where it was committed before."""
        if draft is None:
            return self._change(), Content()
        requests, first, last = self._requests, self._first, self._last
        policy, principal = requests.policy, requests.principal
        ending = last if last.ListFields() else first
        message = message_pb2.Message()
        if last.HasField("message"):
            messages.authorise([last.message], principal, policy)
            message.CopyFrom(last.message)
            messages.forget_output([message])
        else:
            message.MergeFromString(draft.header)
            if draft.text:
                message.parts.add().text = draft.text.decode()
        given = [message]
        messages.check_sizes(given, requests.message_limits, "message")
        if messages.content_bytes(message) + ending.memory_change.ByteSize() > requests.settings.content_bytes_max:
            most = str(requests.settings.content_bytes_max)
            sentence = f"message and memory_change hold more than {most} bytes."
            raise MessageTooLarge(sentence, field="message", metadata={"limit_bytes": most})
        stored, ledger = messages.new_messages(given, requests.message_limits, "message")
        memory_change = None
        if ending.HasField("memory_change"):
            policy.require(principal, Claim.WRITE_MEMORY, "memory_change")
            if ending.memory_change.WhichOneof("change") == "replace":
                ending.memory_change.replace.ClearField("version")
            memory_change = memory.change(ending.memory_change, "memory_change", requests.settings.memory_bytes_max)
        fence = requests.fence(first)
        run_end = runs.end_of(ending.finish_run, fence) if ending.HasField("finish_run") else None
        return self._change(), Content(
            messages=tuple(stored), ledger=tuple(ledger), memory=memory_change, run_end=run_end
        )

    def _change(self) -> Change:
        """The change's identity: the text aside, of which a retry need not send all again."""
        first, requests = self._first, self._requests
        digested, last = pb.StreamDraftRequest(), pb.StreamDraftRequest()
        digested.CopyFrom(first)
        last.CopyFrom(self._last)
        for step in (digested, last):
            step.ClearField("offset")
            step.ClearField("text")
            step.ClearField("last")
        return requests.change(
            digested,
            Method.STREAM_DRAFT,
            requests.ref(first.session_id),
            requests.request_id(first.request_id),
            expected_version=first.expected_version if first.HasField("expected_version") else None,
            expected_memory_version=(
                first.expected_memory_version if first.HasField("expected_memory_version") else None
            ),
            fence=requests.fence(first),
            force=first.force,
            target=last.SerializeToString(deterministic=True),
        )
