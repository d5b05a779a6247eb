"""Drafts: messages that are stored, and shown to subscribers, while a model generates them."""
# ruff: noqa: ASYNC109 - it bounds each outage, over several attempts

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from datetime import datetime, timedelta

from lockstitch.changes import SessionChanges, new_request_id
from lockstitch.drafting import Drafting
from lockstitch.memory import Change
from lockstitch.memory import memory_change as change_of
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.message_pb2 import Message, Role
from lockstitch.v1.run_pb2 import RunEnd
from lockstitch.v1.session_service_pb2 import StreamDraftRequest
from lockstitch.wire import Sendable, checked_text, timestamp, to_json

_Calling = Callable[[bool], AbstractContextManager[None]]


class DraftHandle:
    """A message that is being generated; :meth:`lockstitch.SessionHandle.draft` makes it.

    Attributes:
        draft_id: The request_id that its commit will have; subscribers know the draft by it.
        receipt: The receipt of its commit, None before.
    """

    def __init__(
        self, drafting: Drafting, draft_id: str, calling: _Calling, made: Callable[[CommitReceipt], None]
    ) -> None:
        """``calling`` stands around each step, told whether it ends the run as well; ``made`` is told of the commit."""
        self._drafting = drafting
        self._calling = calling
        self._made = made
        self.draft_id = draft_id
        self.receipt: CommitReceipt | None = None

    @property
    def text(self) -> str:
        """All that was written."""
        return self._drafting.text

    async def write(self, text: str) -> None:
        """Adds text: subscribers see it within about a tenth of a second. It is kept here until the commit.

        Returns when it is on its way; whether it arrived shows later, and is seen to. Text of a write that was
        cancelled goes with the next one.

        Raises:
            RunFenced, RunEnded, SessionClosed, VersionConflict: The draft can't become a commit any more.
            Unavailable: No server could be reached for as long as a call may take.

        Example:
            ``async for piece in model.stream(messages): await draft.write(piece)``
        """
        self._refuse_done()
        checked_text(text, field="draft.text")
        with self._calling(False):
            await self._drafting.write(text)

    async def finish(
        self,
        *,
        message: Message | None = None,
        memory_change: Change | None = None,
        finish: RunEnd | None = None,
    ) -> CommitReceipt:
        """Has the draft committed, with what belongs to the same commit. Leaving the context does it otherwise.

        Args:
            message: The message whole, as it is stored in place of the text, such as with tool calls. Its role is the
                draft's.
            memory_change: A change of working memory; a mapping is a merge patch.
            finish: Under a run only: ends it in this same commit, as :func:`lockstitch.run_end` says.

        Raises:
            What :meth:`lockstitch.SessionHandle.append` and :meth:`write` raise.

        Example:
            ``await draft.finish(memory_change={"next_action": None}, finish=run_end())``
        """
        self._refuse_done()
        with Sendable("draft"):
            last = StreamDraftRequest(
                message=message,
                memory_change=None if memory_change is None else change_of(memory_change),
                finish_run=finish,
            )
        with self._calling(finish is not None):
            response = await self._drafting.finish(last if last.ListFields() else None)
        self.receipt = response.receipt
        self._made(response.receipt)
        return response.receipt

    def _refuse_done(self) -> None:
        if self.receipt is not None:
            raise RuntimeError("The draft is committed already.")


class SessionDrafts(SessionChanges):
    """The drafting part of a handle; :class:`lockstitch.SessionHandle` says what every change takes."""

    @asynccontextmanager
    async def draft(
        self,
        *,
        role: Role.ValueType = Role.ROLE_ASSISTANT,
        author: str = "",
        message_id: str = "",
        event_time: datetime | None = None,
        metadata: object = None,
        force: bool = False,
        expected_version: int | None = None,
        expected_memory_version: int | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> AsyncIterator[DraftHandle]:
        """A message written piece by piece while a model generates it, and stored as one commit when the body ends.

        Subscribers see the text as it is written. A lost stream or server costs nothing: the text is kept here, and
        sent to the next one under the same request_id. While nothing is written the draft is kept open. A body that
        raises leaves it without a commit of yours: the server stores what it has of it, ``incomplete``, 25 seconds
        after its last sign of life (unless it is set otherwise), or when the run or session ends.

        Args:
            role: Whom it speaks for; never TOOL.
            author: Which agent or person within the role, at most 128 characters.
            message_id: Your id for the message, unique in its session; the server makes one otherwise.
            event_time: Your own time of it, with a time zone.
            metadata: An object that is kept with it as JSON, at most 64 KiB; None for none.
            force: Takes a memory ``replace`` or ``set`` of :meth:`~lockstitch.DraftHandle.finish` without a guard.
            expected_version, expected_memory_version: Compared when the draft begins, and when it is committed.
            request_id: See the class; it is the draft's id.
            timeout: How long one step, or an outage, may take, all attempts together; None is the client's.

        Raises:
            When the body has ended, what :meth:`~lockstitch.DraftHandle.finish` does.

        Example:
            ``async with session.draft() as draft: await draft.write("It is ")``
        """
        request_id = request_id or new_request_id()
        with Sendable("draft"):
            first = StreamDraftRequest(
                request_id=request_id,
                session_id=self.session_id,
                expected_version=expected_version,
                expected_memory_version=expected_memory_version,
                fence=self._fence,
                force=force,
                message=Message(
                    message_id=message_id,
                    role=role,
                    author=author,
                    event_time=timestamp(event_time, field="draft: event_time"),
                    metadata_json="" if metadata is None else to_json(metadata, field="draft: metadata"),
                ),
            )
        drafting = Drafting(self._transport, first, timeout=timeout)
        draft = DraftHandle(
            drafting,
            request_id,
            lambda finishes: self._calling(finishes=finishes),
            lambda receipt: self._made(receipt, expected_version, expected_memory_version),
        )
        async with drafting.kept_open(draft.write):
            yield draft
            if draft.receipt is None:
                await draft.finish()

    def _calling(self, *, finishes: bool) -> AbstractContextManager[None]:  # noqa: ARG002 - a run's handle asks
        """Stands around each step of a draft."""
        return nullcontext()
