import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lockstitch_server.server_process import ServerProcess

README = Path(__file__).parents[2] / "README.md"
PROGRAM_AND_OUTPUT = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
SECONDS_MAX = 60


def programs() -> list[tuple[str, str]]:
    return PROGRAM_AND_OUTPUT.findall(README.read_text())


def test_every_program_of_the_readme_says_what_it_prints() -> None:
    assert len(programs()) == README.read_text().count("```python") > 0


@pytest.mark.parametrize("number", range(len(programs())))
def test_a_program_of_the_readme_prints_what_it_says(lockstitch_server: ServerProcess, number: int) -> None:
    program, output = programs()[number]
    where = {"LOCKSTITCH_TARGET": lockstitch_server.target, "LOCKSTITCH_TOKEN": lockstitch_server.token()}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=os.environ | where,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == output


@pytest.mark.parametrize("page", [README, *sorted((README.parent / "docs").rglob("*.md"))], ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []
