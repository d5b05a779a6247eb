"""Drafts sent to their end, or broken off once their text is stored."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from lockstitch.v1 import session_service_pb2 as pb
from model import Caller
from model.drafts import Steps
from support.behind import Behind
from support.lockstep import Answer, Lockstep
from support.waiting import until_blocking


def finish_draft(lockstep: Lockstep, caller: Caller, steps: Steps) -> None:
    """Send steps and be done; the answer must be the model's."""
    real = lockstep.call(caller, lambda methods, each: methods.StreamDraft(iter(steps), **each))
    lockstep.draft(caller, steps, real, finished=True)


def break_draft_off(lockstep: Lockstep, behind: Behind, caller: Caller, steps: Steps) -> None:
    """Send steps, wait until they are stored, and be gone; or be refused as the model says."""
    first = steps[0]
    key = caller.tenant, first.session_id, first.request_id
    timeline = lockstep.model.sessions.get(key[:2])
    known = timeline.states[-1].present.drafts.get(first.request_id) if timeline else None
    end = len(known.text) if known else 0
    for step in steps:
        end = max(end, step.offset + len(step.text.encode()))
    before = behind.draft(*key)

    def is_stored() -> bool:
        now = behind.draft(*key)
        return now is not None and now[1] == end and (before is None or now[0] > before[0])

    real = lockstep.call(caller, lambda methods, each: sent_until(methods.StreamDraft, each, steps, is_stored))
    lockstep.draft(caller, steps, real, finished=False)


def sent_until(method: Any, each: dict[str, Any], steps: Steps, is_stored: Callable[[], bool]) -> Answer:
    """Send steps and no end; raises the error that comes, or gives no answer once all is stored."""
    gone = threading.Event()

    def sent() -> Iterator[pb.StreamDraftRequest]:
        yield from steps
        gone.wait()

    call = method.future(sent(), **each)
    try:
        until_blocking(lambda: call.done() or is_stored(), "a draft's text, stored")
        if call.done():
            raise call.exception()
    finally:
        # First this: the end of the steps would be the end of the draft.
        call.cancel()
        gone.set()
    return pb.StreamDraftResponse()
