"""Histories whose answers, reads or streams show something else than what was asked for and is stored."""

from dataclasses import replace
from typing import Any

from faults.broken_changes import Damage
from faults.damages import Damaged, commit_in, of
from faults.digests import digest_of
from faults.history import Ended, Frame, Invoked, Opened, Returned
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.commit_pb2 import Commit


def _longest(d: Damaged, reader: str = "everything") -> Opened:
    """The stream of a reader that gave most."""
    return max(d.streams(reader), key=lambda stream: len(d.commits(stream)))


def _last(d: Damaged, method: str) -> Returned:
    return d.told_of(method, len(d.all(Invoked, lambda record: record.method == method)) - 1)


def a_write_on_a_closed_session(d: Damaged) -> None:
    d.edit_log(d.version_of("restore"), of("closed"))
    d.change(d.told("closed"), outcome="unknown", reason="")


def a_changed_text_in_the_log(d: Damaged) -> None:
    d.edit_log(d.version_of("fenced"), lambda commit: setattr(commit.messages[0].parts[0], "text", "not said"))


def a_split_commit_in_the_log(d: Damaged) -> None:
    d.edit_log(d.version_of("guarded"), lambda commit: commit.messages.pop())


def a_doubled_message_in_the_log(d: Damaged) -> None:
    def edit(commit: Commit) -> None:
        commit.messages.add().CopyFrom(commit.messages[0])
        commit.messages[-1].seq += 1

    d.edit_log(d.version_of("in time"), edit)


def a_memory_changed_otherwise_in_the_log(d: Damaged) -> None:
    d.edit_log(d.version_of("patch"), lambda commit: setattr(commit.memory, "merge_patch_json", "{}"))


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


def a_run_joined_that_had_ended(d: Damaged) -> None:
    d.change(d.told("joined"), grant=d.asked("fenced").fence)


def a_join_told_with_another_memory(d: Damaged) -> None:
    d.change_receipt(d.told("joined"), memory_version=1)


def a_message_changed_in_a_read(d: Damaged) -> None:
    rows = [list(row) for row in (d.told_of("ListMessages").seen or {})["messages"]]
    rows[0][2] = "0" * 16
    d.change_seen(d.told_of("ListMessages"), messages=rows)


def a_message_missing_in_a_read(d: Damaged) -> None:
    d.change_seen(d.told_of("ListMessages"), messages=(d.told_of("ListMessages").seen or {})["messages"][1:])


def a_memory_of_another_version(d: Damaged) -> None:
    d.change_seen(d.told_of("GetMemory"), memory="0" * 16)


def a_read_that_mixes_versions(d: Damaged) -> None:
    before = (d.told_of("GetMemory").seen or {})["memory"]
    d.change_seen(_last(d, "GetSession"), memory=before)


def a_newest_memory_that_is_an_earlier_one(d: Damaged) -> None:
    d.change_seen(_last(d, "GetMemory"), memory=(d.told_of("GetMemory").seen or {})["memory"])


def a_call_that_stands_otherwise_in_a_list(d: Damaged) -> None:
    told = _last(d, "ListToolCalls")
    d.change_seen(told, tool_calls=[[row[0], 5, row[2]] for row in (told.seen or {})["tool_calls"]])


def a_call_missing_in_a_list(d: Damaged) -> None:
    d.change_seen(_last(d, "ListToolCalls"), tool_calls=[])


def a_run_missing_in_a_list(d: Damaged) -> None:
    told = _last(d, "ListRuns")
    d.change_seen(told, runs=(told.seen or {})["runs"][1:])


def a_read_that_nobody_can_judge(d: Damaged) -> None:
    d.change(d.asked_for("ListRuns"), method="GetRun")


def an_open_call_forgotten(d: Damaged) -> None:
    d.change_seen(d.told_of("GetContext"), open_tool_calls=[])


def a_read_of_a_version_that_never_was(d: Damaged) -> None:
    d.change_seen(d.told_of("ListMessages"), version=99)


def an_end_that_nobody_read(d: Damaged) -> None:
    d.drop(d.asked_for("ListToolCalls"), _last(d, "ListToolCalls"))


def a_refusal_for_no_reason(d: Damaged) -> None:
    d.change(d.told("closed"), reason="RUN_ACTIVE")


def a_read_refused_as_if_it_were_a_change(d: Damaged) -> None:
    d.change(d.told_of("GetContext"), outcome="refused", seen=None, reason="SESSION_CLOSED")


def a_session_not_found_that_was_to_be_made(d: Damaged) -> None:
    asked = d.asked("first")
    told = Returned(at=asked.at + 1, op=-1, outcome="refused", reason="SESSION_NOT_FOUND")
    d.insert_behind(asked, replace(asked, op=-1, request_id="as well"), told)


def a_request_said_to_be_anothers_that_is_its_own(d: Damaged) -> None:
    d.change(d.told("guarded", 1), outcome="refused", receipt=None, reason="REQUEST_ID_REUSED")


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


def a_filtered_frame_with_nothing(d: Damaged) -> None:
    commit = commit_in(d.logged(d.version_of("patch")))
    frame = d.commits(_longest(d, "spoken"))[0]
    told: dict[str, Any] = {"request_id_hash": commit.request_id_hash.hex(), "digest": digest_of(commit)}
    d.insert_behind(frame, replace(frame, version=commit.version, seqs=[], **told))


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


def _first(d: Damaged, kind: str) -> Frame:
    return next(frame for stream in d.streams("everything") for frame in d.frames(stream) if frame.frame == kind)


def a_stream_that_does_not_say_where_it_stands(d: Damaged) -> None:
    d.drop(_first(d, "opened"))


def a_stream_that_opens_behind_its_cursor(d: Damaged) -> None:
    stream = d.streams("everything")[-1]
    d.change(stream, after_version=stream.after_version + 100)


def a_stream_that_catches_up_twice(d: Damaged) -> None:
    frame = _first(d, "caught_up")
    d.insert_behind(frame, replace(frame))


def a_stream_that_goes_on_behind_draining(d: Damaged) -> None:
    d.change(_first(d, "caught_up"), frame="draining")


def a_cursor_said_to_be_ahead_that_is_not(d: Damaged) -> None:
    d.change(_last_end(d), code="OUT_OF_RANGE", reason="CURSOR_AHEAD")


def a_history_said_to_be_truncated(d: Damaged) -> None:
    d.change(_last_end(d), code="OUT_OF_RANGE", reason="HISTORY_TRUNCATED")


def a_session_said_not_to_be_there(d: Damaged) -> None:
    d.change(_last_end(d), code="NOT_FOUND", reason="SESSION_NOT_FOUND")


def _last_end(d: Damaged) -> Ended:
    stream = d.streams("everything")[-1].stream
    return d.all(Ended, lambda record: record.stream == stream)[0]


def frames_out_of_order(d: Damaged) -> None:
    one, other = d.commits(_longest(d))[1:3]
    d.swap(one, other)


def a_doubled_frame(d: Damaged) -> None:
    frame = d.commits(_longest(d))[1]
    d.insert_behind(frame, replace(frame))


def a_missing_frame(d: Damaged) -> None:
    d.drop(d.commits(_longest(d))[1])


def a_missing_frame_of_a_filtered_stream(d: Damaged) -> None:
    stream = _longest(d, "spoken")
    d.drop(d.commits(stream)[0])


def a_split_frame(d: Damaged) -> None:
    frame = next(f for s in d.streams("everything") for f in d.commits(s) if len(f.seqs) > 1)
    d.change(frame, seqs=frame.seqs[:1], digest="0" * 16)


def a_wrong_resume(d: Damaged) -> None:
    stream = d.streams("everything")[-1]
    d.change(stream, after_version=stream.after_version - 1)


def a_bookmark_behind_what_was_given(d: Damaged) -> None:
    frame = d.commits(_longest(d))[2]
    d.insert_behind(frame, replace(frame, frame="heartbeat", version=frame.version - 1, seqs=[], digest=""))


VIEWS: dict[str, tuple[Damage, ...]] = {
    "changes_were_allowed": (a_write_on_a_closed_session,),
    "log_is_what_was_asked_for": (
        a_changed_text_in_the_log,
        a_split_commit_in_the_log,
        a_doubled_message_in_the_log,
        a_memory_changed_otherwise_in_the_log,
        a_call_ended_otherwise_in_the_log,
    ),
    "answers_are_the_replay": (a_receipt_with_another_seq, an_answer_with_another_memory),
    "answers_without_a_commit_changed_nothing": (
        a_change_answered_and_lost,
        a_run_joined_that_had_ended,
        a_join_told_with_another_memory,
    ),
    "reads_are_the_replay": (
        a_message_changed_in_a_read,
        a_message_missing_in_a_read,
        a_memory_of_another_version,
        a_read_that_mixes_versions,
        a_newest_memory_that_is_an_earlier_one,
        a_call_that_stands_otherwise_in_a_list,
        a_call_missing_in_a_list,
        a_run_missing_in_a_list,
        a_read_that_nobody_can_judge,
        an_open_call_forgotten,
        a_read_of_a_version_that_never_was,
    ),
    "all_was_read_in_the_end": (an_end_that_nobody_read,),
    "refusals_were_due": (
        a_refusal_for_no_reason,
        a_read_refused_as_if_it_were_a_change,
        a_session_not_found_that_was_to_be_made,
        a_request_said_to_be_anothers_that_is_its_own,
        a_conflict_with_another_version,
        a_session_not_found_that_is_there,
    ),
    "streams_go_as_told": (
        a_stream_that_does_not_say_where_it_stands,
        a_stream_that_opens_behind_its_cursor,
        a_stream_that_catches_up_twice,
        a_stream_that_goes_on_behind_draining,
        a_cursor_said_to_be_ahead_that_is_not,
        a_history_said_to_be_truncated,
        a_session_said_not_to_be_there,
    ),
    "frames_are_the_log": (
        a_frame_of_other_content,
        a_filtered_frame_with_more,
        a_filtered_frame_with_nothing,
        a_frame_of_another_request,
    ),
    "listed_commits_are_the_log": (a_list_of_commits_with_a_hole, a_list_of_commits_of_the_past),
    "readers_reach_the_end": (a_reader_that_stopped,),
    "streams_are_ordered": (frames_out_of_order,),
    "streams_are_unique": (a_doubled_frame,),
    "streams_are_reliable": (a_missing_frame, a_missing_frame_of_a_filtered_stream),
    "streams_are_atomic": (a_split_frame,),
    "streams_are_resumable": (a_wrong_resume,),
    "streams_are_bookmarkable": (a_bookmark_behind_what_was_given,),
}
"""By the rule that finds it."""
