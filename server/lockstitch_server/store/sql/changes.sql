-- The statements that change a session. All of them take what lockstitch.commit_v1 takes:
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 digest, $8 subject,
--     $9 principal_role, $10 traceparent, $11 expected_version, $12 expected_memory_version, $13 force,
--     $14 message_roles, $15 message_ids, $16 message_call_ids, $17 message_event_times, $18 message_bodies, $19 op,
--     $20 op_message, $21 op_part, $22 op_version, $23 op_position, $24 op_call_id, $25 op_name,
--     $26 op_arguments_digest, $27 op_status, $28 op_outcome_digest, $29 op_granted, $30 op_detail,
--     $31 op_arguments, $32 op_result, $33 allow_orphans, $34 memory_keys, $35 memory_values, $36 memory_key_versions,
--     $37 memory_scope, $38 memory_needs_guard, $39 memory_change, $40 create, $41 user, $42 agent, $43 title,
--     $44 label_keys, $45 label_values, $46 metadata, $47 expire_time, $48 ttl, $49 idle_ttl,
--     $50 session_messages_max, $51 memory_bytes_max, $52 erase

-- name: append
-- Makes a commit of messages, tool calls and memory.
select c.*
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46,
    $47, $48, $49, $50, $51, null, null, $52
) as c

-- name: create_session
-- Makes a session's first commit and gives the session as of it.
select
    c.*,
    s.*
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46,
    $47, $48, $49, $50, $51, null, null, $52
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
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46,
    $47, $48, $49, $50, $51, null, null, $52
) as c
left join lateral lockstitch.memory_at_v1($1, $2, c.r_version) as m
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: change_tool_call
-- Makes a commit of one tool call, with its result's message, and gives the call as of it.
select
    c.*,
    t.*
from lockstitch.commit_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46,
    $47, $48, $49, $50, $51, null, null, $52
) as c
left join lateral lockstitch.tool_calls_at_v1(
    $1, $2, array[c.r_call_version], array[c.r_call_position], array[c.r_version], 16777216
) as t on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: set_status
-- Closes or restores a session and gives the session as of it.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 digest, $8 subject, $9 principal_role,
--     $10 traceparent, $11 expected_version, $12 status, $13 close_reason, $14 expire_time, $15 ttl
select
    c.*,
    s.*
from lockstitch.set_status_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) as c
left join lateral lockstitch.session_at_v1($1, $2, c.r_version) as s
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: remove_messages
-- Takes messages back, with a replacement or without, and gives what was taken, newest first.
-- $1 to $33 as above, $34 session_messages_max, $35 remove_last, $36 remove_from, $37 erase, $38 bytes_max
select
    c.*,
    m.*
from lockstitch.remove_messages_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37
) as c
left join lateral lockstitch.removed_messages_v1($1, $2, c.r_version, $38) as m on c.r_outcome in ('committed', 'replayed')

-- name: update_message
-- Changes a message in its place and gives it as of then.
-- $1 to $10 as above, $11 expected_version, $12 seq, $13 message_id, $14 role, $15 call_id, $16 event_time, $17 body,
--     $18 call_ids, $19 call_names, $20 call_digests, $21 call_parts, $22 result_status, $23 outcome_digest, $24 erase
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
    m.removed_version as m_removed_version,
    m.erased as m_erased
from lockstitch.update_message_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24
) as c
left join lateral lockstitch.messages_of_commits_v1(
    $1, $2, case when c.r_outcome = 'unchanged' then 1 else c.r_version end, c.r_version, null, null, array[c.r_seq]
) as m on c.r_outcome in ('committed', 'replayed', 'unchanged')
order by m.version desc
limit 1

-- name: update_session
-- Changes a session's title, labels, metadata or life and gives it as of then.
-- $1 to $10 as above, $11 expected_version, $12 force, $13 needs_guard, $14 set_title, $15 title, $16 set_labels,
--     $17 label_keys, $18 label_values, $19 set_metadata, $20 metadata, $21 set_expire_time, $22 expire_time,
--     $23 set_idle_ttl, $24 idle_ttl, $25 erase
select
    c.*,
    s.*
from lockstitch.update_session_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25
) as c
left join lateral lockstitch.session_at_v1($1, $2, c.r_version) as s
    on c.r_outcome in ('committed', 'replayed', 'unchanged')
