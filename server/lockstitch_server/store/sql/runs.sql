-- The statements about runs.

-- name: start_run
-- Starts a run and gives it as it is then.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 method, $6 request, $7 digest, $8 subject, $9 principal_role,
--     $10 traceparent, $11 expected_version, $12 run_id, $13 worker, $14 lease, $15 on_busy,
--     $16 label_keys, $17 label_values, $18 sweep_grace
select
    c.*,
    r.*
from lockstitch.start_run_v1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18
) as c
left join lateral lockstitch.runs_by_id_v1($1, $2, array[c.r_run_id]) as r
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: change_run
-- Ends a run, or asks it to end, and gives it as it is then.
-- $1 to $10 likewise, $11 expected_version, $12 change, $13 run_id, $14 fencing_token, $15 run_status, $16 error
select
    c.*,
    r.*
from lockstitch.change_run_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) as c
left join lateral lockstitch.runs_by_id_v1($1, $2, array[c.r_run_id]) as r
    on c.r_outcome in ('committed', 'replayed', 'unchanged')

-- name: renew_runs
-- Renews leases of runs of any tenants and gives each run as it is then.
-- $1 tenants, $2 session_keys, $3 session_ids, $4 run_ids, $5 fencing_tokens, $6 leases
select *
from lockstitch.renew_runs_v1($1, $2, $3, $4, $5, $6)

-- name: run_memory
-- A run's own memory, now or as it was after a commit.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 run_id, $6 version
select *
from lockstitch.run_memory_v1($1, $2, $3, $4, $5, $6)

-- name: list_runs
-- A page of runs, the newest first; the first row is the session's.
-- $1 tenant, $2 session_key, $3 session_id, $4 owner, $5 run_id, $6 statuses, $7 before_token, $8 limit
select *
from lockstitch.list_runs_v1($1, $2, $3, $4, $5, $6, $7, $8)

-- name: runs_by_id
-- Runs, by their ids.
-- $1 tenant, $2 session_key, $3 run_ids
select *
from lockstitch.runs_by_id_v1($1, $2, $3)
