"""Two tabs write at the same version: one wins, the other is told, reads again and merges.

LOCKSTITCH_TARGET=127.0.0.1:50051 LOCKSTITCH_TOKEN=… python examples/two_tabs.py
"""

import asyncio
import os
import sys

from lockstitch import Client, VersionConflict, replace, user, working_memory


async def main() -> None:
    """Let two tabs write at version 3: one wins, the other is told, reads again and merges."""
    print("Two tabs have the same session open at version 3:")
    target, token = os.environ.get("LOCKSTITCH_TARGET", "127.0.0.1:50051"), os.environ["LOCKSTITCH_TOKEN"]
    async with Client(target, token=token) as left, Client(target, token=token) as right:
        made = await left.create(user_id="ada", memory=working_memory(plan=["pack"]))
        await made.append(messages=[user("I travel tomorrow.")])
        await made.append(messages=[user("To Oslo.")])
        tabs = {"left": await left.get(made.session_id), "right": await right.get(made.session_id)}
        check({tab.version for tab in tabs.values()} == {3}, "both see version 3")

        async def add_step(name: str, step: str) -> bool:
            tab = tabs[name]
            expected, memory = tab.version, await tab.memory()
            memory.plan.append(step)
            try:
                await tab.append(memory_change=replace(memory), expected_version=expected)
            except VersionConflict as conflict:
                print(
                    f"  {name}: expected {conflict.expected_version}, but the session is at {conflict.current_version}"
                )
                merged = (await tab.context()).memory
                merged.plan.append(step)
                await tab.append(memory_change=replace(merged), expected_version=tab.version)
                return False
            return True

        won = await asyncio.gather(add_step("left", "book a hotel"), add_step("right", "find the passport"))
        check(sorted(won) == [False, True], "one wins, the other is told")
        plan = list((await made.memory()).plan)
        check(sorted(plan) == ["book a hotel", "find the passport", "pack"], f"after its merge nothing is lost: {plan}")


def check(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Say that something holds, or end."""
    if not holds:
        sys.exit(f"  ✗ {what}")
    print(f"  ✓ {what}")


if __name__ == "__main__":
    asyncio.run(main())
