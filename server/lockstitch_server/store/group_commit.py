"""Group commit: appends that come while one statement makes others are made together by the next."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import asyncpg

from lockstitch_server.errors import DatabaseUnavailable, Overloaded
from lockstitch_server.model import Method, SessionKey
from lockstitch_server.store import commit_arguments, failures, gathering
from lockstitch_server.store.changing import Statements, not_made
from lockstitch_server.store.commit_arguments import Limits, NewCommit

ITEMS_MAX = 64
_BYTES_MAX = 32 * 1024
_MESSAGES_MAX = 8
_STEPS_MAX = 8
_PUT_ASIDE = "put_aside"
WAIT, PUT_ASIDE_HELD = 0, 1
"""What an append by itself does with a session that another transaction holds. In a batch none is made, either."""


@dataclass(slots=True)
class _Item:
    """An append that waits, and its caller's answer."""

    commit: NewCommit
    answer: "asyncio.Future[asyncpg.Record]"
    since: float
    is_alone: bool = False
    """Sent by itself: a statement that it shared with others failed."""
    may_be_made: bool = False
    """By a statement whose connection broke."""


_Queue: TypeAlias = deque[_Item]


def takes(commit: NewCommit) -> bool:
    """Whether an append is small, and of nothing but messages and tool calls of one session."""
    content = commit.content
    return (
        commit.change.method is Method.APPEND
        and content.memory is None
        and content.run_end is None
        and commit.change.expected_memory_version is None
        and len(content.messages) <= _MESSAGES_MAX
        and len(content.ledger) <= _STEPS_MAX
        and sum(len(message.body) for message in content.messages)
        + sum(len(step.arguments or b"") + len(step.result or b"") + len(step.detail or b"") for step in content.ledger)
        <= _BYTES_MAX
    )


class GroupCommit:
    """Makes appends, many in one statement, without a time to wait for any to come.

    One statement runs at a time; what comes meanwhile, and while the loop goes on to bring more, is the next one's. An
    append that comes while none runs is sent at once and alone. A session that another transaction holds is put aside:
    its appends wait for it in a line of their own, on a connection of their own, and hold up no others.
    """

    def __init__(self, statements: Statements, limits: Limits, *, wait: timedelta, queue_max: int) -> None:
        """`wait` is how long an append waits for its statement before OVERLOADED, `queue_max` how many wait at once."""
        self._statements = statements
        self._limits = limits
        self._wait = wait.total_seconds()
        self._queue_max = queue_max
        self._waiting: _Queue = deque()
        self._aside: dict[SessionKey, _Queue] = {}
        self._running = False
        self._watch: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def append(self, commit: NewCommit) -> asyncpg.Record:
        """Make one; raises what a change of its own statement would."""
        aside = self._aside.get(commit.change.session.key)
        if not self._running and aside is None:
            row = await self._sent_at_once(commit)
            if row["r_outcome"] != _PUT_ASIDE:
                return row
            item = self._item(commit)
            self._put_aside(item)
        else:
            item = self._item(commit)
            if aside is not None:
                aside.append(item)
            else:
                self._line_up(item)
        return await item.answer

    async def close(self) -> None:
        """Wait for what was begun."""
        if self._watch is not None:
            self._watch.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _sent_at_once(self, commit: NewCommit) -> asyncpg.Record:
        self._running = True
        try:
            return await self._statements.one("append", *commit.arguments(self._limits), PUT_ASIDE_HELD)
        finally:
            self._running = False
            # Others have come meanwhile, or went on waiting while their caller left.
            if self._waiting:
                self._running = True
                self._begin(self._send_all())

    def _item(self, commit: NewCommit) -> _Item:
        loop = asyncio.get_running_loop()
        return _Item(commit, loop.create_future(), loop.time())

    def _line_up(self, item: _Item) -> None:
        if len(self._waiting) >= self._queue_max:
            raise self._overloaded(f"{self._queue_max} appends wait for their turn.")
        self._waiting.append(item)
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_at(item.since + self._wait, self._turn_away)

    def _turn_away(self) -> None:
        """Tell those who have waited too long, and look again when the next one will have."""
        loop = asyncio.get_running_loop()
        self._watch = None
        while self._waiting and self._waiting[0].since + self._wait <= loop.time():
            item = self._waiting.popleft()
            if not item.answer.done():
                item.answer.set_exception(self._overloaded(f"The append's turn did not come within {self._wait:g} s."))
        if self._waiting:
            self._watch = loop.call_at(self._waiting[0].since + self._wait, self._turn_away)

    def _overloaded(self, sentence: str) -> Overloaded:
        return Overloaded(sentence, retry_after=timedelta(seconds=self._wait))

    def _begin(self, sending: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(sending, name="group commit")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_all(self) -> None:
        """Make what waits, batch after batch, until nothing does."""
        try:
            while self._waiting:
                await gathering.gathered(self._waiting)
                if items := _taken(self._waiting):
                    await self._send(items, wait=False)
        finally:
            self._running = False

    def _put_aside(self, item: _Item) -> None:
        key = item.commit.change.session.key
        queue = self._aside.get(key)
        if queue is None:
            queue = self._aside[key] = deque()
            self._begin(self._send_aside(key, queue))
        queue.append(item)

    async def _send_aside(self, key: SessionKey, queue: _Queue) -> None:
        """Make the appends of one session, and wait for it."""
        try:
            while items := _taken(queue):
                await self._send(items, wait=True)
        finally:
            del self._aside[key]

    async def _send(self, items: list[_Item], *, wait: bool) -> None:
        """Make appends in one statement, and answer each; none fails for what another one is."""
        try:
            answers = await self._made(items, wait=wait)
        except Exception as error:  # noqa: BLE001 - each caller is told
            self._failed(items, error)
            return
        except BaseException:
            for item in items:
                if not item.answer.done():
                    item.answer.set_exception(Overloaded("The server is stopping."))
            raise
        for item, answer in zip(items, answers, strict=True):
            if item.answer.done():
                continue
            if answer["r_outcome"] == _PUT_ASIDE:
                self._put_aside(item)
            else:
                item.answer.set_result(answer)

    async def _made(self, items: list[_Item], *, wait: bool) -> list[asyncpg.Record]:
        if len(items) > 1:
            commits = [item.commit for item in items]
            return await self._statements.once(
                "append_batch", *commit_arguments.of_batch(commits, self._limits, wait=wait)
            )
        (item,) = items
        arguments = (*item.commit.arguments(self._limits), WAIT if wait else PUT_ASIDE_HELD)
        return [await self._statements.one("append", *arguments, may_be_made=item.may_be_made)]

    def _failed(self, items: list[_Item], error: Exception) -> None:
        """Ask again one by one where a batch was lost or undone; else the failure is everybody's."""
        told = error
        if isinstance(error, failures.NO_ROOM):
            told = not_made()
        elif len(items) > 1 and not isinstance(error, DatabaseUnavailable | Overloaded):
            for item in items:
                item.is_alone = True
                item.may_be_made = isinstance(error, failures.ConnectionLost)
                if not item.answer.done():
                    self._put_aside(item)
            return
        for item in items:
            if not item.answer.done():
                item.answer.set_exception(told)


def _taken(queue: _Queue) -> list[_Item]:
    """Take the next batch off a queue, without those whose caller has gone."""
    items: list[_Item] = []
    while queue and len(items) < ITEMS_MAX and not (items and (items[0].is_alone or queue[0].is_alone)):
        item = queue.popleft()
        if not item.answer.done():
            items.append(item)
    return items
