-- Why: the first schema: sessions, their commits, messages, tool calls and memory, behind row-level security.
-- Locks: nothing that exists. Takes: less than a second.

do $$ begin
    create role lockstitch_app nologin;
exception when duplicate_object or unique_violation then null;
end $$;

do $$ begin
    create role lockstitch_background nologin;
exception when duplicate_object or unique_violation then null;
end $$;

grant usage on schema lockstitch to lockstitch_app, lockstitch_background;

-- What makes this store this store. One row; no tenant.
create table lockstitch.store (
    only_row boolean not null default true,
    store_epoch text not null,
    page_token_secret bytea not null,
    create_time timestamptz not null default now(),
    constraint store_pk primary key (only_row),
    constraint store_has_one_row check (only_row)
);

insert into lockstitch.store (store_epoch, page_token_secret)
values (
    replace(gen_random_uuid()::text, '-', ''),
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
);

-- The hot row: what every commit reads, locks and changes. No index on what every append changes, and room on the page for
-- the next version of the row, so that updates stay HOT. `activity_minute` changes at most once a minute.
create table lockstitch.sessions (
    session_key uuid not null,
    create_time timestamptz not null,
    version bigint not null,
    last_seq bigint not null,
    memory_version bigint not null,
    -- Of the newest run that was ever started; 0 before the first.
    fencing_token bigint not null,
    update_time timestamptz not null,
    last_activity_time timestamptz not null,
    message_count integer not null,
    memory_bytes integer not null,
    activity_minute integer not null,
    status smallint not null,
    expire_time timestamptz,
    idle_ttl interval,
    -- When the content of a deleted session goes.
    purge_time timestamptz,
    -- The run that has not ended.
    active_run_id text collate "C",
    -- What it is a fork of.
    forked_from_key uuid,
    forked_from_id text collate "C",
    forked_from_version bigint,
    tenant_id text collate "C" not null,
    user_id text collate "C" not null,
    session_id text collate "C" not null,
    agent text collate "C" not null,
    constraint sessions_pk primary key (session_key)
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
);

-- All rows, by a condition that lists name and lookups by key do not: every lookup names the tenant, and on a table that is small yet
-- an index by tenant looks as good as the key's own. A plan that was made then is kept while the tenant grows.
create index sessions_by_activity on lockstitch.sessions (tenant_id, activity_minute) where activity_minute >= 0;
create index sessions_by_user_activity on lockstitch.sessions (tenant_id, user_id, activity_minute) where activity_minute >= 0;

create index sessions_by_origin on lockstitch.sessions (forked_from_key, forked_from_version) where forked_from_key is not null;

-- What an append does not change. `version` is the commit that wrote the row; replaced rows move to the history.
create table lockstitch.session_details (
    session_key uuid not null,
    version bigint not null,
    status smallint not null,
    close_time timestamptz,
    expire_time timestamptz,
    idle_ttl interval,
    delete_time timestamptz,
    purge_time timestamptz,
    -- What an undeletion makes of it.
    status_before_delete smallint,
    tenant_id text collate "C" not null,
    title text not null,
    close_reason text not null,
    label_keys text[] not null,
    label_values text[] not null,
    metadata bytea not null,
    constraint session_details_pk primary key (session_key)
);

create table lockstitch.session_details_history (
    session_key uuid not null,
    version bigint not null,
    until_version bigint not null,
    status smallint not null,
    close_time timestamptz,
    expire_time timestamptz,
    idle_ttl interval,
    delete_time timestamptz,
    purge_time timestamptz,
    -- What an undeletion makes of it.
    status_before_delete smallint,
    tenant_id text collate "C" not null,
    title text not null,
    close_reason text not null,
    label_keys text[] not null,
    label_values text[] not null,
    metadata bytea not null,
    constraint session_details_history_pk primary key (session_key, version)
);

-- Labels once more, to list by: an index on arrays does not serve under row-level security.
create table lockstitch.session_labels (
    session_key uuid not null,
    tenant_id text collate "C" not null,
    label_key text collate "C" not null,
    label_value text collate "C" not null,
    constraint session_labels_pk primary key (session_key, label_key)
);

create index session_labels_by_value on lockstitch.session_labels (tenant_id, label_key, label_value, session_key);

-- The log: one row a version, which is also the record of its request_id.
create table lockstitch.commits (
    session_key uuid not null,
    version bigint not null,
    request_hash uuid not null,
    commit_time timestamptz not null,
    -- The session's values after it, so that a receipt and a session as it was are read off the row.
    last_seq bigint not null,
    memory_version bigint not null,
    -- Null where the commit itself was activity.
    last_activity_time timestamptz,
    message_count integer not null,
    -- How many messages it stored and how many tool calls it recorded.
    new_messages smallint not null,
    new_tool_calls smallint not null,
    method smallint not null,
    principal_role smallint not null,
    tenant_id text collate "C" not null,
    principal_subject text collate "C" not null,
    digest bytea not null,
    traceparent text,
    memory_change bytea,
    -- The message that it changed in its place, and the first and last of those that it removed.
    updated_seq bigint,
    removed_from bigint,
    removed_to bigint,
    -- Content of it was erased: its digest is empty then, and matches any request.
    erased boolean not null default false,
    -- It erased content of versions from this one on.
    erased_since bigint,
    -- (requested_version, position) of each earlier tool call that it changed, flattened.
    changed_tool_calls bigint[],
    -- The run it was made under; the one that it started, ended or asked to end; the one that it ended for that; and the one whose own
    -- memory it changed.
    run_id text collate "C",
    changed_run_id text collate "C",
    ended_run_id text collate "C",
    memory_run_id text collate "C",
    -- The checkpoints that it put, copied or deleted: the first thousand, and how many there were.
    checkpoint_count bigint,
    checkpoints_deleted boolean,
    checkpoint_namespaces text[],
    checkpoint_ids text[],
    checkpoint_bytes bigint[],
    constraint commits_pk primary key (session_key, version),
    constraint commits_request_id_once unique (session_key, request_hash)
);

-- The planner shall always expect many commits of one session. Where it expects one, as of sessions that are all young, the key's
-- index looks as good as request_id's for the lookup that every change makes, and may read a session's whole log each time.
alter table lockstitch.commits alter column session_key set (n_distinct = 10);

-- What a run's memory was is found by the commits that changed it.
create index commits_by_memory_run on lockstitch.commits (session_key, memory_run_id, version) where memory_run_id is not null;

-- Messages. `message_id` is a caller's own; the server's are a function of (session, seq) and are not stored.
create table lockstitch.messages (
    session_key uuid not null,
    seq bigint not null,
    version bigint not null,
    create_time timestamptz not null,
    event_time timestamptz,
    role smallint not null,
    tenant_id text collate "C" not null,
    message_id text collate "C",
    call_id text collate "C",
    run_id text collate "C",
    body bytea not null,
    constraint messages_pk primary key (session_key, seq)
);

create unique index messages_by_message_id on lockstitch.messages (session_key, message_id) where message_id is not null;

-- What messages were before they were changed or removed. An erased row keeps the message's place and loses its content.
create table lockstitch.messages_history (
    session_key uuid not null,
    seq bigint not null,
    version bigint not null,
    until_version bigint not null,
    create_time timestamptz not null,
    event_time timestamptz,
    role smallint not null,
    removed boolean not null,
    erased boolean not null default false,
    tenant_id text collate "C" not null,
    message_id text collate "C",
    call_id text collate "C",
    run_id text collate "C",
    body bytea not null,
    constraint messages_history_pk primary key (session_key, seq, version)
);

create index messages_history_by_message_id on lockstitch.messages_history (session_key, message_id)
    where message_id is not null;

-- Working memory: a row a top-level key, so that one changed key does not rewrite the rest. `version` is the commit that wrote it,
-- `run_id` the run whose own memory it is: empty for the session's.
create table lockstitch.memory (
    session_key uuid not null,
    version bigint not null,
    tenant_id text collate "C" not null,
    run_id text collate "C" not null,
    memory_key bytea not null,
    value bytea not null,
    constraint memory_pk primary key (session_key, run_id, memory_key)
);

create table lockstitch.memory_history (
    session_key uuid not null,
    version bigint not null,
    until_version bigint not null,
    tenant_id text collate "C" not null,
    run_id text collate "C" not null,
    memory_key bytea not null,
    value bytea not null,
    erased boolean not null default false,
    constraint memory_history_pk primary key (session_key, run_id, memory_key, version)
);

-- The ledger of tool calls, keyed by the commit that recorded the call and its place there. Arguments that a message holds and
-- results that a TOOL message holds are not stored twice: `message_seq` with `part_index`, and `result_seq`, say where they lie. The
-- columns `arguments` and `result` are for calls without such messages. `run_id` is the run that recorded it, `started_run_id` the one
-- that said it was RUNNING.
create table lockstitch.tool_calls (
    session_key uuid not null,
    requested_version bigint not null,
    position integer not null,
    part_index integer,
    version bigint not null,
    message_seq bigint,
    result_seq bigint,
    ended_version bigint,
    create_time timestamptz not null,
    start_time timestamptz,
    end_time timestamptz,
    status smallint not null,
    tenant_id text collate "C" not null,
    call_id text collate "C" not null,
    name text collate "C" not null,
    arguments_digest bytea not null,
    outcome_digest bytea,
    detail bytea not null,
    arguments bytea,
    result bytea,
    run_id text collate "C",
    started_run_id text collate "C",
    constraint tool_calls_pk primary key (session_key, requested_version, position)
);

create index tool_calls_by_call_id on lockstitch.tool_calls (session_key, call_id, requested_version, position);
create index tool_calls_open on lockstitch.tool_calls (session_key, requested_version, position) where status <= 3;

-- A commit that removes a result and stores another changes its call twice: the row between the two has an empty range.
create table lockstitch.tool_calls_history (
    session_key uuid not null,
    requested_version bigint not null,
    position integer not null,
    part_index integer,
    version bigint not null,
    until_version bigint not null,
    message_seq bigint,
    result_seq bigint,
    ended_version bigint,
    create_time timestamptz not null,
    start_time timestamptz,
    end_time timestamptz,
    status smallint not null,
    tenant_id text collate "C" not null,
    call_id text collate "C" not null,
    name text collate "C" not null,
    arguments_digest bytea not null,
    outcome_digest bytea,
    detail bytea not null,
    arguments bytea,
    result bytea,
    run_id text collate "C",
    started_run_id text collate "C",
    constraint tool_calls_history_pk primary key (session_key, requested_version, position, version, until_version)
);

-- The second wall: whoever calls, the owner too, sees the rows of the tenant that the transaction named, and none where it named none.
alter table lockstitch.sessions enable row level security;
alter table lockstitch.sessions force row level security;
create policy sessions_of_tenant on lockstitch.sessions
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.session_details enable row level security;
alter table lockstitch.session_details force row level security;
create policy session_details_of_tenant on lockstitch.session_details
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.session_details_history enable row level security;
alter table lockstitch.session_details_history force row level security;
create policy session_details_history_of_tenant on lockstitch.session_details_history
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.session_labels enable row level security;
alter table lockstitch.session_labels force row level security;
create policy session_labels_of_tenant on lockstitch.session_labels
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.commits enable row level security;
alter table lockstitch.commits force row level security;
create policy commits_of_tenant on lockstitch.commits
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.messages enable row level security;
alter table lockstitch.messages force row level security;
create policy messages_of_tenant on lockstitch.messages
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.messages_history enable row level security;
alter table lockstitch.messages_history force row level security;
create policy messages_history_of_tenant on lockstitch.messages_history
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.memory enable row level security;
alter table lockstitch.memory force row level security;
create policy memory_of_tenant on lockstitch.memory
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.memory_history enable row level security;
alter table lockstitch.memory_history force row level security;
create policy memory_history_of_tenant on lockstitch.memory_history
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.tool_calls enable row level security;
alter table lockstitch.tool_calls force row level security;
create policy tool_calls_of_tenant on lockstitch.tool_calls
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.tool_calls_history enable row level security;
alter table lockstitch.tool_calls_history force row level security;
create policy tool_calls_history_of_tenant on lockstitch.tool_calls_history
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

grant select on lockstitch.store, lockstitch.migrations to lockstitch_app, lockstitch_background;
grant select, insert, update, delete on
    lockstitch.sessions,
    lockstitch.session_details,
    lockstitch.session_labels,
    lockstitch.messages,
    lockstitch.memory,
    lockstitch.tool_calls
to lockstitch_app, lockstitch_background;
-- The log and the histories are written once; only an erasure changes them, and only a purge, which is not the app's, deletes them.
grant select, insert, update on
    lockstitch.commits,
    lockstitch.session_details_history,
    lockstitch.messages_history,
    lockstitch.memory_history,
    lockstitch.tool_calls_history
to lockstitch_app;
grant select, insert, update, delete on
    lockstitch.commits,
    lockstitch.session_details_history,
    lockstitch.messages_history,
    lockstitch.memory_history,
    lockstitch.tool_calls_history
to lockstitch_background;
