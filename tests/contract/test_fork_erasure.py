"""An erasure names the forks that still hold what it erased, and reaches none of them."""

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from factories import CANCELLED, answered, called, keyed, replaced, said, texts_of
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import GetSessionResponse
from support.forking import Life, ledger, own, own_calls
from support.histories import paged, whole
from support.rpc import As, Create, Rpc, as_replayed, outcome


async def forks_at(engine: Rpc, source: str, *versions: int) -> dict[int, str]:
    return {
        version: (await engine.ForkSession(session_id=source, at_version=version)).session.session_id
        for version in versions
    }


async def erased_by(engine: Rpc, method: str, **asked: Any) -> list[str]:
    """Erase, ask again for the same, and give the forks that both answers name."""
    request = {"request_id": method, "erase_history": True} | asked
    first = await getattr(engine, method)(**request)
    source = asked["session"].session_id if "session" in asked else asked["session_id"]
    # What is forked from now on holds nothing of it, however old the version.
    for version in range(1, first.receipt.version + 1):
        await outcome(engine.ForkSession(session_id=source, at_version=version))
    again = await getattr(engine, method)(**request)
    assert again.receipt == as_replayed(first.receipt)
    assert list(again.forks) == list(first.forks)
    return list(first.forks)


async def test_a_changed_message_names_the_forks_made_since_it_came(engine: Rpc, create: Create) -> None:
    source = await create(messages=[said("one")])  # 1
    await engine.Append(session_id=source, messages=[said("secret", message_id="m")])  # 2
    await engine.Append(session_id=source, messages=[said("three")])  # 3
    forks = await forks_at(engine, source, 1, 2, 3)
    named = await erased_by(engine, "UpdateMessage", session_id=source, message_id="m", message=said("two"))  # 4
    assert named == sorted([forks[2], forks[3]])
    for version in (2, 3):
        assert "secret" in texts_of((await whole(engine, forks[version])).messages)
        assert "secret" in texts_of((await whole(engine, forks[version], 1)).messages)
    later = await forks_at(engine, source, 4)
    # Erased once more, it is only what came since that is.
    again = await erased_by(
        engine, "UpdateMessage", request_id="again", session_id=source, message_id="m", message=said("zwei")
    )
    assert later[4] in again
    assert not {*forks.values()} & {*again}
    # A change that erases nothing names nobody.
    assert not (await engine.UpdateMessage(session_id=source, message_id="m", message=said("deux"))).forks


async def test_removed_messages_name_the_forks_made_since_the_first_came(engine: Rpc, create: Create) -> None:
    source = await create(messages=[said("one")])
    await engine.Append(session_id=source, messages=[called("c", arguments='"secret"')])
    await engine.Append(session_id=source, messages=[answered("c", '"secret"')])
    forks = await forks_at(engine, source, 1, 3)
    named = await erased_by(engine, "RemoveMessages", session_id=source, last=2)
    assert named == [forks[3]]
    (call,) = await ledger(engine, forks[3])
    assert (call.arguments_json, call.result_json) == ('"secret"', '"secret"')


async def test_memory_names_the_forks_made_since_the_value_came(engine: Rpc, create: Create) -> None:
    source = await create(memory={"goal": "g"})
    await engine.UpdateMemory(session_id=source, change=keyed(secret='"s"'))
    await engine.Append(session_id=source, messages=[said("x")])
    forks = await forks_at(engine, source, 1, 2, 3)
    named = await erased_by(engine, "UpdateMemory", session_id=source, change=keyed("secret"))
    assert named == sorted([forks[2], forks[3]])
    for version in (2, 3):
        assert (await engine.GetMemory(session_id=forks[version])).memory.extra_json == '{"secret":"s"}'
    # A run's own memory is in no fork.
    run = (await engine.StartRun(session_id=source)).run
    fenced = {
        "session_id": source,
        "run_id": run.run_id,
        "fence": {"run_id": run.run_id, "fencing_token": run.fencing_token},
    }
    await engine.UpdateMemory(change=replaced(goal="secret"), **fenced)
    await engine.ForkSession(session_id=source)
    assert not (await engine.UpdateMemory(change=replaced(goal="g"), erase_history=True, **fenced)).forks


async def test_details_name_the_forks_made_since_they_came(engine: Rpc, create: Create) -> None:
    source = await create()
    for title in ("secret", "more"):
        await engine.UpdateSession(
            session=Session(session_id=source, title=title), update_mask=FieldMask(paths=["title"])
        )
    forks = await forks_at(engine, source, 1, 2, 3)
    named = await erased_by(
        engine,
        "UpdateSession",
        session=Session(session_id=source, title="t"),
        update_mask=FieldMask(paths=["title"]),
    )
    assert named == sorted([forks[2], forks[3]])
    assert (await engine.GetSession(session_id=forks[2])).session.title == "secret"


async def test_a_fork_of_what_was_erased_has_its_place_without_content(engine: Rpc, user: Rpc, create: Create) -> None:
    source = await create(messages=[said("one"), said("secret", message_id="m"), called("c", arguments='"secret"')])
    await engine.CompleteToolCall(session_id=source, call_id="c", result_json='"secret"')
    await engine.Append(session_id=source, messages=[said("five")])
    for seq in (2, 3, 4):
        (before,) = (await engine.ListMessages(session_id=source, after_seq=seq - 1, before_seq=seq + 1)).messages
        message = {2: said("two"), 3: called("c"), 4: answered("c")}[seq]
        await engine.UpdateMessage(session_id=source, message_id=before.message_id, message=message, erase_history=True)
    then = await whole(engine, source, 3)
    assert [message.erased for message in then.messages] == [False, True, True, True, False]
    forked = await engine.ForkSession(session_id=source, at_version=3)
    fork = forked.session.session_id
    assert (forked.session.last_seq, forked.session.message_count) == (5, 5)
    copies = [
        list((await whole(engine, fork)).messages),
        list((await whole(engine, fork, 1)).messages),
        await paged(engine.ListMessages, "messages", page_size=2, session_id=fork),
        await paged(engine.ListMessages, "messages", session_id=fork, show_removed=True),
    ]
    for copied in copies:
        assert [(message.seq, message.erased) for message in copied] == [
            (1, False),
            (2, True),
            (3, True),
            (4, True),
            (5, False),
        ]
        assert [(message.role, message.call_id) for message in copied] == [
            (message.role, message.call_id) for message in then.messages
        ]
        assert copied[1].message_id == "m"
        assert texts_of(copied) == ["one", "", "", "", "five"]
    (call,) = await ledger(engine, fork)
    assert (call.name, call.arguments_json, call.arguments_digest, call.result_json) == ("book", "", "", "")
    # Nothing of it is for a model.
    context = await user.GetContext(session_id=fork)
    assert texts_of(context.messages) == ["one", "five"]
    assert context.truncated
    # It goes on: erased places are changed and taken back like others, and stay erased in the fork's past.
    changed = await engine.UpdateMessage(session_id=fork, message_id="m", message=said("two"))
    assert not changed.message.erased
    removed = await engine.RemoveMessages(session_id=fork, last=3)
    assert [message.erased for message in removed.removed] == [True, True, False]
    assert [message.erased for message in (await whole(engine, fork, 1)).messages] == [False, True, True, True, False]
    again = (await engine.ForkSession(session_id=fork, at_version=1)).session
    assert again.message_count == 5
    assert texts_of((await whole(engine, again.session_id)).messages) == ["one", "", "", "", "five"]


async def test_an_open_call_whose_message_was_erased_ends_in_the_fork(engine: Rpc, create: Create) -> None:
    source = await create(messages=[called("c", arguments='"secret"')])
    (message,) = (await engine.ListMessages(session_id=source)).messages
    await engine.UpdateMessage(
        session_id=source, message_id=message.message_id, message=called("c"), erase_history=True
    )
    fork = (await engine.ForkSession(session_id=source, at_version=1)).session.session_id
    ended = await engine.CompleteToolCall(session_id=fork, call_id="c", status=CANCELLED)
    assert ended.tool_call.status == CANCELLED
    assert (await engine.Append(session_id=fork, messages=[said("on")])).receipt.version == 3


async def test_memory_and_details_that_were_erased_are_not_forked(engine: Rpc, create: Create) -> None:
    source = await create(memory={"goal": "secret", "extra_json": '{"k":1}'}, title="secret", metadata_json='"secret"')
    await engine.UpdateMemory(session_id=source, change={"merge_patch_json": '{"goal": null}'}, erase_history=True)
    await engine.UpdateSession(
        session=Session(session_id=source, title="t"),
        update_mask=FieldMask(paths=["title", "metadata_json"]),
        force=True,
        erase_history=True,
    )
    fork = (await engine.ForkSession(session_id=source, at_version=1)).session
    assert (fork.title, fork.metadata_json) == ("", "")
    memory = (await engine.GetMemory(session_id=fork.session_id)).memory
    assert (memory.goal, memory.extra_json, memory.version) == ("", '{"k":1}', 1)


async def test_a_fork_outlives_the_purge_of_its_source(engine: Rpc, call_as: As, create: Create) -> None:
    source = await create(messages=[said("one"), called("c")], memory={"goal": "g"}, title="t")
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    before, calls = await whole(engine, fork), await ledger(engine, fork)
    await call_as("admin", "admin").PurgeSession(session_id=source)
    assert await whole(engine, fork) == before
    assert await whole(engine, fork, 1) == before
    assert await ledger(engine, fork) == calls
    assert before.session.forked_from.session_id == source
    await engine.Append(session_id=fork, messages=[answered("c")])
    listed = (await engine.ListSessions(forked_from=source)).sessions
    assert [session.session_id for session in listed] == [fork]
    assert (await engine.ForkSession(session_id=fork)).session.message_count == 3


async def test_a_fork_made_while_its_source_is_erased_is_named_or_holds_nothing_of_it(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    for turn in range(12):
        source = await create(messages=[said("secret", message_id="m"), *[said("x")] * 40])

        async def fork(number: int, source: str = source) -> str:
            forked = await engines[number % 2].ForkSession(session_id=source, at_version=1)
            return str(forked.session.session_id)

        async def erase(source: str = source, turn: int = turn) -> list[str]:
            erased = await engines[turn % 2].UpdateMessage(
                session_id=source, message_id="m", message=said("clean"), erase_history=True
            )
            return list(erased.forks)

        before = await fork(turn)
        forking = [asyncio.create_task(fork(number)) for number in range(3)]
        erasing = asyncio.create_task(erase())
        forking += [asyncio.create_task(fork(number)) for number in range(3)]
        forks = [before, *await asyncio.gather(*forking)]
        named = await erasing
        after = await fork(turn)
        holding = [one for one in [*forks, after] if texts_of((await whole(engines[0], one)).messages)[0] == "secret"]
        assert before in holding
        assert after not in holding
        assert sorted(holding) == named


@dataclass
class ErasingLife(Life):
    """A random history that erases every other thing that it replaces."""

    def _change(self, now: GetSessionResponse) -> tuple[str, dict[str, Any]]:
        method, fields = super()._change(now)
        if method in {"UpdateMessage", "RemoveMessages", "UpdateMemory", "UpdateSession"}:
            fields["erase_history"] = self.random.random() < 0.5
        return method, fields


@pytest.mark.parametrize("seed", [4, 5, 9])
async def test_a_fork_shows_of_a_past_that_was_erased_what_the_past_shows(
    engines: tuple[Rpc, Rpc], create: Create, seed: int
) -> None:
    source = await create(messages=[said("first")], memory={"goal": "g"}, title="t")
    life = ErasingLife(engines, source, Random(seed))
    await life.make(50)
    erased = 0
    for version in life.whole_versions():
        then = await whole(engines[0], source, version)
        forked = await engines[1].ForkSession(session_id=source, at_version=version)
        assert (forked.session.title, forked.session.metadata_json) == (then.session.title, then.session.metadata_json)
        fork_id = forked.session.session_id
        copied = await ledger(engines[0], fork_id)
        # Those that ended, too, as far as they are still told of.
        assert [(call.call_id, call.status) for call in copied] == [
            (call.call_id, call.status) for call in life.ledgers[version]
        ]
        for at_version in (None, 1):
            fork = await whole(engines[0], fork_id, at_version)
            assert own(fork.messages) == own(then.messages)
            assert own_calls(fork.open_tool_calls, fork.messages) == own_calls(then.open_tool_calls, then.messages)
            assert fork.session.message_count == then.session.message_count
            for memory in (fork.memory, then.memory):
                memory.ClearField("version")
                memory.ClearField("erased")
            assert fork.memory == then.memory
        erased += any(message.erased for message in then.messages)
        # It lives on: whatever is left of it is changed, taken back and forked again.
        if version % 5 == 0:
            await ErasingLife(engines, fork_id, Random(seed)).make(5)
        again = await engines[0].ForkSession(session_id=fork_id)
        assert own((await whole(engines[1], again.session.session_id)).messages) == own(
            (await whole(engines[1], fork_id)).messages
        )
    assert erased
