-- The statements of the background role.

-- name: sessions_to_sweep
-- Sessions that are due, of every tenant: some of the longest overdue, some of the shortest.
-- $1 limit
select *
from lockstitch.sessions_to_sweep_v1($1)

-- name: sweep_session
-- Does to a session what time has brought about.
-- $1 tenant, $2 session_key, $3 run_grace, $4 draft_idle
select *
from lockstitch.sweep_session_v1($1, $2, $3, $4)

-- name: put_off_sweep
-- Has a session looked at later.
-- $1 tenant, $2 session_key, $3 delay
select lockstitch.put_off_sweep_v1($1, $2, $3)

-- name: purge_session
-- Deletes all content of a session.
-- $1 tenant, $2 session_key, $3 session_id, $4 request, $5 force
select *
from lockstitch.purge_session_v1($1, $2, $3, $4, $5)

-- name: sessions_of_user
-- Some sessions of a user.
-- $1 tenant, $2 user, $3 limit
select *
from lockstitch.sessions_of_user_v1($1, $2, $3)

-- name: count_sessions
-- How many sessions a user or a tenant has, up to a bound.
-- $1 tenant, $2 user, $3 most
select lockstitch.count_sessions_v1($1, $2, $3) as sessions

-- name: count_sessions_of_user
-- How many sessions a user has.
-- $1 tenant, $2 user
select lockstitch.count_sessions_of_user_v1($1, $2) as sessions
