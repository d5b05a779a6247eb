"""What a run of the suite found, for people and for programs."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from lockstitch_conformance.runner import Outcome, Run, Verdict
from lockstitch_conformance.suite import Category

MARKS = {Verdict.KEPT: "ok", Verdict.BROKEN: "BROKEN"}


def text_of(run: Run, categories: Sequence[Category]) -> str:
    """Give all checks by category, what is broken with what was found, and the count."""
    about = {category.name: category.about for category in categories}
    lines = [f"{run.target}: lockstitch {run.info.version}, schema {run.info.schema}"]
    for name, outcomes in groupby(run.outcomes, lambda outcome: outcome.check.category):
        lines += ["", f"{name}: {about[name]}"]
        for outcome in outcomes:
            lines += _lines(outcome)
    kept = len(run.outcomes) - len(run.broken)
    lines += ["", f"{kept} of {len(run.outcomes)} promises kept, in {run.seconds:.0f} s"]
    return "\n".join(lines) + "\n"


def json_of(run: Run) -> str:
    """Give the same for programs."""
    outcomes = [
        {
            "category": outcome.check.category,
            "name": outcome.check.name,
            "promise": outcome.check.promise,
            "verdict": outcome.verdict.value,
            "what": outcome.what,
            "seconds": round(outcome.seconds, 3),
        }
        for outcome in run.outcomes
    ]
    report: dict[str, Any] = {
        "target": run.target,
        "server_version": run.info.version,
        "schema": run.info.schema,
        "store_epoch": run.info.store_epoch,
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(run.seconds, 1),
        "kept": len(run.outcomes) - len(run.broken),
        "broken": len(run.broken),
        "checks": outcomes,
    }
    return json.dumps(report, indent=2) + "\n"


def _lines(outcome: Outcome) -> Iterator[str]:
    yield f"  {MARKS[outcome.verdict]:6} {outcome.check.name}: {outcome.check.promise}"
    if outcome.what:
        yield f"         found: {outcome.what}"
