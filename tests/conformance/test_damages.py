"""Where a promise is broken the suite says so, and where none is it says nothing."""

from collections.abc import Callable

import pytest

from lockstitch_conformance.categories import CATEGORIES
from lockstitch_conformance.runner import run_suite
from lockstitch_conformance.target import Target
from lockstitch_server.server_process import ServerProcess
from support import lies, lying_streams
from support.middleman import Middleman, standing

CHECKS = {check.full_name: check for category in CATEGORIES for check in category.checks}

# Each lie, and a check that must find it; the other checks of its category are made as well.
CAUGHT: dict[type[Middleman], str] = {
    lies.CommitsAgain: "replay/an-append",
    lies.TakesAnyContent: "replay/other-content",
    lies.SkipsAVersion: "versions/each-change-adds-one",
    lies.IgnoresVersions: "versions/one-of-many-wins",
    lies.IgnoresFences: "fences/old-tokens-write-nothing",
    lies.SwapsMessages: "order/a-batch-is-adjacent",
    lies.TrimsText: "fidelity/texts",
    lies.NormalisesText: "fidelity/texts",
    lies.ParsesJson: "fidelity/json-parts",
    lies.LetsStrangersRead: "isolation/reads-of-another-tenant",
    lies.LetsUsersBeEngines: "roles/users-speak-for-themselves",
    lies.WritesToClosedSessions: "lifecycle/closed",
    lies.TellsNoReason: "errors/what-is-missing",
    lies.LivesInThePresent: "history/as-it-was",
    lies.DropsTheLastOfAPage: "lists/messages",
    lies.KeepsTheFirstHalf: "limits/answers-are-cut",
    lies.ForgetsNulls: "memory/null-deletes",
    lies.EndsCallsAgain: "tool-calls/ends-once",
    lies.TiesForks: "forks/each-its-own-way",
    lies.TakesTheNewestPut: "checkpoints/latest",
    lying_streams.LosesACommit: "subscriptions/caught-up",
    lying_streams.DoublesACommit: "subscriptions/caught-up",
    lying_streams.SplitsACommit: "subscriptions/atomic",
    lying_streams.BeatsAhead: "subscriptions/bookmarks",
}


def test_each_category_has_a_lie_to_find() -> None:
    assert {CHECKS[name].category for name in CAUGHT.values()} == {category.name for category in CATEGORIES}


@pytest.mark.parametrize("lie", CAUGHT, ids=lambda lie: lie.__name__)
@pytest.mark.timeout(600)
async def test_what_is_broken_is_found(
    lie: type[Middleman], server: ServerProcess, target_of: Callable[[str], Target]
) -> None:
    found_by = CHECKS[CAUGHT[lie]]
    checks = [check for check in CHECKS.values() if check.category == found_by.category]
    async with standing(lie(server.target)) as address:
        run = await run_suite(target_of(address), checks)
    broken = {outcome.check.full_name: outcome.what for outcome in run.broken}
    assert broken[found_by.full_name], broken


@pytest.mark.timeout(900)
async def test_an_honest_middleman_breaks_nothing(server: ServerProcess, target_of: Callable[[str], Target]) -> None:
    async with standing(Middleman(server.target)) as address:
        run = await run_suite(target_of(address), list(CHECKS.values()))
    assert {outcome.check.full_name: outcome.what for outcome in run.broken} == {}
