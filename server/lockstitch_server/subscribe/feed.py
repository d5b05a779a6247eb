"""A feed: one session's commits and drafts, read from the store once for all streams of this process."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from uuid import UUID

from lockstitch_server.model import Commit, SessionRef
from lockstitch_server.store.drafts import DraftPage
from lockstitch_server.subscribe.drafts import Drafted, LiveDrafts, Reading, Room

WINDOW_BYTES_MAX = 1024 * 1024
_ENVELOPE_BYTES = 512


class LiveCommit:
    """A commit on its way to streams, with the frames that were made of it, so that many streams share one."""

    __slots__ = ("commit", "frames", "size")

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        self.frames: dict[object, object] = {}
        content = sum(message.body_bytes for message in commit.messages)
        content += sum(
            len(call.detail) + len(call.arguments or b"") + len(call.result or b"") for call in commit.tool_calls
        )
        self.size = _ENVELOPE_BYTES + content + len(commit.memory_change or b"")


class Window:
    """What waits for one stream: a bounded run of commits. When it runs over it is emptied, and the log is read."""

    __slots__ = ("_bytes", "_commits_max", "_feed", "_queue", "_wake", "head", "overrun")

    def __init__(self, feed: "Feed", wake: Callable[[], None], commits_max: int) -> None:
        """`wake` tells the stream that there is something."""
        self._feed = feed
        self._wake = wake
        self._commits_max = commits_max
        self._queue: deque[LiveCommit] = deque()
        self._bytes = 0
        self.head = feed.head or 0
        """The newest version that there is for the stream, queued or in the log."""
        self.overrun = False
        """Whether commits were let go since the stream last read as far as `head`."""

    def offer(self, live: LiveCommit) -> None:
        """Take a commit, or let all go where there is no room."""
        self.head = max(self.head, live.commit.version)
        if self._queue and (len(self._queue) >= self._commits_max or self._bytes + live.size > WINDOW_BYTES_MAX):
            self._queue.clear()
            self._bytes = 0
            self.overrun = True
        elif not self.overrun:
            self._queue.append(live)
            self._bytes += live.size
        self._wake()

    def take(self, after_version: int) -> deque[LiveCommit]:
        """The commits that follow on a version without a hole; older ones are let go."""
        taken: deque[LiveCommit] = deque()
        while self._queue and self._queue[0].commit.version <= after_version + 1:
            live = self._queue.popleft()
            self._bytes -= live.size
            if live.commit.version == after_version + 1:
                taken.append(live)
                after_version += 1
        return taken

    def drafted(self, reading: Reading, version: int) -> Drafted | None:
        """What follows of drafts, for a stream that stands in the present."""
        # A stream that read more of the log than the feed did may have passed a commit that closes one.
        return reading.next(self._feed.drafts) if version == self._feed.head else None

    @property
    def is_gone(self) -> bool:
        """Whether there is no such session any more."""
        return self._feed.is_gone

    def wake(self) -> None:
        """Have the stream look."""
        self._wake()


class Feed:
    """One session's feed, read by one task at a time."""

    __slots__ = ("drafts", "drafts_woken", "head", "is_gone", "is_read", "is_reading_log", "ref", "windows", "woken")

    def __init__(self, ref: SessionRef, room: Room) -> None:
        """Nothing is read before a stream says at which version it saw the session."""
        self.ref = ref
        self.drafts = LiveDrafts(room)
        """Those that no commit up to the head closed."""
        self.head: int | None = None
        """The newest version that need not be given any more."""
        self.windows: set[Window] = set()
        self.is_read = False
        """Whether a task sees to it."""
        self.is_reading_log = False
        self.woken = False
        """Whether there may be commits to read."""
        self.drafts_woken = False
        """Whether there may be drafts to read."""
        self.is_gone = False
        """Whether there is no such session any more."""

    def give(self, commit: Commit) -> bool:
        """Give every stream the commit that follows on the head; False where it does not."""
        if self.head is None or commit.version != self.head + 1:
            return False
        self.head = commit.version
        self.drafts.close(commit)
        live = LiveCommit(commit)
        for window in self.windows:
            window.offer(live)
        return True

    async def read(self, page: Callable[[SessionRef, int], Awaitable[tuple[Commit, ...]]]) -> bool:
        """Read a page of what follows on the head and give it; whether there may be more for somebody."""
        if self.head is None:
            return False
        self.is_reading_log = True
        try:
            commits = await page(self.ref, self.head)
        finally:
            self.is_reading_log = False
        # What this process committed meanwhile was given already; a hole means that the page came too early.
        given = [commit for commit in commits if self.give(commit)]
        return bool(given and self.windows)

    async def read_drafts(
        self,
        drafts: Callable[[SessionRef, Mapping[UUID, int]], Awaitable[DraftPage]],
        page: Callable[[SessionRef, int], Awaitable[tuple[Commit, ...]]],
    ) -> None:
        """Read what is new of drafts, and have the streams look."""
        known = self.drafts.begin_read()
        try:
            found = await drafts(self.ref, known)
            # A draft that was closed and begun anew is taken behind the commit that closed it.
            while self.head is not None and self.head < found.as_of_version and await self.read(page):
                pass
        except BaseException:
            self.drafts.give_up_read()
            raise
        if not self.windows:
            self.drafts.give_up_read()
            return
        if not self.drafts.end_read(found.pieces) or found.is_cut:
            self.drafts_woken = True
        self.wake_streams()

    def wake_streams(self) -> None:
        """Have every stream look."""
        for window in self.windows:
            window.wake()
