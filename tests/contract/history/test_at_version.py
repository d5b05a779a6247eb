"""A session as it was after any of its commits, and a log that gives it when it is replayed."""

from random import Random
from typing import Any

import pytest

from factories import said
from lockstitch.v1.commit_pb2 import Commit
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import GetSessionResponse
from lockstitch.v1.tool_call_pb2 import ToolCall
from support.histories import History, paged, whole
from support.rpc import Create, Rpc, field_refused, refusal

SEEDS = (1, 2, 109)
CHANGES = 60


async def made(engines: tuple[Rpc, Rpc], create: Create, seed: int) -> History:
    session_id = await create(messages=[said("first")], labels={"l": "0"}, memory={"goal": "g"}, title="t")
    history = History(engines, session_id, Random(seed))
    await history.make(CHANGES)
    assert history.changes > CHANGES / 3, history.refused
    return history


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_version_is_read_as_it_was_right_after_its_commit(
    engines: tuple[Rpc, Rpc], create: Create, seed: int
) -> None:
    history = await made(engines, create, seed)
    for version, then in history.seen.items():
        reader = engines[version % 2]
        assert await whole(reader, history.session_id, version) == then
        memory = (await reader.GetMemory(session_id=history.session_id, at_version=version)).memory
        assert memory == then.memory
        newest = await reader.GetSession(session_id=history.session_id, recent_messages=2, at_version=version)
        assert list(newest.messages) == list(then.messages[-2:])
        assert not newest.HasField("memory")
        assert not newest.open_tool_calls


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_log_replayed_gives_every_version(engines: tuple[Rpc, Rpc], create: Create, seed: int) -> None:
    history = await made(engines, create, seed)
    log = engines[1].ListCommits
    commits: list[Commit] = await paged(log, "commits", page_size=7, session_id=history.session_id)
    assert [commit.version for commit in commits] == sorted(history.seen)
    assert not any(commit.erased for commit in commits)
    backwards = await paged(log, "commits", page_size=1, session_id=history.session_id, descending=True)
    assert backwards[::-1] == commits

    replay = Replay()
    for commit in commits:
        replay.take(commit)
        replay.equals(history.seen[commit.version])


async def test_memory_versions_are_the_memories_that_were_seen(engines: tuple[Rpc, Rpc], create: Create) -> None:
    history = await made(engines, create, 77)
    seen = [then.memory for _, then in sorted(history.seen.items(), reverse=True) if then.memory.version > 0]
    expected = [memory for place, memory in enumerate(seen) if place == 0 or memory.version != seen[place - 1].version]
    assert len(expected) > 3
    for size in (1, 2, 50):
        listed = await paged(engines[1].ListMemoryVersions, "memories", page_size=size, session_id=history.session_id)
        assert listed == expected


async def test_a_version_that_never_was_is_refused(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("first")])
    for method in (engine.GetSession, engine.GetMemory):
        assert await method(session_id=session_id, at_version=1)
        ahead = await refusal(method(session_id=session_id, at_version=2))
        assert (ahead.code.name, ahead.reason) == ("OUT_OF_RANGE", "CURSOR_AHEAD")
        assert (await refusal(method(session_id=session_id, at_version=2**63 - 1))).reason == "CURSOR_AHEAD"
        for never in (0, -1, -(2**63)):
            assert await field_refused(method(session_id=session_id, at_version=never)) == "at_version"


async def test_the_past_of_somebody_elses_session_is_not_found(engine: Rpc, user: Rpc, create: Create) -> None:
    theirs = await create(user_id="u2", messages=[said("theirs")])
    for asked, method in ((user, "GetSession"), (user, "GetMemory")):
        for version in (1, 2):
            foreign = await refusal(getattr(asked, method)(session_id=theirs, at_version=version))
            unknown = await refusal(getattr(asked, method)(session_id="never-was", at_version=version))
            assert foreign == unknown
            assert foreign.reason == "SESSION_NOT_FOUND"
    assert (await refusal(user.ListMemoryVersions(session_id=theirs))).reason == "SESSION_NOT_FOUND"
    assert (await engine.GetSession(session_id=theirs, at_version=1)).session.user_id == "u2"


class Replay:
    """What a reader of the log knows of a session."""

    def __init__(self) -> None:
        self.session = Session()
        self.messages: dict[int, Message] = {}
        self.calls: dict[str, ToolCall] = {}
        self.memory_version = 0

    def take(self, commit: Commit) -> None:
        if commit.HasField("session"):
            self.session.CopyFrom(commit.session)
        for removed in commit.removed:
            for seq in range(removed.first_seq, removed.last_seq + 1):
                gone = self.messages.pop(seq, None)
                for tool_call_id in [
                    i for i, call in self.calls.items() if gone and call.message_id == gone.message_id
                ]:
                    del self.calls[tool_call_id]
        for message in commit.messages:
            assert (message.version, message.removed_version) == (commit.version, 0)
            self.messages[message.seq] = message
        for call in commit.tool_calls:
            self.calls[call.tool_call_id] = call
        if commit.HasField("memory"):
            self.memory_version = commit.version

    def equals(self, then: GetSessionResponse) -> None:
        assert [self.messages[seq] for seq in sorted(self.messages)] == list(then.messages)
        known = {call.tool_call_id: bare(call) for call in self.calls.values() if call.status <= 3}
        assert known == {call.tool_call_id: bare(call) for call in then.open_tool_calls}
        assert self.memory_version == then.session.memory_version
        for name in ("title", "labels", "metadata_json", "idle_ttl", "status", "close_reason", "close_time"):
            assert getattr(self.session, name) == getattr(then.session, name), name


def bare(call: ToolCall) -> Any:
    """A call without what a commit leaves to its messages."""
    shown = ToolCall.FromString(call.SerializeToString())
    shown.ClearField("arguments_json")
    return shown
