-- Deletes every row of a session, whose own is locked, and leaves a row without content: that its id is taken.
create function lockstitch.purge_v1(p_session lockstitch.sessions, p_now timestamptz, p_request uuid)
returns void language plpgsql as $$
begin
    insert into lockstitch.purged_sessions (session_key, request_hash, purge_time, tenant_id)
    values (p_session.session_key, p_request, p_now, p_session.tenant_id);
    delete from lockstitch.checkpoint_writes t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.checkpoint_values t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.checkpoints t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    -- Whoever adds to a draft holds its row and not the session's: from here on nobody does.
    delete from lockstitch.drafts t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.draft_steps t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.run_leases t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.runs t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.tool_calls_history t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.tool_calls t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.memory_history t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.memory t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.messages_history t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.messages t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.commits t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.session_labels t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.session_details_history t
    where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.session_details t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.sweeps t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
    delete from lockstitch.sessions t where t.session_key = p_session.session_key and t.tenant_id = p_session.tenant_id;
end
$$;

-- Purges a session, whatever its state; where it was purged by the same request, says so again. For the background role.
create function lockstitch.purge_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_request uuid, p_force boolean,
    out r_outcome text, out r_purge_time timestamptz, out r_run_id text, out r_lease_expire_time timestamptz
) language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
    v_purged lockstitch.purged_sessions%rowtype;
begin
    perform set_config('app.tenant', p_tenant, true);
    select * into v_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
    for update;
    if not found then
        select * into v_purged from lockstitch.purged_sessions g
        where g.session_key = p_session_key and g.tenant_id = p_tenant;
        if found and v_purged.request_hash = p_request then
            r_outcome := 'purged';
            r_purge_time := v_purged.purge_time;
        else
            r_outcome := 'session_not_found';
        end if;
        return;
    end if;
    r_purge_time := clock_timestamp();
    if v_session.purge_time <= r_purge_time and not p_force then
        -- Nobody finds it any more; it goes when it is swept.
        r_outcome := 'session_not_found';
        return;
    end if;
    if v_session.active_run_id is not null then
        r_lease_expire_time := lockstitch.lock_lease_v1(p_tenant, p_session_key);
        if r_lease_expire_time > r_purge_time and not p_force then
            r_run_id := v_session.active_run_id;
            r_outcome := 'run_active';
            return;
        end if;
    end if;
    perform lockstitch.purge_v1(v_session, r_purge_time, p_request);
    r_outcome := 'purged';
end
$$;

-- Some of a user's sessions, to purge them one by one.
create function lockstitch.sessions_of_user_v1(p_tenant text, p_user text, p_limit integer)
returns table (session_key uuid, session_id text) language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select s.session_key, s.session_id
        from lockstitch.sessions s
        where s.tenant_id = p_tenant and s.user_id = p_user and s.activity_minute >= 0
        limit p_limit;
end
$$;

-- How many sessions a user has, or all of a tenant (p_user null): p_most where there are more.
create function lockstitch.count_sessions_v1(p_tenant text, p_user text, p_most integer)
returns bigint language plpgsql stable set plan_cache_mode = force_custom_plan as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return (
        select count(*)
        from (
            select
            from lockstitch.sessions s
            where s.tenant_id = p_tenant and (p_user is null or s.user_id = p_user) and s.activity_minute >= 0
            limit p_most
        ) as n
    );
end
$$;

-- How many sessions a user has.
create function lockstitch.count_sessions_of_user_v1(p_tenant text, p_user text)
returns bigint language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return (
        select count(*)
        from lockstitch.sessions s
        where s.tenant_id = p_tenant and s.user_id = p_user and s.activity_minute >= 0
    );
end
$$;
