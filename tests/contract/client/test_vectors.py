from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from support.testbed import RunningTestbed, running_testbed
from support.vectors import Case, VectorRun, cases

CASES = cases()


@pytest.fixture(scope="module")
def testbed() -> Iterator[RunningTestbed]:
    with running_testbed() as running:
        yield running


# The same files are read by the tests of all languages; this is Python's turn.
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.name}")
async def test_the_client_does_what_the_vectors_say(testbed: RunningTestbed, case: Case) -> None:
    async with AsyncExitStack() as undo:
        await VectorRun(testbed, undo).play(case.steps)
