"""Python's engine of the five: takes one turn of the conversation, and checks all that the others left.

    LOCKSTITCH_TARGET=… LOCKSTITCH_TOKEN=… python examples/five_engines/engine.py --session-id S --turn N

client/README.md says what an engine does, in every language the same.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from datetime import timedelta

from lockstitch import (
    Client,
    JsonText,
    RunHandle,
    SessionHandle,
    VersionConflict,
    assistant,
    call,
    merge_patch,
    tool,
    user,
)
from lockstitch.types import Message, Role, ToolCallStatus

LANGUAGE = "python"
BIG = 9007199254740993123
"""More than a double holds."""

LEASE = timedelta(seconds=10)


class NotAsItMustBe(Exception):
    """What was read is not what the turns before left."""


def same(what: str, read: object, left: object) -> None:
    """Compare what was read with what it must be."""
    if read != left:
        raise NotAsItMustBe(f"{what}: {read!r} is not {left!r}")


def arguments(turn: int) -> str:
    """The arguments of a turn's tool call."""
    return rf'{{"turn":{turn},"big":{BIG},"nothing":"\u0000","e":1e3}}'


def turn_messages(turn: int, language: str) -> list[Message]:
    """What a turn adds."""
    answered = JsonText(f'{{"of":{turn - 1},"least":{-(2**63)}}}')
    before = [tool(f"call-{turn - 1}", answered)] if turn > 1 else []
    asked = call(f"call-{turn}", "count", arguments(turn))
    said = assistant(f"👩🏽‍🚀 turn {turn}", "", tool_calls=[asked], author=language)
    return [*before, user(f"Turn {turn}: what now?"), said]


def as_sent(message: Message) -> bytes:
    """A message without what the server adds, to be compared."""
    bare = Message(role=message.role, author=message.author, parts=message.parts, call_id=message.call_id)
    return bare.SerializeToString(deterministic=True)


def check_messages(messages: Sequence[Message], turns: int) -> list[str]:
    """Compare messages with what so many turns left, and give the languages that took them."""
    same("messages", len(messages), max(3 * turns - 1, 0))
    same("seqs", [message.seq for message in messages], list(range(1, len(messages) + 1)))
    languages = [message.author for message in messages if message.role == Role.ROLE_ASSISTANT]
    same("turns", len(languages), turns)
    left = [message for turn, language in enumerate(languages, 1) for message in turn_messages(turn, language)]
    for message, one in zip(messages, left, strict=True):
        same(f"message {message.seq}", as_sent(message), as_sent(one))
    return languages


def completed(languages: Sequence[str]) -> list[str]:
    """What memory says of the turns that these languages took."""
    return [f"turn {turn} by {language}" for turn, language in enumerate(languages, 1)]


async def check(run: RunHandle, turns: int) -> list[str]:
    """Read all there is of so many turns, compare it, and give the languages that took them."""
    languages = check_messages([message async for message in run.messages()], turns)
    memory = await run.memory()
    same("completed", list(memory.completed), completed(languages))
    same("next_action", memory.next_action, f"turn {turns + 1}" if turns else "")
    counts = json.loads(memory.extra_json or "{}")
    same("extra_json", counts, {f"count_{turn}": BIG for turn in range(1, turns + 1)})
    still_open = [one async for one in run.tool_calls(statuses=[ToolCallStatus.TOOL_CALL_STATUS_PENDING])]
    same("open calls", [one.call_id for one in still_open], [f"call-{turns}"] if turns else [])
    same("their arguments", [one.arguments_json for one in still_open], [arguments(turns)] if turns else [])
    return languages


async def follow(session: SessionHandle, up_to: int) -> list[Message]:
    """Follow the session from its beginning, and give the messages of its commits."""
    messages: list[Message] = []
    wanted = 1
    async for commit in session.subscribe(after_version=0):
        same("a commit's version", commit.version, wanted)
        messages += commit.messages
        wanted += 1
        if commit.version == up_to:
            break
    return messages


async def take_turn(client: Client, session_id: str, turn: int) -> int:
    """Take one turn, and give the version that it made."""
    await client.check_server()
    session = client.session(session_id)
    async with session.run(worker=LANGUAGE, lease=LEASE) as run:
        languages = [*await check(run, turn - 1), LANGUAGE]
        version = (await run.get()).session.version
        patch = {"completed": completed(languages), "next_action": f"turn {turn + 1}", f"count_{turn}": BIG}
        request_id = f"{LANGUAGE}-turn-{turn}"
        receipts = [
            await run.append(
                messages=turn_messages(turn, LANGUAGE),
                memory_change=merge_patch(patch),
                expected_version=version,
                request_id=request_id,
            )
            for _ in range(2)
        ]
        first, again = receipts
        same("replayed", [first.replayed, again.replayed], [False, True])
        places = [(receipt.version, receipt.first_seq, receipt.last_seq) for receipt in receipts]
        same("the replay's receipt", places[1], places[0])
        try:
            await run.append(messages=[user("too late")], expected_version=version)
        except VersionConflict as conflict:
            same("current_version", conflict.current_version, first.version)
        else:
            raise NotAsItMustBe("an append at an old version was stored")
        check_messages(await follow(session, first.version), turn)
        return first.version


async def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session-id", required=True)
    parser.add_argument("--turn", type=int, required=True)
    given = parser.parse_args()
    async with Client(os.environ["LOCKSTITCH_TARGET"], token=os.environ["LOCKSTITCH_TOKEN"]) as client:
        version = await take_turn(client, given.session_id, given.turn)
    print(json.dumps({"turn": given.turn, "language": LANGUAGE, "version": version}))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is one line for whoever runs the engines
        sys.exit(f"{type(error).__name__}: {error}")
