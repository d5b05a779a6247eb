"""Case A01: two writers, from two server processes, must not interleave one session."""

import asyncio
from typing import Any

import grpc

from factories import answered, called, said
from support.rpc import Create, Refusal, Rpc, outcome

ROUNDS = 200
AT_ONCE = 8


async def test_of_two_writers_at_one_version_exactly_one_wins_in_every_round(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    room = asyncio.Semaphore(AT_ONCE)

    async def one_round() -> None:
        async with room:
            await _round(engines, await create())

    await asyncio.gather(*(one_round() for _ in range(ROUNDS)))


async def _round(engines: tuple[Rpc, Rpc], session_id: str) -> None:
    batches = {"A": [called("ca"), answered("ca", '"A ok"')], "B": [called("cb"), answered("cb", '"B ok"')]}
    outcomes = await asyncio.gather(
        *(
            outcome(engine.Append(session_id=session_id, request_id=f"{name}-1", expected_version=1, messages=batch))
            for engine, (name, batch) in zip(engines, batches.items(), strict=True)
        )
    )
    won, lost = (0, 1) if isinstance(outcomes[1], Refusal) else (1, 0)
    answer, refused = outcomes[won], outcomes[lost]
    assert isinstance(refused, Refusal)
    assert not isinstance(answer, Refusal), outcomes
    assert refused.what == (grpc.StatusCode.ABORTED, "VERSION_CONFLICT")
    assert refused.metadata == {
        "expected_version": "1",
        "current_version": "2",
        "memory_version": "0",
        "last_seq": "2",
    }
    stored = await engines[0].ListMessages(session_id=session_id)
    assert (stored.as_of_version, [message.seq for message in stored.messages]) == (answer.receipt.version, [1, 2])

    names = list(batches)
    again = await engines[lost].Append(
        session_id=session_id,
        request_id=f"{names[lost]}-2",
        expected_version=int(refused.metadata["current_version"]),
        messages=batches[names[lost]],
    )
    stored = await engines[1].ListMessages(session_id=session_id)
    assert (stored.as_of_version, again.receipt.version) == (3, 3)
    order = {"A": ["ca", "ca"], "B": ["cb", "cb"]}
    assert [_call_id(message) for message in stored.messages] == order[names[won]] + order[names[lost]]


async def test_of_many_writers_at_one_version_exactly_one_wins(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create()
    outcomes = await asyncio.gather(
        *(
            outcome(engines[number % 2].Append(session_id=session_id, expected_version=1, messages=[said(str(number))]))
            for number in range(16)
        )
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert len(refused) == 15
    assert {each.reason for each in refused} == {"VERSION_CONFLICT"}
    assert (await engines[0].ListMessages(session_id=session_id)).as_of_version == 2


async def test_writers_without_a_version_are_each_stored_whole_and_adjacent(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    receipts = await asyncio.gather(
        *(
            engines[number % 2].Append(session_id=session_id, messages=[said(f"{number}.{part}") for part in range(3)])
            for number in range(20)
        )
    )
    assert sorted(answer.receipt.version for answer in receipts) == list(range(2, 22))
    stored = (await engines[0].ListMessages(session_id=session_id, page_size=100)).messages
    assert [message.seq for message in stored] == list(range(1, 61))
    batches = [[message.parts[0].text for message in stored[start : start + 3]] for start in range(0, 60, 3)]
    for batch in batches:
        number = batch[0].split(".")[0]
        assert batch == [f"{number}.{part}" for part in range(3)]


def _call_id(message: Any) -> str:
    (part,) = message.parts
    call_id: str = message.call_id or part.tool_call.call_id
    return call_id
