"""The handle of one session: everything that can be done to it, over the client that gave it."""

from lockstitch.checkpoints import SessionCheckpoints
from lockstitch.drafts import SessionDrafts
from lockstitch.following import SessionFollowing
from lockstitch.forks import SessionForks
from lockstitch.lifecycle import SessionLife
from lockstitch.message_changes import MessageChanges
from lockstitch.runs import SessionRuns
from lockstitch.tool_call_changes import ToolCallChanges
from lockstitch.transport import Transport
from lockstitch.v1.session_service_pb2 import CreateSessionResponse
from lockstitch.writes import SessionWrites


class SessionHandle(
    SessionWrites,
    ToolCallChanges,
    MessageChanges,
    SessionDrafts,
    SessionCheckpoints,
    SessionForks,
    SessionLife,
    SessionRuns,
    SessionFollowing,
):
    """One session, as its client sees it. Made by ``client.create``, ``client.get`` and ``client.session``.

    Every change takes

    - ``request_id``: filled in when left out, and repeated by every retry, so that nothing is ever made twice. Give one
      of your own (1 to 128 characters) to retry beyond the call's own time, or from another process.
    - ``expected_version``: refuses with :class:`lockstitch.VersionConflict` unless the session is at this version.
      There is no hidden guard: left out, nothing is compared.
    - ``timeout``: a timedelta for all attempts together; None is the client's.

    and may raise :class:`lockstitch.SessionNotFound`, :class:`lockstitch.SessionClosed`,
    :class:`lockstitch.SessionExpired`, :class:`lockstitch.SessionDeleted`, :class:`lockstitch.InvalidArgument`,
    :class:`lockstitch.PermissionDenied`, :class:`lockstitch.Unavailable` and :class:`lockstitch.DeadlineExceeded`.
    Nothing is stored by a change that failed, except that the last two and :class:`lockstitch.CommitOutcomeUnknown`
    leave it open: send it again with ``error.request_id``.
    """

    def __init__(self, transport: Transport, session_id: str, created: CreateSessionResponse | None = None) -> None:
        super().__init__(transport, session_id)
        if created is not None:
            self._made(created.receipt, None)
            self._note(created.session)
