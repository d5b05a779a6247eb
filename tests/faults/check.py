"""Checks a recorded history, rule by rule: `python -m faults.check FILE`, from tests/."""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from faults import replay_rules, request_rules, run_rules, stream_rules, version_rules
from faults.account import Account, Whole, account_of
from faults.history import Record, records_in
from faults.tally import Tally, tally_of

Rule = Callable[[Account], Iterator[str]]
RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        version_rules.log_was_read,
        version_rules.log_is_contiguous,
        version_rules.acknowledged_versions_are_unique,
        version_rules.acknowledged_changes_are_in_the_log,
        version_rules.every_commit_traces_to_a_request,
        version_rules.requests_have_one_commit,
        version_rules.unknown_outcomes_happen_once_at_most,
        version_rules.real_time_is_respected,
        version_rules.reads_never_go_back,
        version_rules.nothing_is_seen_before_it_is_asked_for,
        request_rules.replays_repeat_the_receipt,
        request_rules.replays_are_told,
        request_rules.refused_requests_leave_no_trace,
        request_rules.reused_ids_are_refused,
        request_rules.guarded_changes_follow_their_version,
        request_rules.no_call_fails_by_a_bug,
        run_rules.fencing_tokens_only_rise,
        run_rules.fenced_changes_hold_the_newest_grant,
        run_rules.leases_are_renewed_by_their_holder_alone,
        run_rules.takeovers_wait_for_the_lease,
        replay_rules.changes_were_allowed,
        replay_rules.log_is_what_was_asked_for,
        replay_rules.answers_are_the_replay,
        replay_rules.answers_without_a_commit_changed_nothing,
        replay_rules.reads_are_the_replay,
        replay_rules.all_was_read_in_the_end,
        replay_rules.refusals_were_due,
        stream_rules.streams_go_as_told,
        stream_rules.frames_are_the_log,
        stream_rules.listed_commits_are_the_log,
        stream_rules.readers_reach_the_end,
    )
} | stream_rules.STREAM_GUARANTEES
"""Each rule looks at one session, and says what breaks it."""


def broken_rules(whole: Whole) -> dict[str, list[str]]:
    """What breaks which rule, each with its session; empty where all hold."""
    found: dict[str, list[str]] = {}
    for account in whole.accounts:
        for name, rule in RULES.items():
            found.setdefault(name, []).extend(f"{account.session}: {wrong}" for wrong in rule(account))
    return {name: wrong for name, wrong in found.items() if wrong}


def checked(records: Iterable[Record]) -> Tally:
    """Check a history, and count what is in it."""
    whole = account_of(records)
    return tally_of(whole, broken_rules(whole))


def main(path: Path) -> int:
    tally = checked(records_in(path))
    sys.stdout.write(tally.text() + "\n")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
