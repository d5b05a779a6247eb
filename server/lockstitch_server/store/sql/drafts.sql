-- The statements about drafts.

-- name: open_draft
-- Opens a draft, or finds it as far as it is written.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 expected_version, $8 expected_memory_version,
--     $9 run_id, $10 fencing_token, $11 draft_id, $12 role, $13 header, $14 idle
select *
from lockstitch.open_draft_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: add_draft_steps
-- Adds steps to drafts of any tenants.
-- $1 tenants, $2 session_keys, $3 requests, $4 offsets, $5 texts
select s.stored
from lockstitch.add_draft_steps_v1($1, $2, $3, $4, $5) as s (stored)

-- name: get_draft
-- What is stored of a draft.
-- $1 tenant, $2 session_key, $3 request
select *
from lockstitch.get_draft_v1($1, $2, $3)

-- name: list_drafts
-- The drafts of a session, each behind what is known of it.
-- $1 tenant, $2 session_key, $3 requests, $4 offsets, $5 bytes_max
select *
from lockstitch.list_drafts_v1($1, $2, $3, $4, $5)

-- name: touch_session
-- Says that a session is in use, without a commit.
-- $1 tenant, $2 session_key
select lockstitch.touch_session_v1($1, $2)
