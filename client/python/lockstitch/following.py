"""The live part of a session's handle: its commits, as they are made."""
# ruff: noqa: ASYNC109 - it bounds the first opening alone, over several attempts

from collections.abc import AsyncGenerator, Iterable
from datetime import timedelta
from hashlib import sha256
from typing import Literal, overload

from lockstitch.reads import SessionReads
from lockstitch.subscription import Subscription
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.message_pb2 import Role
from lockstitch.v1.subscription_pb2 import Draft, SubscribeRequest, SubscribeResponse
from lockstitch.wire import Sendable, duration

HEARTBEAT_INTERVAL = timedelta(seconds=15)


class SessionFollowing(SessionReads):
    """What follows a session; :class:`lockstitch.SessionHandle` has it."""

    @overload
    def subscribe(
        self,
        *,
        after_version: int | None = None,
        roles: Iterable[Role.ValueType] = (),
        drafts: Literal[False] = False,
        store_epoch: str = "",
        heartbeat_interval: timedelta = HEARTBEAT_INTERVAL,
        timeout: timedelta | None = None,
    ) -> AsyncGenerator[Commit, None]: ...

    @overload
    def subscribe(
        self,
        *,
        after_version: int | None = None,
        roles: Iterable[Role.ValueType] = (),
        drafts: Literal[True],
        store_epoch: str = "",
        heartbeat_interval: timedelta = HEARTBEAT_INTERVAL,
        timeout: timedelta | None = None,
    ) -> AsyncGenerator[Commit | Draft, None]: ...

    async def subscribe(
        self,
        *,
        after_version: int | None = None,
        roles: Iterable[Role.ValueType] = (),
        drafts: bool = False,
        store_epoch: str = "",
        heartbeat_interval: timedelta = HEARTBEAT_INTERVAL,
        timeout: timedelta | None = None,
    ) -> AsyncGenerator[Commit | Draft, None]:
        """The session's commits behind a version, then each as it is made, for as long as you go on.

        Each commit comes once and whole, in order of version, none is left out, whatever happens to servers, their
        database and the network meanwhile: a lost stream is resumed behind the last commit, after a wait that grows to
        5 seconds, or after the one that a server which goes away asked for. Leave the loop, or cancel its task, to end
        it. :attr:`version` moves on with each commit, so that ``expected_version=session.version`` guards a change that
        you make in answer to it; but not where ``roles`` hide some.

        Args:
            after_version: Commits with a greater version; 0 gives all. None goes on behind what this handle has seen:
                after ``client.get`` that is what is new, after ``client.session`` everything.
            roles: Only commits that stored messages of these roles, with these messages alone; all where empty.
            drafts: Gives text that is being generated too, as ``types.Draft``: the pieces of a draft follow on one
                another from its beginning, none twice. They are outside of what is promised of commits: the commit that
                ends a draft holds the message whole, and a draft may be seen in part or not at all.
            store_epoch: In which store ``after_version`` was read, where you kept both (receipts have it); within one
                subscription it is minded by itself.
            heartbeat_interval: How long the server may be silent, 1 second to 1 hour. A connection that died without
                a word is noticed after two and a half of them. Shorter costs a small frame each time.
            timeout: How long the first opening may take, all attempts together; None is the client's. Once it was open
                there is no limit to how often and how long a subscription is resumed.

        Raises:
            SessionNotFound: There is none for this caller, or it was deleted.
            CursorAhead: The session was never at ``after_version``.
            StoreRestored: The store was restored from a backup since: read the session anew.
            TokenExpired: A fresh token had expired too.
            SubscriptionLimit: As many streams are open as may be.
            Unavailable: It could not be opened in time.
            Cancelled: The client was closed.

        Example:
            ``async for commit in session.subscribe(): print(commit.version, [m.parts for m in commit.messages])``
        """
        shown = _Shown()
        with self._subscription(after_version, roles, store_epoch, heartbeat_interval, timeout) as subscription:
            while True:
                frame = await subscription.next()
                if frame.HasField("commit"):
                    self._follows(frame.commit, subscription)
                    shown.end(frame.commit)
                    yield frame.commit
                elif drafts and frame.HasField("draft") and (piece := shown.new_part(frame.draft)):
                    yield piece

    async def frames(
        self,
        *,
        after_version: int | None = None,
        roles: Iterable[Role.ValueType] = (),
        store_epoch: str = "",
        heartbeat_interval: timedelta = HEARTBEAT_INTERVAL,
        timeout: timedelta | None = None,
    ) -> AsyncGenerator[SubscribeResponse, None]:
        """The same, with every frame that the server sends, for those who show whether they are live.

        ``opened`` comes with each new stream, ``caught_up`` when all that was committed has been given, ``fell_behind``
        when the log is read again, ``heartbeat`` when nothing happens, ``draining`` when another server is sought,
        ``draft`` with text that is being generated, on each new stream from its beginning.

        Args and errors are those of :meth:`subscribe`.

        Example:
            ``async for frame in session.frames(): is_live = frame.HasField("caught_up") or is_live``
        """
        with self._subscription(after_version, roles, store_epoch, heartbeat_interval, timeout) as subscription:
            while True:
                frame = await subscription.next()
                if frame.HasField("commit"):
                    self._follows(frame.commit, subscription)
                yield frame

    def _subscription(
        self,
        after_version: int | None,
        roles: Iterable[Role.ValueType],
        store_epoch: str,
        heartbeat_interval: timedelta,
        timeout: timedelta | None,
    ) -> Subscription:
        with Sendable("subscribe"):
            request = SubscribeRequest(
                session_id=self.session_id,
                after_version=self.version if after_version is None else after_version,
                store_epoch=store_epoch,
                roles=roles,
                heartbeat_interval=duration(heartbeat_interval),
            )
        return Subscription(self._transport, request, timeout=timeout)

    def _follows(self, commit: Commit, subscription: Subscription) -> None:
        """Notes a commit as seen."""
        if subscription.is_whole:
            self._saw_version(commit.version)
        if commit.HasField("session"):
            self._note(commit.session)


class _Shown:
    """How much of each draft was given: a further stream begins with the beginning of those that go on."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}

    def new_part(self, piece: Draft) -> Draft | None:
        """What of a piece was not given before; None where all of it was."""
        text, given = piece.text.encode(), self._ends.get(piece.draft_id, 0)
        end = piece.offset + len(text)
        if end <= given:
            return None
        self._ends[piece.draft_id] = end
        if piece.offset >= given:
            return piece
        rest = text[given - piece.offset :].decode()
        return Draft(draft_id=piece.draft_id, offset=given, text=rest, role=piece.role, run_id=piece.run_id)

    def end(self, commit: Commit) -> None:
        """Forgets the draft that a commit ends: its own, or the server's where its writer was lost."""
        for draft_id in list(self._ends):
            lost = f"server:draft/{draft_id}"
            if commit.request_id_hash in {_hash(one) for one in (draft_id, lost, f"{lost}/{commit.version}")}:
                del self._ends[draft_id]


def _hash(request_id: str) -> bytes:
    return sha256(request_id.encode()).digest()[:16]
