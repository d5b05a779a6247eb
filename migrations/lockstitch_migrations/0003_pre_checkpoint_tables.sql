-- Why: checkpoints of executions, and where forks come from.
-- Locks: nothing that exists. Takes: less than a second.

-- Checkpoints by the caller's ids. What of its state it shares with others is named (value_channels and value_versions) and lies apart.
create table lockstitch.checkpoints (
    session_key uuid not null,
    version bigint not null,
    create_time timestamptz not null,
    tenant_id text collate "C" not null,
    namespace text collate "C" not null,
    checkpoint_id text collate "C" not null,
    parent_id text collate "C" not null,
    run_id text collate "C",
    format text not null,
    value_channels text[] not null,
    value_versions text[] not null,
    metadata bytea not null,
    data bytea not null,
    constraint checkpoints_pk primary key (session_key, namespace, checkpoint_id)
);

-- For lists of a tenant. All rows meet the condition, and only those lists name it: no plan that was made on empty tables takes this
-- index where the key serves.
create index checkpoints_by_id on lockstitch.checkpoints (tenant_id, checkpoint_id, session_key, namespace) where version > 0;

-- Parents come before their children, by their ids too; where they do not, a new checkpoint may close a circle.
create index checkpoints_of_later_parents on lockstitch.checkpoints (session_key, namespace, parent_id) where parent_id > checkpoint_id;

-- Parts of a state: a row a version, however many checkpoints share it.
create table lockstitch.checkpoint_values (
    session_key uuid not null,
    tenant_id text collate "C" not null,
    namespace text collate "C" not null,
    channel text collate "C" not null,
    value_version text collate "C" not null,
    format text not null,
    data bytea not null,
    constraint checkpoint_values_pk primary key (session_key, namespace, channel, value_version)
);

-- What tasks wrote that no checkpoint holds yet; it may be there before its checkpoint.
create table lockstitch.checkpoint_writes (
    session_key uuid not null,
    write_index integer not null,
    tenant_id text collate "C" not null,
    namespace text collate "C" not null,
    checkpoint_id text collate "C" not null,
    task_id text collate "C" not null,
    task_path text collate "C" not null,
    channel text collate "C" not null,
    format text not null,
    data bytea not null,
    constraint checkpoint_writes_pk primary key (session_key, namespace, checkpoint_id, task_id, write_index)
);

-- The second wall, as for the tables before.
alter table lockstitch.checkpoints enable row level security;
alter table lockstitch.checkpoints force row level security;
create policy checkpoints_of_tenant on lockstitch.checkpoints
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.checkpoint_values enable row level security;
alter table lockstitch.checkpoint_values force row level security;
create policy checkpoint_values_of_tenant on lockstitch.checkpoint_values
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

alter table lockstitch.checkpoint_writes enable row level security;
alter table lockstitch.checkpoint_writes force row level security;
create policy checkpoint_writes_of_tenant on lockstitch.checkpoint_writes
    using (tenant_id = nullif(current_setting('app.tenant', true), ''));

grant select, insert, update, delete on
    lockstitch.checkpoints,
    lockstitch.checkpoint_values,
    lockstitch.checkpoint_writes
to lockstitch_app, lockstitch_background;
