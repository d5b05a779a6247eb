"""The client: where calls begin."""
# ruff: noqa: ASYNC109 - a call's time goes to the server as its deadline, which asyncio.timeout can't do

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self, TypeVar

from lockstitch.administration import Administration
from lockstitch.changes import new_request_id
from lockstitch.checkpoints import listed_checkpoints
from lockstitch.connection import Endpoint, Tls
from lockstitch.session import SessionHandle
from lockstitch.transport import TokenSource, Transport
from lockstitch.v1.checkpoint_pb2 import Checkpoint
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import Session, SessionStatus
from lockstitch.v1.session_service_pb2 import CreateSessionRequest, ListSessionsRequest
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from lockstitch.wire import Sendable, checked_labels, duration, timestamp, to_json

_TIMEOUT = timedelta(seconds=10)
_T = TypeVar("_T")


class Client(Administration):
    """Speaks to a lockstitch server, from any event loop and any thread.

        async with Client("127.0.0.1:50051", token=token) as client:
            session = await client.create(user_id="u1")
            await session.append(messages=[user("hello")])

    The loop that entered the client (``async with``) has a connection of its own. A client may also be made outside any
    loop, shared by many loops and threads, and never be entered: what is called from elsewhere runs on one background
    thread, which is started at need and ends with :meth:`close`, or when nobody holds the client any more. That thread
    also serves plain synchronous code, without a second set of methods:

        with Client("127.0.0.1:50051", token=token) as client:
            session = client.run(client.create(user_id="u1"))
            client.run(session.append(messages=[user("hello")]))
            for message in client.iterate(session.messages()):
                print(message.seq, message.parts[0].text)

    ``UNAVAILABLE`` is retried with the same request_id and growing waits until the call's time is up; the server's word
    on when to come again is kept. Everything else is raised at once, as a :class:`lockstitch.LockstitchError`.

    Args:
        target: Where the server is, as gRPC names it: ``"127.0.0.1:50051"``, ``"dns:///store.example.org:443"``,
            ``"unix:/run/lockstitch.sock"``.
        token: Who calls: a token, or a callable (plain or async) that gives a fresh one. A callable is asked before
            every attempt, so let it keep what it gives for as long as it lives; an async one runs on the loop that
            calls. None where a client certificate says it, given by ``tls``.
        tls: None is plain text where the target can't leave this machine (loopback, ``localhost``, a Unix socket), else
            TLS with gRPC's own root certificates. True is TLS anyway. Bytes are the PEM root certificates to trust.
            ``grpc.ChannelCredentials`` are taken as they are, such as for mutual TLS:
            ``grpc.ssl_channel_credentials(root_certificates, private_key, certificate_chain)``. False is plain text by
            name: the token and all content can then be read on the way. Defaults to None.
        timeout: How long a call may take, all attempts together. Shorter fails sooner under trouble, longer rides out
            longer restarts; a call can say its own. Defaults to 10 seconds.
    """

    def __init__(
        self,
        target: str,
        *,
        token: TokenSource,
        tls: Tls = None,
        timeout: timedelta = _TIMEOUT,
    ) -> None:
        super().__init__(Transport(Endpoint.of(target, tls), token=token, timeout=timeout))

    async def create(
        self,
        *,
        user_id: str = "",
        session_id: str = "",
        agent: str = "",
        title: str = "",
        labels: Mapping[str, str] | None = None,
        metadata: object = None,
        memory: WorkingMemory | None = None,
        messages: Iterable[Message] = (),
        expire_time: datetime | None = None,
        ttl: timedelta | None = None,
        idle_ttl: timedelta | None = None,
        request_id: str = "",
        timeout: timedelta | None = None,
    ) -> SessionHandle:
        """Creates a session, with its first messages and memory in the same commit.

        Args:
            user_id: Whose session it is. A user's is its own and may be left out; an engine names the user it acts for.
            session_id: Your own id for it, 1 to 128 characters, not beginning with ``sess_``; the server makes one
                otherwise.
            agent: The app or agent it belongs to, at most 128 characters.
            title: A title for people, at most 1,024 characters.
            labels: To list by, at most 64.
            metadata: An object that is kept with it as JSON, at most 64 KiB; None for none.
            memory: Its first working memory, as :func:`lockstitch.working_memory` makes it.
            messages: Its first messages, at most 100.
            expire_time: When its life ends, with a time zone; or
            ttl: how long it lasts, 1 second to 100 years. Neither: for ever.
            idle_ttl: How long it lives unused.
            request_id: Filled in when left out; the same one finds the same session again.
            timeout: For all attempts together; None is the client's.

        Raises:
            SessionExists: The session_id is taken.
            InvalidField, RoleNotAllowed, MessageTooLarge, BatchTooLarge, Unavailable, DeadlineExceeded

        Example:
            ``session = await client.create(user_id="u1", agent="support", ttl=timedelta(days=30))``
        """
        request_id = request_id or new_request_id()
        with Sendable("create"):
            request = CreateSessionRequest(
                request_id=request_id,
                session_id=session_id,
                user_id=user_id,
                agent=agent,
                title=title,
                labels=checked_labels(labels),
                metadata_json="" if metadata is None else to_json(metadata, field="metadata"),
                memory=memory,
                messages=messages,
                expire_time=timestamp(expire_time, field="expire_time"),
                ttl=duration(ttl),
                idle_ttl=duration(idle_ttl),
            )
        response = await self._transport.call(
            lambda to: to.sessions.CreateSession, request, timeout=timeout, request_id=request_id
        )
        return SessionHandle(self._transport, response.session.session_id, response)

    async def get(
        self, session_id: str, *, show_deleted: bool = False, timeout: timedelta | None = None
    ) -> SessionHandle:
        """The handle of a session that is there, with its :attr:`~lockstitch.SessionHandle.info` read.

        Args:
            session_id: Which session.
            show_deleted: Finds a deleted session too, until its ``purge_time``.
            timeout: For all attempts together; None is the client's.

        Raises:
            SessionNotFound: There is none for this caller.

        Example:
            ``session = await client.get(session_id); print(session.info.title, session.version)``
        """
        session = self.session(session_id)
        await session.get(show_deleted=show_deleted, timeout=timeout)
        return session

    def session(self, session_id: str) -> SessionHandle:
        """The handle of a session without a call: whether it is there shows with the first one.

        Example:
            ``await client.session(session_id).append(messages=[tool("c1", "done")])``
        """
        with Sendable("session_id"):
            session_id.encode()
        return SessionHandle(self._transport, session_id)

    async def list(
        self,
        *,
        user_id: str = "",
        agent: str = "",
        statuses: Iterable[SessionStatus.ValueType] = (),
        labels: Mapping[str, str] | None = None,
        forked_from: str = "",
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        active_after: datetime | None = None,
        active_before: datetime | None = None,
        show_deleted: bool = False,
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[Session]:
        """The sessions, the most recently used first, fetched a page at a time as you go on. A user sees its own only.

        Args:
            user_id: Only this user's.
            agent: Only those of this app or agent.
            statuses: Only those in one of these; all where empty.
            labels: Only those that have all of these.
            forked_from: Only forks of this session.
            created_after, created_before: Only those created from (inclusive) and before; with a time zone.
            active_after, active_before: Only those last used from (inclusive) and before; with a time zone.
            show_deleted: Deleted sessions too, until their ``purge_time``.
            page_size: Sessions a page; 0 is 50, at most 1,000.
            timeout: Of each page; None is the client's.

        Example:
            ``async for info in client.list(user_id="u1"): print(info.session_id, info.title)``
        """
        with Sendable("list"):
            request = ListSessionsRequest(
                user_id=user_id,
                agent=agent,
                statuses=statuses,
                labels=checked_labels(labels),
                forked_from=forked_from,
                created_after=timestamp(created_after, field="created_after"),
                created_before=timestamp(created_before, field="created_before"),
                active_after=timestamp(active_after, field="active_after"),
                active_before=timestamp(active_before, field="active_before"),
                show_deleted=show_deleted,
                page_size=page_size,
            )
        while True:
            page = await self._transport.call(lambda to: to.sessions.ListSessions, request, timeout=timeout)
            for session in page.sessions:
                yield session
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def checkpoints(
        self,
        *,
        namespace: str | None = None,
        run_id: str = "",
        metadata: Mapping[str, object] | None = None,
        before: str = "",
        page_size: int = 0,
        timeout: timedelta | None = None,
    ) -> AsyncIterator[Checkpoint]:
        """The checkpoints of all sessions, the greatest id first, each with all its writes. For engines and admins.

        Args:
            namespace, run_id, metadata, before, page_size: See :meth:`lockstitch.SessionHandle.checkpoints`.
            timeout: Of each page; None is the client's.

        Example:
            ``sessions = {c.session_id async for c in client.checkpoints(run_id="run-7")}``
        """
        return listed_checkpoints(
            self._transport,
            session_id="",
            namespace=namespace,
            run_id=run_id,
            metadata=metadata,
            before=before,
            page_size=page_size,
            timeout=timeout,
        )

    def run(self, awaitable: Awaitable[_T]) -> _T:
        """Waits for one of this client's calls, from code that is not async. Blocks the thread it is called in.

        Raises:
            RuntimeError: Called from the client's own background thread, which would wait for itself.

        Example:
            ``session = client.run(client.create(user_id="u1"))``
        """
        return self._transport.run(awaitable)

    def iterate(self, items: AsyncIterator[_T]) -> Iterator[_T]:
        """Goes through one of this client's async iterators, from code that is not async. It ends with the loop.

        Example:
            ``for commit in client.iterate(session.subscribe()): print(commit.version)``
        """
        try:
            while True:
                try:
                    item = self.run(anext(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            if isinstance(items, AsyncGenerator) and not self._transport.is_closed:
                self.run(items.aclose())

    async def close(self) -> None:
        """Closes the connections and ends the background thread. Calls in flight are given up, later ones refused."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        self._transport.adopt()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.stop_background()
