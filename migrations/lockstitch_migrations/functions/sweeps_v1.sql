-- Has a session looked at by a time at the latest; nothing where there is no time.
create function lockstitch.sweep_by_v1(p_tenant text, p_session_key uuid, p_time timestamptz)
returns void language plpgsql as $$
begin
    if p_time is null then
        return;
    end if;
    insert into lockstitch.sweeps as w (session_key, sweep_after, tenant_id) values (p_session_key, p_time, p_tenant)
    on conflict (session_key) do update set sweep_after = excluded.sweep_after
    where w.sweep_after > excluded.sweep_after;
end
$$;

-- Sessions that are due, of every tenant: p_limit of those that have been so the longest, and as many of those that have been so the
-- shortest, so that a backlog does not keep what becomes due waiting. For the background role, which alone sees them all.
create function lockstitch.sessions_to_sweep_v1(p_limit integer)
returns table (tenant_id text, session_key uuid) language plpgsql stable as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    return query
        (
            select w.tenant_id, w.session_key
            from lockstitch.sweeps w
            where w.sweep_after <= v_now
            order by w.sweep_after
            limit p_limit
        )
        union
        (
            select w.tenant_id, w.session_key
            from lockstitch.sweeps w
            where w.sweep_after <= v_now
            order by w.sweep_after desc
            limit p_limit
        );
end
$$;

-- Has a session that could not be swept looked at later, so that it does not stand in the way of others.
create function lockstitch.put_off_sweep_v1(p_tenant text, p_session_key uuid, p_delay interval)
returns void language plpgsql as $$
declare
    v_time timestamptz := clock_timestamp() + p_delay;
begin
    perform set_config('app.tenant', p_tenant, true);
    update lockstitch.sweeps w set sweep_after = v_time where w.session_key = p_session_key and w.tenant_id = p_tenant;
end
$$;

-- Does to a session what time has brought about, and says when to look again: drafts that nobody writes any more are stored as
-- incomplete, a run whose lease ran out p_run_grace ago ends, a session whose time has passed becomes EXPIRED, a deleted one whose time
-- has come is purged. A session that somebody holds is not waited for: it will be looked at again.
create function lockstitch.sweep_session_v1(
    p_tenant text, p_session_key uuid, p_run_grace interval, p_draft_idle interval,
    out r_version bigint, out r_changed boolean
) language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
    v_details lockstitch.session_details%rowtype;
    v_now timestamptz;
    v_lease timestamptz;
    v_next timestamptz;
    v_run text;
    v_calls bigint[];
begin
    perform set_config('app.tenant', p_tenant, true);
    r_changed := false;
    select * into v_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant
    for no key update skip locked;
    if not found then
        if not exists (
            select from lockstitch.sessions s where s.session_key = p_session_key and s.tenant_id = p_tenant
        ) then
            delete from lockstitch.sweeps w where w.session_key = p_session_key and w.tenant_id = p_tenant;
        end if;
        return;
    end if;
    v_now := clock_timestamp();
    r_version := v_session.version;

    if v_session.status = 4 and v_session.purge_time <= v_now then
        perform lockstitch.purge_v1(v_session, v_now, lockstitch.server_request_v1('purge'));
        r_changed := true;
        return;
    end if;

    v_session := lockstitch.lose_drafts_v1(v_session, v_now, null, p_draft_idle);

    if v_session.active_run_id is not null then
        v_lease := lockstitch.lock_lease_v1(p_tenant, p_session_key);
        if v_lease + p_run_grace <= v_now then
            v_run := v_session.active_run_id;
            v_session := lockstitch.lose_drafts_v1(v_session, v_now, v_run, null);
            v_calls := lockstitch.end_run_v1(
                v_session, v_session.version + 1, v_now, 6::smallint, convert_to('Its lease ran out.', 'UTF8'), true
            );
            v_session.active_run_id := null;
            v_session := lockstitch.write_commit_v1(
                v_session, v_now, 18::smallint, lockstitch.server_request_v1('run/' || v_session.fencing_token), '', 'system',
                4::smallint, null, false, 0::smallint, null, v_run, null, v_calls
            );
            v_run := null;
            v_calls := null;
        end if;
    end if;

    if v_session.status = 1 and lockstitch.session_expired_v1(v_session, v_now) then
        v_session := lockstitch.lose_drafts_v1(v_session, v_now, null, null);
        if v_session.active_run_id is not null then
            v_run := v_session.active_run_id;
            v_calls := lockstitch.end_run_v1(
                v_session, v_session.version + 1, v_now, 6::smallint, convert_to('Its session expired.', 'UTF8'), true
            );
            v_session.active_run_id := null;
        end if;
        select * into v_details from lockstitch.session_details d
        where d.session_key = p_session_key and d.tenant_id = p_tenant;
        v_details.status := 3;
        v_session := lockstitch.commit_details_v1(
            v_session, v_details, v_now, 17::smallint,
            lockstitch.server_request_v1('expire/' || v_session.version + 1), '', 'system', 4::smallint, null, null, v_run, v_calls,
            false
        );
    end if;
    r_changed := v_session.version > r_version;
    r_version := v_session.version;

    v_next := least(
        case when v_session.status = 1 then v_session.expire_time end,
        case
            when v_session.status <> 1 or v_session.idle_ttl is null then null
            when v_session.last_activity_time + v_session.idle_ttl > v_now
                then v_session.last_activity_time + v_session.idle_ttl
            -- A run that holds its lease keeps it from being idle. The run may end before its lease does, which is activity.
            else least(v_lease, v_now + v_session.idle_ttl)
        end,
        -- Now and then meanwhile: a long lease may be renewed for a short time, which moves nothing here.
        case when v_session.active_run_id is not null then least(v_lease, v_now + p_run_grace) + p_run_grace end,
        v_session.purge_time,
        (
            select min(lockstitch.draft_step_time_v1(d)) + p_draft_idle
            from lockstitch.drafts d
            where d.session_key = p_session_key and d.tenant_id = p_tenant
        )
    );
    if v_next is null then
        delete from lockstitch.sweeps w where w.session_key = p_session_key and w.tenant_id = p_tenant;
    else
        update lockstitch.sweeps w set sweep_after = v_next
        where w.session_key = p_session_key and w.tenant_id = p_tenant;
    end if;
end
$$;
