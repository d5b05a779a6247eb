"""Histories whose changes break a promise: of versions, of request ids, of guards, of runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from faults.damages import Damaged, commit_in, of
from faults.history import Ended, Final, Logged
from lockstitch.v1.commit_pb2 import CALLER_ROLE_SYSTEM, Commit

Damage: TypeAlias = Callable[[Damaged], object]
HOUR = 3600 * 10**9


def a_log_that_was_never_read(d: Damaged) -> None:
    d.drop(*d.all(Final))


def a_log_cut_short(d: Damaged) -> None:
    d.drop(d.all(Logged)[-1])


def a_hole_in_the_log(d: Damaged) -> None:
    d.drop(d.logged(d.version_of("fenced")))


def a_version_twice_in_the_log(d: Damaged) -> None:
    logged = d.logged(d.version_of("fenced"))
    d.insert_behind(logged, replace(logged))


def two_told_of_one_version(d: Damaged) -> None:
    d.change_receipt(d.told("fenced"), version=d.version_of("guarded"))


def a_lost_commit(d: Damaged) -> None:
    last = d.version_of("call")
    d.drop(*d.all(Logged, lambda record: commit_in(record).version >= last))
    d.change(*d.all(Final), version=last - 1)


def a_lost_commit_and_another(d: Damaged) -> None:
    """A lost update: what was told last is not there, and the next one was told its version."""
    lost, version = d.told("fenced"), d.version_of("fenced")
    d.change_receipt(lost, version=version - 1)
    d.edit_log(version, of("unheard"))


def a_commit_in_anothers_place(d: Damaged) -> None:
    d.edit_log(d.version_of("fenced"), of("unheard"))


def a_replay_of_what_is_not_there(d: Damaged) -> None:
    d.change_receipt(d.told("nothing"), replayed=True)


def a_change_told_behind_its_version(d: Damaged) -> None:
    told = d.told("patch")
    d.change_receipt(told, version=d.version_of("fenced"))


def a_commit_nobody_asked_for(d: Damaged) -> None:
    d.edit_log(d.version_of("fenced"), of("somebody else's"))


def a_clients_commit_as_the_servers(d: Damaged) -> None:
    d.edit_log(d.version_of("fenced"), lambda commit: setattr(commit.principal, "role", CALLER_ROLE_SYSTEM))


def a_doubled_commit(d: Damaged) -> None:
    d.add_to_log(d.version_of("guarded"))


def an_unheard_commit_twice(d: Damaged) -> None:
    d.add_to_log(d.version_of("call") - 1)


def swapped_versions(d: Damaged) -> None:
    one, other = d.version_of("guarded"), d.version_of("patch")
    d.change_receipt(d.told("guarded"), version=other)
    d.change_receipt(d.told("patch"), version=one)
    d.edit_log(one, of("patch"))
    d.edit_log(other, of("guarded"))


def an_unchanged_answer_of_the_past(d: Damaged) -> None:
    d.change_receipt(d.told("close again"), version=d.version_of("patch"))


def a_stale_read(d: Damaged) -> None:
    d.change_seen(d.told_of("GetContext"), version=d.version_of("patch"))


def a_stale_conflict(d: Damaged) -> None:
    told = d.told("conflict")
    d.change(told, details={**told.details, "current_version": "3"})


def a_stream_opened_in_the_past(d: Damaged) -> None:
    frame = next(frame for frame in d.frames(d.streams("everything")[-1]) if frame.frame == "opened")
    d.change(frame, version=1)
    later = d.told("replace")
    d.change(d.streams("everything")[-1], at=later.at + 1)


def a_log_that_ends_before_what_was_told(d: Damaged) -> None:
    d.change(*d.all(Final), version=d.version_of("call"))


def a_commit_seen_too_soon(d: Damaged) -> None:
    d.change(d.asked("patch"), at=d.told("run-4").at + 1)


def another_receipt_for_a_replay(d: Damaged) -> None:
    d.change_receipt(d.told("guarded", 1), last_seq=99)


def another_answer_for_a_replay(d: Damaged) -> None:
    d.change(d.told("guarded", 1), answer="0" * 16)


def a_replay_that_says_it_is_none(d: Damaged) -> None:
    d.change_receipt(d.told("guarded", 1), replayed=False)


def a_replay_refused(d: Damaged) -> None:
    d.change(d.told("guarded", 1), outcome="refused", receipt=None, reason="VERSION_CONFLICT", code="ABORTED")


def a_refusal_with_a_trace(d: Damaged) -> None:
    d.change(d.told("unheard"), outcome="refused", reason="OVERLOADED")


def an_id_for_two_contents(d: Damaged) -> None:
    d.acknowledge(d.asked("guarded", 2), d.told("guarded"))


def a_guard_that_did_not_hold(d: Damaged) -> None:
    d.change(d.asked("guarded"), expected_version=0)


def a_guard_of_memory_that_did_not_hold(d: Damaged) -> None:
    d.change(d.asked("replace"), expected_memory_version=2)


def an_incident(d: Damaged) -> None:
    d.change(d.told("unheard"), code="INTERNAL", reason="INTERNAL")


def an_incident_of_a_stream(d: Damaged) -> None:
    d.change(d.all(Ended)[0], code="INTERNAL", reason="INTERNAL")


def a_token_granted_twice(d: Damaged) -> None:
    d.edit_log(d.version_of("run-2"), lambda commit: setattr(commit.run, "fencing_token", 1))


def a_grant_that_the_log_does_not_know(d: Damaged) -> None:
    told = d.told("run-2")
    assert told.grant is not None
    d.change(told, grant=(told.grant[0], 7))


def a_fenced_write_after_a_takeover(d: Damaged) -> None:
    d.edit_log(d.version_of("in time"), of("late"))
    d.acknowledge(d.asked("late"), d.told("in time"))


def a_commit_under_a_run_of_the_past(d: Damaged) -> None:
    run_id = (d.asked("fenced").fence or [""])[0]
    d.edit_log(d.version_of("in time"), lambda commit: setattr(commit, "run_id", run_id))


def a_lease_renewed_after_a_takeover(d: Damaged) -> None:
    d.change(d.asked_for("RenewRun"), fence=d.asked("fenced").fence)
    d.change(d.told_of("RenewRun"), grant=d.asked("fenced").fence)


def a_lease_renewed_for_another_run(d: Damaged) -> None:
    d.change(d.told_of("RenewRun"), grant=d.asked("fenced").fence)


def a_takeover_of_a_live_lease(d: Damaged) -> None:
    told = d.told("run-3")
    assert told.lease is not None
    d.change(told, lease=told.lease + HOUR)


def a_live_lease_that_the_server_ended(d: Damaged) -> None:
    def edit(commit: Commit) -> None:
        of("the server's")(commit)
        commit.principal.role = CALLER_ROLE_SYSTEM

    a_takeover_of_a_live_lease(d)
    d.edit_log(d.version_of("run-3") + 1, edit)


CHANGES: dict[str, tuple[Damage, ...]] = {
    "log_was_read": (a_log_that_was_never_read, a_log_cut_short),
    "log_is_contiguous": (a_hole_in_the_log, a_version_twice_in_the_log),
    "acknowledged_versions_are_unique": (two_told_of_one_version,),
    "acknowledged_changes_are_in_the_log": (
        a_lost_commit,
        a_lost_commit_and_another,
        a_commit_in_anothers_place,
        a_replay_of_what_is_not_there,
        a_change_told_behind_its_version,
    ),
    "every_commit_traces_to_a_request": (a_commit_nobody_asked_for, a_clients_commit_as_the_servers),
    "requests_have_one_commit": (a_doubled_commit,),
    "unknown_outcomes_happen_once_at_most": (an_unheard_commit_twice,),
    "real_time_is_respected": (swapped_versions, an_unchanged_answer_of_the_past),
    "reads_never_go_back": (
        a_stale_read,
        a_stale_conflict,
        a_stream_opened_in_the_past,
        a_log_that_ends_before_what_was_told,
    ),
    "nothing_is_seen_before_it_is_asked_for": (a_commit_seen_too_soon,),
    "replays_repeat_the_receipt": (another_receipt_for_a_replay, another_answer_for_a_replay),
    "replays_are_told": (a_replay_that_says_it_is_none, a_replay_refused),
    "refused_requests_leave_no_trace": (a_refusal_with_a_trace,),
    "reused_ids_are_refused": (an_id_for_two_contents,),
    "guarded_changes_follow_their_version": (a_guard_that_did_not_hold, a_guard_of_memory_that_did_not_hold),
    "no_call_fails_by_a_bug": (an_incident, an_incident_of_a_stream),
    "fencing_tokens_only_rise": (a_token_granted_twice, a_grant_that_the_log_does_not_know),
    "fenced_changes_hold_the_newest_grant": (a_fenced_write_after_a_takeover, a_commit_under_a_run_of_the_past),
    "leases_are_renewed_by_their_holder_alone": (a_lease_renewed_after_a_takeover, a_lease_renewed_for_another_run),
    "takeovers_wait_for_the_lease": (a_takeover_of_a_live_lease, a_live_lease_that_the_server_ended),
}
"""By the rule that finds it."""
