"""A feed: one session's commits, read from the log once for all streams of this process."""

from collections import deque
from collections.abc import Awaitable, Callable

from lockstitch_server.model import Commit, SessionRef

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

    __slots__ = ("_bytes", "_commits_max", "_queue", "_wake", "head", "overrun")

    def __init__(self, head: int, wake: Callable[[], None], commits_max: int) -> None:
        """`wake` tells the stream that there is something; `head` is the newest version that the feed gave before."""
        self._wake = wake
        self._commits_max = commits_max
        self._queue: deque[LiveCommit] = deque()
        self._bytes = 0
        self.head = head
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

    def wake(self) -> None:
        """Have the stream look."""
        self._wake()


class Feed:
    """One session's feed, read by one task at a time."""

    __slots__ = ("head", "reading", "ref", "windows", "woken")

    def __init__(self, ref: SessionRef) -> None:
        """Nothing is read before a stream says at which version it saw the session."""
        self.ref = ref
        self.head: int | None = None
        """The newest version that need not be given any more."""
        self.windows: set[Window] = set()
        self.reading = False
        self.woken = False

    def give(self, commit: Commit) -> bool:
        """Give every stream the commit that follows on the head; False where it does not."""
        if self.head is None or commit.version != self.head + 1:
            return False
        self.head = commit.version
        live = LiveCommit(commit)
        for window in self.windows:
            window.offer(live)
        return True

    async def read(self, page: Callable[[SessionRef, int], Awaitable[tuple[Commit, ...]]]) -> None:
        """Read what follows on the head and give it, until there is no more or nobody to give it to."""
        while self.windows and self.head is not None:
            commits = await page(self.ref, self.head)
            # What this process committed meanwhile was given already; a hole means that the page came too early.
            given = [commit for commit in commits if self.give(commit)]
            if not given:
                return
