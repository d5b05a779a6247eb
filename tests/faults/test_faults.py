"""Every fault once in each of its ways, under traffic: whatever broke, calls work again, and no promise is broken.

`make faults` plays them for longer.
"""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from faults.runner import FAULTS, Stages, play

HOLD_SECONDS_MAX = 0.5
IN_ORDER = sorted(FAULTS, key=lambda name: FAULTS[name].needs)
"""What needs a stage of its own comes last."""


@pytest.fixture(scope="module")
async def stages() -> AsyncIterator[Stages]:
    made = Stages()
    yield made
    await made.close()


@pytest.mark.parametrize("name", IN_ORDER)
async def test_no_promise_is_broken_by(name: str, stages: Stages, folder: Path) -> None:
    report = await play(FAULTS[name], stages, folder, seed=secrets.randbelow(2**31), hold_max=HOLD_SECONDS_MAX)
    if report.skipped:
        pytest.skip(report.skipped)
    assert report.violations == [], f"seed {report.seed}"
    assert report.applied >= FAULTS[name].variants
    assert report.tally.acknowledged
