-- Why: runs and drafts of sessions, what time alone will change, and what remains of purged sessions.
-- Locks: nothing that exists. Takes: less than a second.

-- Runs: one at a time a session, told apart by tokens that rise. `lease_expire_time` is that of the grant; a run that is not ended has its
-- present one in run_leases. A fenced run was ended by somebody else than its holder.
create table lockstitch.runs (
    session_key uuid not null,
    fencing_token bigint not null,
    started_version bigint not null,
    ended_version bigint,
    cancel_version bigint,
    memory_version bigint not null,
    start_time timestamptz not null,
    end_time timestamptz,
    lease_expire_time timestamptz not null,
    memory_bytes integer not null,
    status smallint not null,
    fenced boolean not null default false,
    tenant_id text collate "C" not null,
    run_id text collate "C" not null,
    worker text not null,
    error bytea not null,
    label_keys text[] not null,
    label_values text[] not null,
    constraint runs_pk primary key (session_key, run_id)
);

create unique index runs_by_token on lockstitch.runs (session_key, fencing_token);

-- The lease of the run that is not ended: what a renewal changes, and all that it locks.
create table lockstitch.run_leases (
    session_key uuid not null,
    fencing_token bigint not null,
    lease_expire_time timestamptz not null,
    tenant_id text collate "C" not null,
    constraint run_leases_pk primary key (session_key)
) with (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);

-- Sessions that time alone will change, and when to look at them: not later than the change is due, and often before, since activity
-- moves what is due and not this.
create table lockstitch.sweeps (
    session_key uuid not null,
    sweep_after timestamptz not null,
    tenant_id text collate "C" not null,
    constraint sweeps_pk primary key (session_key)
);

create index sweeps_by_time on lockstitch.sweeps (sweep_after);

-- Messages whose text is being generated: by the request_id that will commit them, with all of the message but its text.
create table lockstitch.drafts (
    session_key uuid not null,
    request_hash uuid not null,
    step_time timestamptz not null,
    role smallint not null,
    tenant_id text collate "C" not null,
    draft_id text collate "C" not null,
    run_id text collate "C",
    header bytea not null,
    constraint drafts_pk primary key (session_key, request_hash)
);

-- Their text so far: inserted, and deleted by the commit.
create table lockstitch.draft_steps (
    session_key uuid not null,
    request_hash uuid not null,
    start_offset bigint not null,
    step_time timestamptz not null,
    tenant_id text collate "C" not null,
    text bytea not null,
    constraint draft_steps_pk primary key (session_key, request_hash, start_offset)
);

-- What is left of sessions whose content is gone: that their ids are taken.
create table lockstitch.purged_sessions (
    session_key uuid not null,
    request_hash uuid not null,
    purge_time timestamptz not null,
    tenant_id text collate "C" not null,
    constraint purged_sessions_pk primary key (session_key)
);

-- The second wall, as for the tables before.
alter table lockstitch.runs enable row level security;
alter table lockstitch.runs force row level security;
create policy runs_of_tenant on lockstitch.runs
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.run_leases enable row level security;
alter table lockstitch.run_leases force row level security;
create policy run_leases_of_tenant on lockstitch.run_leases
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.sweeps enable row level security;
alter table lockstitch.sweeps force row level security;
create policy sweeps_of_tenant on lockstitch.sweeps
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.drafts enable row level security;
alter table lockstitch.drafts force row level security;
create policy drafts_of_tenant on lockstitch.drafts
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.draft_steps enable row level security;
alter table lockstitch.draft_steps force row level security;
create policy draft_steps_of_tenant on lockstitch.draft_steps
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.purged_sessions enable row level security;
alter table lockstitch.purged_sessions force row level security;
create policy purged_sessions_of_tenant on lockstitch.purged_sessions
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

-- What looks for sessions that are due sees when, of every tenant, and nothing else of them.
create policy sweeps_of_all on lockstitch.sweeps for select to lockstitch_background using (true);

grant select, insert, update, delete on
    lockstitch.run_leases,
    lockstitch.drafts,
    lockstitch.draft_steps
to lockstitch_app, lockstitch_background;
-- What is swept or purged is deleted by whoever does that.
grant select, insert, update on lockstitch.runs, lockstitch.sweeps to lockstitch_app;
grant select, insert, update, delete on lockstitch.runs, lockstitch.sweeps to lockstitch_background;
grant select on lockstitch.purged_sessions to lockstitch_app;
grant select, insert on lockstitch.purged_sessions to lockstitch_background;
