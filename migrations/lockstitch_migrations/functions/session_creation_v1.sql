-- A session that is created by something else than its first content: the row, at version 0, and its details as of version 1. Null where
-- somebody else created it meanwhile.
create function lockstitch.new_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_user text, p_agent text, p_now timestamptz
) returns lockstitch.sessions language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
begin
    insert into lockstitch.sessions as s (
        session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
        message_count, memory_bytes, activity_minute, status, tenant_id, user_id, session_id, agent
    ) values (
        p_session_key, p_now, 0, 0, 0, 0, p_now, p_now, 0, 0, lockstitch.minute_v1(p_now), 1, p_tenant, p_user, p_session_id, p_agent
    )
    on conflict (session_key) do nothing
    returning s.* into v_session;
    if found then
        insert into lockstitch.session_details (
            session_key, version, status, tenant_id, title, close_reason, label_keys, label_values, metadata
        ) values (p_session_key, 1, 1, p_tenant, '', '', '{}', '{}', '');
    end if;
    return v_session;
end
$$;

-- Like begin_change_v1, for a change that creates its session where p_create is 1: the outcome is then null, and the version 0. It is -1
-- where the change would, and there may be no session more.
create function lockstitch.begin_or_create_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_method smallint, p_request uuid, p_digest bytea,
    p_create smallint, p_user text, p_agent text,
    out r_outcome text, out r_session lockstitch.sessions, out r_commit lockstitch.commits, out r_now timestamptz
) language plpgsql as $$
declare
    v_begun record;
begin
    perform set_config('app.tenant', p_tenant, true);
    for i in 1 .. 2 loop
        select * into v_begun
        from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
        r_outcome := v_begun.r_outcome;
        r_session := v_begun.r_session;
        r_commit := v_begun.r_commit;
        r_now := v_begun.r_now;
        if r_outcome is distinct from 'session_not_found' or p_create = 0 then
            if p_create <> 0 and r_outcome is null and p_user <> '' and (r_session).user_id <> p_user then
                r_outcome := 'session_exists';
            end if;
            return;
        end if;
        if exists (
            select from lockstitch.purged_sessions g where g.session_key = p_session_key and g.tenant_id = p_tenant
        ) then
            r_outcome := 'session_purged';
            return;
        end if;
        if p_create < 0 then
            r_outcome := 'quota_exceeded';
            return;
        end if;
        r_session := lockstitch.new_session_v1(p_tenant, p_session_key, p_session_id, p_user, p_agent, r_now);
        if (r_session).session_key is not null then
            r_outcome := null;
            return;
        end if;
    end loop;
    -- It is there: its purge_time has passed and nobody has come by yet, or it is not for this caller.
    r_outcome := case
        when exists (
            select
            from lockstitch.sessions s
            where s.session_key = p_session_key and s.tenant_id = p_tenant and s.purge_time <= r_now
        )
        then 'session_purged'
        else 'session_exists'
    end;
end
$$;
