-- The statements that read.

-- name: get_session
-- A session with its newest messages, memory and tool calls, from one snapshot.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 messages, $6 memory, $7 open_calls, $8 ended_calls, $9 bytes_max,
--     $10 call_bytes_max, $11 last_run, $12 show_deleted
select *
from lockstitch.get_session_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: get_session_at
-- A session as it was after a commit, with its messages, memory and open tool calls of then.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 version, $6 messages, $7 memory, $8 open_calls, $9 bytes_max,
--     $10 call_bytes_max, $11 show_deleted
select *
from lockstitch.get_session_at_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: list_memory_versions
-- Working memory after the newest commits that changed it; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 run_id, $6 before_version, $7 limit, $8 bytes_max
select *
from lockstitch.list_memory_versions_v1($1, $2, $3, $4, $5, $6, $7, $8)

-- name: list_sessions
-- A page of sessions, the most recently used first; the first row is the list's.
-- $1 tenant, $2 user, $3 agent, $4 statuses, $5 label_keys, $6 label_values, $7 created_after, $8 created_before,
--     $9 active_after, $10 active_before, $11 cursor_minute, $12 cursor_time, $13 cursor_id, $14 limit, $15 scan_max,
--     $16 bytes_max, $17 show_deleted, $18 forked_from
select *
from lockstitch.list_sessions_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)

-- name: list_messages
-- A page of messages; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 after_seq, $6 before_seq, $7 event_after, $8 event_before,
--     $9 descending, $10 roles, $11 run_id, $12 limit, $13 scan_max, $14 bytes_max
select *
from lockstitch.list_messages_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: list_messages_with_removed
-- The same with removed messages in their places.
select *
from lockstitch.list_messages_with_removed_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: messages_of_commits
-- What a range of commits stored.
-- $1 tenant, $2 session_key, $3 first_version, $4 last_version, $5 first_seq, $6 last_seq, $7 updated_seqs
select
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
from lockstitch.messages_of_commits_v1($1, $2, $3, $4, $5, $6, $7) as m

-- name: list_tool_calls
-- A page of tool calls; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 statuses, $6 name, $7 run_id, $8 arguments_digest,
--     $9 after_version, $10 after_position, $11 limit, $12 bytes_max
select *
from lockstitch.list_tool_calls_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: tool_calls_at
-- Tool calls as they were after commits.
-- $1 tenant, $2 session_key, $3 requested_versions, $4 positions, $5 at, $6 bytes_max
select *
from lockstitch.tool_calls_at_v1($1, $2, $3, $4, $5, $6)

-- name: list_commits
-- A page of the log; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 after_version, $6 before_version, $7 descending, $8 limit, $9 bytes_max,
--     $10 show_deleted
select *
from lockstitch.list_commits_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: sessions_at
-- A session as it was after each of some commits.
-- $1 tenant, $2 session_key, $3 versions
select s.*
from unnest($3::bigint[]) as v (version)
cross join lateral lockstitch.session_at_v1($1, $2, v.version) as s

-- name: memory_keys
-- Named keys of a session's or a run's working memory, with their versions.
-- $1 tenant, $2 session_key, $3 run_id, $4 keys
select *
from lockstitch.memory_keys_v1($1, $2, $3, $4)

-- name: store_identity
-- What makes this store this store.
select
    s.store_epoch,
    s.page_token_secret,
    current_setting('server_version') as postgres_version,
    (select max(m.name) from lockstitch.migrations m) as schema
from lockstitch.store s

-- name: session_versions
-- The versions of sessions, and whether something is drafted in them, each tenant's under its own name.
-- $1 tenants, $2 session_keys
select v.session_key, v.version, v.is_drafting
from lockstitch.session_versions_v1($1, $2) as v

-- name: forks_of_erasure
-- Forks that were made since what a commit erased had come in.
-- $1 tenant, $2 session_key, $3 version
select lockstitch.forks_of_erasure_v1($1, $2, $3) as forks
