"""What bench/growth.py found when it ran last: a store of millions takes longer to fill than a run may take."""

import json
from pathlib import Path

from results import Figure, Measured, Missing, Target

FILE = Path(__file__).with_name("GROWTH.json")
SESSIONS, MESSAGES = 1_000_000, 20_000_000


async def recorded_growth() -> list[Measured]:
    """The worst of its ratios, where it filled as much as the target says."""
    if not FILE.is_file():
        return [Missing("growth_20m", "bench/growth.py was not run yet")]
    record = json.loads(FILE.read_text())
    worst = max(record["ratios"], key=lambda one: float(one["ratio"]))
    told = (
        f"{record['sessions']:,} sessions and {record['messages']:,} messages at {record['commit']}:"
        f" {worst['ratio']:.2f}, {worst['name']}"
    )
    if record["sessions"] < SESSIONS or record["messages"] < MESSAGES:
        return [Missing("growth_20m", f"bench/growth.py ran last with {told}")]
    return [Target("growth_20m", float(worst["ratio"])), Figure("growth, measured by bench/growth.py", told)]
