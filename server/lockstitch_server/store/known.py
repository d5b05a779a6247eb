"""The commit that an append made, where all of it is known without reading it."""

from lockstitch_server import ids
from lockstitch_server.model import Change, Commit, Content, Message, Method
from lockstitch_server.store.results import ChangeReport


def commit(change: Change, content: Content | None, report: ChangeReport) -> Commit | None:
    """The commit as the log has it; None where the ledger, memory or a new session has a part in it."""
    if content is None or content.ledger or content.memory is not None or content.run_end is not None:
        return None
    if change.method is not Method.APPEND or report.version == 1 or report.commit_time is None:
        return None
    key, first_seq = change.session.key, report.last_seq - report.new_messages + 1
    return Commit(
        version=report.version,
        request_id_hash=change.request_id_hash.bytes,
        principal=change.principal,
        method=change.method,
        traceparent=change.traceparent or "",
        commit_time=report.commit_time,
        memory_change=None,
        messages=tuple(
            Message(
                seq=first_seq + place,
                version=report.version,
                role=message.role,
                message_id=message.message_id or ids.message_id(key, first_seq + place),
                call_id=message.call_id or "",
                create_time=report.commit_time,
                body=message.body,
                body_bytes=len(message.body),
                run_id="" if change.fence is None else change.fence.run_id,
            )
            for place, message in enumerate(content.messages)
        ),
        tool_calls=(),
        session=None,
        run_id="" if change.fence is None else change.fence.run_id,
        run=None,
        ended_run=None,
        memory_run_id="",
        checkpoints=(),
        removed=None,
        erased=False,
    )
