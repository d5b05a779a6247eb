-- The statements that change a session. The first four take what lockstitch.commit_v1 takes:
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 digest, $8 subject,
--     $9 principal_role, $10 traceparent, $11 expected_version, $12 expected_memory_version, $13 run_id,
--     $14 fencing_token, $15 force, $16 message_roles, $17 message_ids, $18 message_call_ids, $19 message_event_times,
--     $20 message_bodies, $21 op, $22 op_message, $23 op_part, $24 op_version, $25 op_position, $26 op_call_id,
--     $27 op_name, $28 op_arguments_digest, $29 op_status, $30 op_outcome_digest, $31 op_granted, $32 op_detail,
--     $33 op_arguments, $34 op_result, $35 allow_orphans, $36 memory_keys, $37 memory_values, $38 memory_key_versions,
--     $39 memory_scope, $40 memory_needs_guard, $41 memory_change, $42 memory_run_id, $43 create, $44 user, $45 agent,
--     $46 title, $47 label_keys, $48 label_values, $49 metadata, $50 expire_time, $51 ttl, $52 idle_ttl,
--     $53 session_messages_max, $54 memory_bytes_max, $55 erase, $56 finish_status, $57 finish_error, $58 is_draft, and of the first $59 put_aside

-- name: append
-- Makes a commit of messages, tool calls and memory.
select c.*
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44,
    $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, null, null, $55, $56, $57, $58, $59
) as c

-- name: append_batch
-- Makes commits of many appends. Each takes what the statement above takes, as elements of arrays, but memory and a run's end:
-- $1 tenants, $2 session_keys, $3 session_ids, $4 owners, $5 method, $6 requests, $7 digests, $8 subjects,
--     $9 principal_roles, $10 traceparents, $11 expected_versions, $12 run_ids, $13 fencing_tokens, $14 message_counts,
--     $15 message_roles, $16 message_ids, $17 message_call_ids, $18 message_event_times, $19 message_bodies, $20 op_counts,
--     $21 op, $22 op_message, $23 op_part, $24 op_version, $25 op_position, $26 op_call_id, $27 op_name,
--     $28 op_arguments_digest, $29 op_status, $30 op_outcome_digest, $31 op_granted, $32 op_detail, $33 op_arguments,
--     $34 op_result, $35 allow_orphans, $36 creates, $37 users, $38 agents, $39 session_messages_max, $40 wait
select b.*
from lockstitch.commit_batch_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40
) as b

-- name: create_session
-- Makes a session's first commit and gives the session as of it.
select
    c.*,
    s.*
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44,
    $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, null, null, $55, $56, $57, $58, 0::smallint
) as c
left join lateral lockstitch.session_at_v1($1, $2, c.r_version) as s on c.r_outcome in ('committed', 'replayed')

-- name: update_memory
-- Makes a commit of memory and gives the memory as of it.
select
    c.*,
    m.memory_keys,
    m.memory_values,
    m.memory_erased
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44,
    $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, null, null, $55, $56, $57, $58, 0::smallint
) as c
left join lateral lockstitch.memory_at_v1($1, $2, c.r_version, coalesce($42, '')) as m
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: change_tool_call
-- Makes a commit of one tool call, with its result's message, and gives the call as of it.
select
    c.*,
    t.*
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44,
    $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, null, null, $55, $56, $57, $58, 0::smallint
) as c
left join lateral lockstitch.tool_calls_at_v1(
    $1, $2, array[c.r_call_version], array[c.r_call_position], array[c.r_version], 16777216
) as t on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: set_status
-- Restores, closes, deletes or undeletes a session and gives the session as of it.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 digest, $8 subject, $9 principal_role,
--     $10 traceparent, $11 expected_version, $12 action, $13 close_reason, $14 expire_time, $15 ttl, $16 force,
--     $17 purge_after
select
    c.*,
    s.*
from lockstitch.set_status_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as c
left join lateral lockstitch.session_at_v1($1, $2, c.r_version) as s
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: remove_messages
-- Takes messages back, with a replacement or without, and gives what was taken, newest first.
-- $1 to $35 as above, $36 session_messages_max, $37 remove_last, $38 remove_from, $39 erase, $40 bytes_max
select
    c.*,
    m.*
from lockstitch.remove_messages_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39
) as c
left join lateral lockstitch.removed_messages_v1($1, $2, c.r_version, $40) as m on c.r_outcome in ('committed', 'replayed')

-- name: update_message
-- Changes a message in its place and gives it as of then.
-- $1 to $10 as above, $11 expected_version, $12 run_id, $13 fencing_token, $14 seq, $15 message_id, $16 role, $17 call_id,
--     $18 event_time, $19 body, $20 call_ids, $21 call_names, $22 call_digests, $23 call_parts, $24 result_status,
--     $25 outcome_digest, $26 erase
select
    c.*,
    m.seq as m_seq,
    m.version as m_version,
    m.role as m_role,
    m.message_id as m_id,
    m.call_id as m_call_id,
    m.create_time as m_create_time,
    m.bytes as m_bytes,
    m.body as m_body,
    m.run_id as m_run_id,
    m.removed_version as m_removed_version,
    m.erased as m_erased
from lockstitch.update_message_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26
) as c
left join lateral lockstitch.messages_of_commits_v1(
    $1, $2, case when c.r_outcome = 'unchanged' then 1 else c.r_version end, c.r_version, null, null, array[c.r_seq]
) as m on c.r_outcome in ('committed', 'replayed', 'unchanged')
order by m.version desc
limit 1

-- name: update_session
-- Changes a session's title, labels, metadata or life and gives it as of then.
-- $1 to $10 as above, $11 expected_version, $12 run_id, $13 fencing_token, $14 force, $15 needs_guard, $16 set_title,
--     $17 title, $18 set_labels, $19 label_keys, $20 label_values, $21 set_metadata, $22 metadata, $23 set_expire_time,
--     $24 expire_time, $25 set_idle_ttl, $26 idle_ttl, $27 erase
select
    c.*,
    s.*
from lockstitch.update_session_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $25, $26, $27
) as c
left join lateral lockstitch.session_at_v1($1, $2, c.r_version) as s
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: fork_session
-- Makes a session out of another one and gives it as of its first version.
-- $1 to $10 as above, $11 source_key, $12 source_id, $13 version, $14 title, $15 label_keys, $16 label_values,
--     $17 is_over_quota
select
    c.*,
    s.*
from lockstitch.fork_session_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as c
left join lateral lockstitch.session_at_v1($1, $2, c.r_version) as s on c.r_outcome in ('committed', 'replayed')
