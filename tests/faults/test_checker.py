"""Every rule finds the history that breaks it, and a good one breaks none."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from faults.account import account_of
from faults.check import RULES, broken_rules, main
from faults.damages import Damaged, commit_in, of
from faults.history import Ended, Final, Logged, Opened, Record, line_of
from faults.recorder import Recorder
from faults.servers import Servers
from faults.short_story import short_story
from faults.traffic import Pace, Traffic
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import CALLER_ROLE_SYSTEM
from lockstitch_server.server_process import ServerProcess

Damage: TypeAlias = Callable[[Damaged], object]
HOUR = 3600 * 10**9


def _names(servers: tuple[ServerProcess, ServerProcess], tenant: str) -> Servers:
    targets = {name: server.target for name, server in zip("ab", servers, strict=True)}
    return Servers(targets, servers[0].token(tenant=tenant, user="engine-1", role="engine"))


@pytest.fixture(scope="module")
async def story(server_pair: tuple[ServerProcess, ServerProcess], session_folder: Path) -> list[Record]:
    return await short_story(session_folder / "story.jsonl", _names(server_pair, "storytellers"))


def test_a_good_history_breaks_no_rule(story: list[Record]) -> None:
    assert broken_rules(account_of(story)) == {}


async def test_traffic_on_whole_servers_breaks_no_rule(
    server_pair: tuple[ServerProcess, ServerProcess], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, pace = folder / "traffic.jsonl", Pace(rate=200, versions=60)
    with Recorder(path, seed=7) as recorder:
        async with Traffic(recorder, _names(server_pair, "traffic"), seed=7, pace=pace) as traffic:
            await traffic.more(500)
    code, told = main(path), capsys.readouterr().out
    assert code == 0, told
    assert told.splitlines()[-1] == "violations 0"


def _longest(d: Damaged, reader: str = "everything") -> Opened:
    """The stream of a reader that gave most."""
    return max(d.streams(reader), key=lambda stream: len(d.commits(stream)))


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


def a_commit_in_anothers_place(d: Damaged) -> None:
    d.edit_log(d.version_of("fenced"), of("unheard"))


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


def a_lease_renewed_after_a_takeover(d: Damaged) -> None:
    d.change(d.asked_for("RenewRun"), fence=d.asked("fenced").fence)


def a_takeover_of_a_live_lease(d: Damaged) -> None:
    told = d.told("run-3")
    assert told.lease is not None
    d.change(told, lease=told.lease + HOUR)


def a_write_on_a_closed_session(d: Damaged) -> None:
    d.edit_log(d.version_of("restore"), of("closed"))
    d.change(d.told("closed"), outcome="unknown", reason="")


def a_changed_text_in_the_log(d: Damaged) -> None:
    d.edit_log(d.version_of("fenced"), lambda commit: setattr(commit.messages[0].parts[0], "text", "not said"))


def a_split_commit_in_the_log(d: Damaged) -> None:
    d.edit_log(d.version_of("guarded"), lambda commit: commit.messages.pop())


def a_call_ended_otherwise_in_the_log(d: Damaged) -> None:
    d.edit_log(d.version_of("complete"), lambda commit: setattr(commit.tool_calls[0], "status", 5))


def a_receipt_with_another_seq(d: Damaged) -> None:
    d.change_receipt(d.told("fenced"), first_seq=1)


def an_answer_with_another_memory(d: Damaged) -> None:
    d.change(d.told("patch"), answer="0" * 16)


def a_change_answered_and_lost(d: Damaged) -> None:
    def edit(request: pb.UpdateMemoryRequest) -> None:
        request.change.merge_patch_json = '{"absent": 1}'

    d.ask_otherwise(d.asked("nothing"), edit, pb.UpdateMemoryRequest)


def a_message_changed_in_a_read(d: Damaged) -> None:
    rows = [list(row) for row in (d.told_of("ListMessages").seen or {})["messages"]]
    rows[0][2] = "0" * 16
    d.change_seen(d.told_of("ListMessages"), messages=rows)


def a_message_missing_in_a_read(d: Damaged) -> None:
    d.change_seen(d.told_of("ListMessages"), messages=(d.told_of("ListMessages").seen or {})["messages"][1:])


def a_memory_of_another_version(d: Damaged) -> None:
    d.change_seen(d.told_of("GetMemory"), memory="0" * 16)


def an_open_call_forgotten(d: Damaged) -> None:
    d.change_seen(d.told_of("GetContext"), open_tool_calls=[])


def a_read_of_a_version_that_never_was(d: Damaged) -> None:
    d.change_seen(d.told_of("ListMessages"), version=99)


def a_refusal_for_no_reason(d: Damaged) -> None:
    d.change(d.told("closed"), reason="RUN_ACTIVE")


def a_conflict_with_another_version(d: Damaged) -> None:
    told = d.told("conflict")
    d.change(told, details={**told.details, "last_seq": "77"})


def a_session_not_found_that_is_there(d: Damaged) -> None:
    d.change(d.told_of("GetMemory"), outcome="refused", seen=None, reason="SESSION_NOT_FOUND")


def a_frame_of_other_content(d: Damaged) -> None:
    d.change(d.commits(_longest(d))[0], digest="0" * 16)


def a_filtered_frame_with_more(d: Damaged) -> None:
    frame = d.commits(_longest(d, "spoken"))[0]
    d.change(frame, seqs=[1, *frame.seqs])


def a_frame_of_another_request(d: Damaged) -> None:
    d.change(d.commits(_longest(d))[0], request_id_hash="0" * 32)


def a_list_of_commits_with_a_hole(d: Damaged) -> None:
    rows = (d.told_of("ListCommits").seen or {})["commits"]
    d.change_seen(d.told_of("ListCommits"), commits=[rows[0], *rows[2:]])


def a_list_of_commits_of_the_past(d: Damaged) -> None:
    rows = (d.told_of("ListCommits").seen or {})["commits"]
    d.change_seen(d.told_of("ListCommits"), commits=rows[:3])


def a_reader_that_stopped(d: Damaged) -> None:
    last = d.version_of("run-3")
    for stream in d.streams("everything"):
        d.drop(*(frame for frame in d.frames(stream) if frame.version >= last))


def frames_out_of_order(d: Damaged) -> None:
    one, other = d.commits(_longest(d))[1:3]
    d.swap(one, other)


def a_doubled_frame(d: Damaged) -> None:
    frame = d.commits(_longest(d))[1]
    d.insert_behind(frame, replace(frame))


def a_missing_frame(d: Damaged) -> None:
    d.drop(d.commits(_longest(d))[1])


def a_split_frame(d: Damaged) -> None:
    frame = next(f for s in d.streams("everything") for f in d.commits(s) if len(f.seqs) > 1)
    d.change(frame, seqs=frame.seqs[:1], digest="0" * 16)


def a_wrong_resume(d: Damaged) -> None:
    stream = d.streams("everything")[-1]
    d.change(stream, after_version=stream.after_version - 1)


def a_bookmark_behind_what_was_given(d: Damaged) -> None:
    frame = d.commits(_longest(d))[2]
    d.insert_behind(frame, replace(frame, frame="heartbeat", version=frame.version - 1, seqs=[], digest=""))


BREAKS: dict[str, tuple[Damage, ...]] = {
    "log_was_read": (a_log_that_was_never_read, a_log_cut_short),
    "log_is_contiguous": (a_hole_in_the_log, a_version_twice_in_the_log),
    "acknowledged_versions_are_unique": (two_told_of_one_version,),
    "acknowledged_changes_are_in_the_log": (a_lost_commit, a_commit_in_anothers_place),
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
    "fenced_changes_hold_the_newest_grant": (a_fenced_write_after_a_takeover,),
    "leases_are_renewed_by_their_holder_alone": (a_lease_renewed_after_a_takeover,),
    "takeovers_wait_for_the_lease": (a_takeover_of_a_live_lease,),
    "changes_were_allowed": (a_write_on_a_closed_session,),
    "log_is_what_was_asked_for": (
        a_changed_text_in_the_log,
        a_split_commit_in_the_log,
        a_call_ended_otherwise_in_the_log,
    ),
    "answers_are_the_replay": (a_receipt_with_another_seq, an_answer_with_another_memory),
    "answers_without_a_commit_changed_nothing": (a_change_answered_and_lost,),
    "reads_are_the_replay": (
        a_message_changed_in_a_read,
        a_message_missing_in_a_read,
        a_memory_of_another_version,
        an_open_call_forgotten,
        a_read_of_a_version_that_never_was,
    ),
    "refusals_were_due": (
        a_refusal_for_no_reason,
        a_conflict_with_another_version,
        a_session_not_found_that_is_there,
    ),
    "frames_are_the_log": (a_frame_of_other_content, a_filtered_frame_with_more, a_frame_of_another_request),
    "listed_commits_are_the_log": (a_list_of_commits_with_a_hole, a_list_of_commits_of_the_past),
    "readers_reach_the_end": (a_reader_that_stopped,),
    "streams_are_ordered": (frames_out_of_order,),
    "streams_are_unique": (a_doubled_frame,),
    "streams_are_reliable": (a_missing_frame,),
    "streams_are_atomic": (a_split_frame,),
    "streams_are_resumable": (a_wrong_resume,),
    "streams_are_bookmarkable": (a_bookmark_behind_what_was_given,),
}


def test_every_rule_has_a_history_that_breaks_it() -> None:
    assert BREAKS.keys() == RULES.keys()


@pytest.mark.parametrize(
    ("rule", "damage"),
    [pytest.param(rule, damage, id=damage.__name__) for rule, all_of_it in BREAKS.items() for damage in all_of_it],
)
def test_a_damaged_history_is_reported_by_its_rule(story: list[Record], rule: str, damage: Damage) -> None:
    damaged = Damaged(story)
    damage(damaged)
    assert rule in broken_rules(account_of(damaged.records))


def test_a_line_that_a_crash_cut_off_is_passed_over(story: list[Record], folder: Path) -> None:
    path = folder / "cut.jsonl"
    whole = "".join(line_of(record) for record in story)
    path.write_text(whole + line_of(story[-1])[:-5], encoding="utf-8")
    assert main(path) == 0


def test_a_broken_history_is_told_by_its_rule(
    story: list[Record], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, path = Damaged(story), folder / "damaged.jsonl"
    a_doubled_frame(damaged)
    path.write_text("".join(line_of(record) for record in damaged.records), encoding="utf-8")
    assert main(path) == 1
    assert "streams_are_unique: 1" in capsys.readouterr().out
