-- Runs of a session, with their present leases.
create function lockstitch.run_rows_v1(p_tenant text, p_session_key uuid)
returns table (
    run_id text, fencing_token bigint, started_version bigint, ended_version bigint, cancel_version bigint, start_time timestamptz,
    end_time timestamptz, granted_until timestamptz, renewed_until timestamptz, status smallint, worker text, error bytea,
    label_keys text[], label_values text[]
) language sql stable as $$
    select r.run_id, r.fencing_token, r.started_version, r.ended_version, r.cancel_version, r.start_time, r.end_time,
        r.lease_expire_time, l.lease_expire_time, r.status, r.worker, r.error, r.label_keys, r.label_values
    from lockstitch.runs r
    left join lockstitch.run_leases l
        on l.session_key = p_session_key and l.tenant_id = p_tenant and l.fencing_token = r.fencing_token
    where r.session_key = p_session_key and r.tenant_id = p_tenant
$$;

-- The named runs of a session, for commits, replays and GetRun. Volatile, so that it sees what an earlier part of its statement wrote.
create function lockstitch.runs_by_id_v1(p_tenant text, p_session_key uuid, p_run_ids text[])
returns table (
    run_id text, fencing_token bigint, started_version bigint, ended_version bigint, cancel_version bigint, start_time timestamptz,
    end_time timestamptz, granted_until timestamptz, renewed_until timestamptz, status smallint, worker text, error bytea,
    label_keys text[], label_values text[]
) language plpgsql volatile as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select r.*
        from lockstitch.run_rows_v1(p_tenant, p_session_key) as r
        where r.run_id = any(p_run_ids);
end
$$;

-- A page of a session's runs, the newest first, before a token; p_run_id gives that one alone. The first row says whether the session is
-- there for the caller (run_id null).
create function lockstitch.list_runs_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_run_id text, p_statuses smallint[],
    p_before_token bigint, p_limit integer
) returns table (
    run_id text, fencing_token bigint, started_version bigint, ended_version bigint, cancel_version bigint, start_time timestamptz,
    end_time timestamptz, granted_until timestamptz, renewed_until timestamptz, status smallint, worker text, error bytea,
    label_keys text[], label_values text[]
) language plpgsql stable set plan_cache_mode = force_custom_plan as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    if lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false) is null then
        return;
    end if;
    return next;
    return query
        select r.*
        from lockstitch.run_rows_v1(p_tenant, p_session_key) as r
        where r.fencing_token < p_before_token
            and (p_run_id is null or r.run_id = p_run_id)
            and (p_statuses is null or r.status = any(p_statuses))
        order by r.fencing_token desc
        limit p_limit;
end
$$;

-- A run's own memory, now or as it was after the commit p_version. r_outcome: 'found', or what was not.
create function lockstitch.run_memory_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_run_id text, p_version bigint,
    out r_outcome text, out r_version bigint, out r_memory_version bigint, out memory_keys bytea[], out memory_values bytea[],
    out memory_erased boolean
) language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    r_version := lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false);
    if r_version is null then
        r_outcome := 'session_not_found';
        return;
    end if;
    select r.memory_version into r_memory_version
    from lockstitch.runs r
    where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_run_id;
    if not found then
        r_outcome := 'run_not_found';
        return;
    end if;
    if p_version > r_version then
        r_outcome := 'ahead';
        return;
    end if;
    if p_version is not null then
        select coalesce(max(c.version), 0) into r_memory_version
        from lockstitch.commits c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.memory_run_id = p_run_id and c.version <= p_version;
    end if;
    r_outcome := 'found';
    select m.memory_keys, m.memory_values, m.memory_erased into memory_keys, memory_values, memory_erased
    from lockstitch.memory_at_v1(p_tenant, p_session_key, coalesce(p_version, r_version), p_run_id) as m;
end
$$;
