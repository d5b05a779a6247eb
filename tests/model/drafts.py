"""Drafts: text that is still being generated, and what becomes of it."""

from collections.abc import Sequence
from hashlib import sha256

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, Message, Part
from model import Given, Refused, runs
from model.session import Draft, State

Steps = Sequence[pb.StreamDraftRequest]


def header_of(first: pb.StreamDraftRequest) -> Message:
    header = Message.FromString(first.message.SerializeToString())
    header.role = header.role or ROLE_ASSISTANT
    return header


def open_(state: State, first: pb.StreamDraftRequest, given: Given) -> Draft:
    """Begin a draft, or go on with it, under the run of now; that is use of the session, without a commit."""
    draft = state.present.drafts.get(first.request_id)
    if draft is not None and draft.header != header_of(first):
        raise Refused("REQUEST_ID_REUSED")
    fence = runs.fence_of(first)
    draft = draft or Draft(header_of(first), "")
    draft.under = fence.run_id if fence else ""
    state.present.drafts[first.request_id] = draft
    state.used(given.activity)
    return draft


def write(draft: Draft, steps: Steps) -> None:
    """Overlap is passed over; a gap is refused."""
    for step in steps:
        if step.offset > len(draft.text):
            raise Refused("CURSOR_AHEAD", current_offset=len(draft.text))
        draft.text += step.text.encode()[len(draft.text) - step.offset :]


def message_of(draft: Draft) -> Message:
    """The message that a draft is so far."""
    message = Message.FromString(draft.header.SerializeToString())
    message.parts.extend([Part(text=draft.text.decode())] if draft.text else [])
    return message


def append_of(steps: Steps, draft: Draft) -> pb.AppendRequest:
    """What a finished draft comes to: an append of its message."""
    first, last = steps[0], steps[-1]
    whole = last.message if len(steps) > 1 and last.HasField("message") else message_of(draft)
    request = pb.AppendRequest(request_id=first.request_id, session_id=first.session_id, messages=[whole])
    request.MergeFrom(guard_of(first))
    if last.HasField("memory_change"):
        request.memory_change.CopyFrom(last.memory_change)
    if last.HasField("finish_run"):
        request.finish_run.CopyFrom(last.finish_run)
    return request


def guard_of(first: pb.StreamDraftRequest) -> pb.AppendRequest:
    """What a first step expects."""
    names = ("expected_version", "expected_memory_version", "fence", "force")
    return pb.AppendRequest(**{field.name: value for field, value in first.ListFields() if field.name in names})


def lost(state: State, under: str | None) -> list[str]:
    """Which drafts are lost with a run, or, without one, with the session; the contract leaves their order open."""
    found = [name for name, draft in state.present.drafts.items() if under in {None, draft.under}]
    return sorted(found, key=lambda name: sha256(name.encode()).digest()[:16])


def lose(state: State, name: str, given: Given) -> bool:
    """Store what there is of a draft as incomplete, as the server's own commit does; whether there was anything.

    Its caller's message_id stays free: the draft may still come to its end.
    """
    draft = state.present.drafts.pop(name)
    if not draft.text:
        return False
    message = message_of(draft)
    message.incomplete, message.message_id = True, ""
    state.begin_version(draft.under)
    given = given.of_server(state.head.version)
    state.store(message, given)
    state.end_version(given.now, is_use=False)
    return True
