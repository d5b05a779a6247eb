"""Taking back and changing what was said: the part of a session's handle that works on stored messages."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import Iterable
from datetime import timedelta

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_service_pb2 import (
    RemoveMessagesRequest,
    RemoveMessagesResponse,
    UpdateMessageRequest,
    UpdateMessageResponse,
)
from lockstitch.wire import Sendable, refused


class MessageChanges(SessionChanges):
    """What can be done to a session's messages; :class:`lockstitch.SessionHandle` says what every change takes."""

    async def remove(
        self,
        *,
        last: int | None = None,
        from_seq: int | None = None,
        replacement: Iterable[Message] = (),
        erase_history: bool = False,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> RemoveMessagesResponse:
        """Takes messages back from the end, and gives them; in the same commit others may take their place.

        The ledger follows: calls that a removed message made are gone, a call whose result is removed is open again.
        What was removed stays readable in the past (``at_version``, ``show_removed``), unless it is erased.

        Args:
            last: The newest so many, 1 or more; or
            from_seq: all from this seq on. A removed seq stays used.
            replacement: Messages that are stored in their place, at most 100.
            erase_history: Deletes every copy of what is removed, from the log too.
            expected_version, request_id, timeout: See the class.

        Raises:
            VersionConflict, MessageTooLarge, BatchTooLarge, SessionFull, and what Append's tool messages can raise

        Example:
            ``undone = (await session.remove(last=2)).removed``
        """
        if last is not None and from_seq is not None:
            raise refused("last", "can't be given together with from_seq")
        request_id = request_id or new_request_id()
        with Sendable("remove"):
            request = RemoveMessagesRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
                replacement=replacement,
                erase_history=erase_history,
            )
        if last is not None:
            request.last = last
        if from_seq is not None:
            request.from_seq = from_seq
        response = await self._call(
            lambda to: to.sessions.RemoveMessages, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response

    async def update_message(
        self,
        *,
        message_id: str,
        message: Message,
        erase_history: bool = False,
        expected_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> UpdateMessageResponse:
        """Changes a message in its place, such as to redact it. It keeps its seq, role and tool calls.

        Args:
            message_id: Which message, by your id or the server's.
            message: What it becomes, as :func:`lockstitch.user` and its like make it, without a message_id.
            erase_history: Deletes every copy of what it held before, from the log too: later reads of the past and
                subscribers see it ``erased``, in its place.
            expected_version, request_id, timeout: See the class.

        Raises:
            MessageNotFound: There is none of this id, or it was removed.
            VersionConflict, MessageTooLarge

        Example:
            ``await session.update_message(message_id="m1", message=user("[redacted]"), erase_history=True)``
        """
        request_id = request_id or new_request_id()
        with Sendable("update_message"):
            request = UpdateMessageRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                fence=self._fence,
                message_id=message_id,
                message=message,
                erase_history=erase_history,
            )
        response = await self._call(
            lambda to: to.sessions.UpdateMessage, request, timeout=timeout, request_id=request_id
        )
        self._made(response.receipt, expected_version)
        return response
