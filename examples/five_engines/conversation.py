"""Lets an engine of each language take a turn of one conversation; each checks, byte for byte, what the others said.

    python examples/five_engines/conversation.py [LANGUAGE...]

The engines of the languages are built by `make -C client/LANGUAGE engine`; what this machine lacks the toolchain of, or
nobody has built, is named as SKIPPED. Python begins, and has the last word. Exits with 1 if something is wrong.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lockstitch import Client
from lockstitch_server.server_process import ServerProcess

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = [sys.executable, str(Path(__file__).with_name("engine.py"))]
SECONDS_MAX = 60


def engines(wanted: list[str]) -> dict[str, list[str]]:
    """What runs each language's engine; the missing ones are named, and those that were asked for must be there."""
    found = {"python": PYTHON}
    for makefile in sorted(REPOSITORY.glob("client/*/Makefile")):
        language = makefile.parent.name
        engine = makefile.parent / ".build/engine"
        if wanted and language not in wanted:
            continue
        if engine.is_file():
            found[language] = [str(engine)]
        elif wanted:
            sys.exit(
                f"{language}: there is no {engine.relative_to(REPOSITORY)}; `make -C client/{language} engine` makes it"
            )
        else:
            print(f"SKIPPED: {language}: no engine is built")
    if unknown := set(wanted) - set(found):
        sys.exit(f"no such languages: {', '.join(sorted(unknown))}")
    return found


async def create(target: str, token: str) -> str:
    """Create the session, and give its id."""
    async with Client(target, token=token) as client:
        return (await client.create(user_id="u1", agent="five-engines")).session_id


def converse(found: dict[str, list[str]]) -> None:
    """Let each language take its turn, and Python the last."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)  # where this runs as root, Postgres runs as somebody else
        server = ServerProcess.start(Path(folder) / "data")
        try:
            where = {"LOCKSTITCH_TARGET": server.target, "LOCKSTITCH_TOKEN": server.token()}
            session_id = asyncio.run(create(server.target, server.token()))
            for turn, language in enumerate([*found, "python"], 1):
                taken = subprocess.run(
                    [*found[language], "--session-id", session_id, "--turn", str(turn)],
                    env=os.environ | where,
                    stdout=subprocess.PIPE,
                    text=True,
                    timeout=SECONDS_MAX,
                    check=False,
                )
                if taken.returncode:
                    sys.exit(f"turn {turn}: {language}: exit code {taken.returncode}")
                told = json.loads(taken.stdout)
                if (told["turn"], told["language"]) != (turn, language):
                    sys.exit(f"turn {turn}: {language} said {told}")
                print(f"turn {turn}: {language}: all is as the others left it; version {told['version']}", flush=True)
        finally:
            server.stop()
    print(f"One conversation, {len(found)} languages: {', '.join(found)}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "languages", nargs="*", metavar="LANGUAGE", help="those that must take part; all that are built otherwise"
    )
    converse(engines(parser.parse_args().languages))
