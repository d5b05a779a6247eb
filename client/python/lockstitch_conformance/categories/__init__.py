"""All checks, by category."""

from lockstitch_conformance.categories import (
    checkpoints,
    errors,
    fences,
    fidelity,
    forks,
    history,
    isolation,
    lifecycle,
    limits,
    lists,
    memory,
    order,
    replay,
    roles,
    subscriptions,
    tool_calls,
    versions,
)

CATEGORIES = tuple(
    module.CATEGORY
    for module in (
        versions,
        replay,
        order,
        history,
        lifecycle,
        memory,
        tool_calls,
        fences,
        subscriptions,
        isolation,
        roles,
        fidelity,
        limits,
        lists,
        errors,
        forks,
        checkpoints,
    )
)
"""In the order of a report."""
