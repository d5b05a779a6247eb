-- Closes a session (p_status 2) or makes it active again (1), in one commit. Closing a closed session and restoring an active one
-- change nothing. A session whose time has passed is only restored with a new life: p_expire_time or p_ttl, which also end an
-- idle_ttl that has run out.
create function lockstitch.set_status_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_status smallint, p_close_reason text, p_expire_time timestamptz, p_ttl interval,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz
) language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
    v_commit lockstitch.commits%rowtype;
    v_now timestamptz;
    v_expired boolean;
    v_expire_time timestamptz;
    v_idle_ttl interval;
begin
    perform set_config('app.tenant', p_tenant, true);

    select * into v_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
        and (p_owner is null or s.user_id = p_owner)
    for no key update;
    if not found then
        r_outcome := 'session_not_found';
        return;
    end if;

    select * into v_commit from lockstitch.commits c
    where c.session_key = p_session_key and c.tenant_id = p_tenant and c.request_hash = p_request;
    if found then
        if v_commit.method <> p_method or v_commit.digest <> p_digest then
            r_outcome := 'request_id_reused';
            return;
        end if;
        r_outcome := 'replayed';
        r_version := v_commit.version;
        r_last_seq := v_commit.last_seq;
        r_memory_version := v_commit.memory_version;
        r_commit_time := v_commit.commit_time;
        return;
    end if;

    v_now := clock_timestamp();
    v_expired := lockstitch.session_expired_v1(v_session.expire_time, v_session.last_activity_time, v_session.idle_ttl, v_now);
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_session.update_time;

    if p_status = 2 and v_session.status = 1 and v_expired then
        r_outcome := 'session_expired';
        return;
    end if;
    if p_expected_version <> v_session.version then
        r_outcome := 'version_conflict';
        return;
    end if;
    if v_session.status = p_status and (p_status = 2 or not v_expired) then
        r_outcome := 'unchanged';
        return;
    end if;

    v_expire_time := v_session.expire_time;
    v_idle_ttl := v_session.idle_ttl;
    if p_status = 1 and (p_expire_time is not null or p_ttl is not null) then
        if p_expire_time <= v_now then
            r_outcome := 'expire_time_passed';
            return;
        end if;
        v_expire_time := coalesce(p_expire_time, v_now + p_ttl);
        if v_session.last_activity_time + v_session.idle_ttl <= v_now then
            v_idle_ttl := null;
        end if;
    elsif p_status = 1 and v_expired then
        r_outcome := 'session_expired';
        return;
    end if;

    r_outcome := 'committed';
    r_version := v_session.version + 1;
    r_commit_time := v_now;

    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, last_activity_time, message_count,
        new_messages, new_tool_calls, method, principal_role, tenant_id, principal_subject, digest, traceparent
    ) values (
        p_session_key, r_version, p_request, v_now, r_last_seq, r_memory_version, v_session.last_activity_time,
        v_session.message_count, 0, 0, p_method, p_principal_role, p_tenant, p_subject, p_digest, p_traceparent
    );

    insert into lockstitch.session_details_history (
        session_key, version, until_version, status, close_time, expire_time, idle_ttl, tenant_id, title, close_reason,
        label_keys, label_values, metadata
    )
    select d.session_key, d.version, r_version, d.status, d.close_time, d.expire_time, d.idle_ttl, d.tenant_id, d.title,
        d.close_reason, d.label_keys, d.label_values, d.metadata
    from lockstitch.session_details d
    where d.session_key = p_session_key and d.tenant_id = p_tenant;

    update lockstitch.session_details d set
        version = r_version,
        status = p_status,
        close_time = case when p_status = 2 then v_now end,
        close_reason = case when p_status = 2 then p_close_reason else '' end,
        expire_time = v_expire_time,
        idle_ttl = v_idle_ttl
    where d.session_key = p_session_key and d.tenant_id = p_tenant;

    update lockstitch.sessions s set
        version = r_version,
        update_time = v_now,
        status = p_status,
        expire_time = v_expire_time,
        idle_ttl = v_idle_ttl
    where s.session_key = p_session_key and s.tenant_id = p_tenant;
end
$$;
