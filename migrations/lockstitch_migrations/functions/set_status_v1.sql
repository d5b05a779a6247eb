-- Changes where a session stands, in one commit: p_action 1 restores it, 2 closes it, 4 deletes it, 5 takes a deletion back. What it is
-- already changes nothing. A session whose time has passed is only restored with a new life: p_expire_time or p_ttl, which also end an
-- idle_ttl that has run out. A run that holds a live lease keeps a session from being closed or deleted unless p_force, which ends it;
-- one whose lease has run out is ended by it anyway. What is being drafted is stored before, in commits of its own.
create function lockstitch.set_status_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_action smallint, p_close_reason text, p_expire_time timestamptz, p_ttl interval, p_force boolean,
    p_purge_after interval,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_run_id text, out r_lease_expire_time timestamptz
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_details lockstitch.session_details%rowtype;
    v_expired boolean;
    v_run text;
    v_changed bigint[];
    v_run_status smallint := 6;
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    v_expired := v_session.status = 3 or lockstitch.session_expired_v1(v_session, v_begun.r_now);

    if r_outcome is null then
        if v_session.status = 4 and p_action in (1, 2) then
            r_outcome := 'session_deleted';
        elsif p_action = 2 and v_expired and v_session.status <> 2 then
            r_outcome := 'session_expired';
        elsif p_action = 1 and v_expired and p_expire_time is null and p_ttl is null then
            r_outcome := 'session_expired';
        elsif p_action in (2, 4) and v_session.active_run_id is not null then
            r_lease_expire_time := lockstitch.lock_lease_v1(p_tenant, p_session_key);
            -- A renewal may have been waited for. What is ended because its lease is over must not end before that.
            v_begun.r_now := clock_timestamp();
            if r_lease_expire_time > v_begun.r_now then
                r_run_id := v_session.active_run_id;
                v_run_status := 4;
                if not p_force then
                    r_outcome := 'run_active';
                end if;
            end if;
        end if;
    end if;
    if r_outcome is null then
        if p_expected_version <> v_session.version then
            r_outcome := 'version_conflict';
        elsif (
            case p_action
                when 1 then v_session.status = 1 and not v_expired
                when 5 then v_session.status <> 4
                else v_session.status = p_action
            end
        ) then
            r_outcome := 'unchanged';
        elsif p_action = 1 and p_expire_time <= v_begun.r_now then
            r_outcome := 'expire_time_passed';
        end if;
    end if;

    if r_outcome is null then
        if p_action in (2, 4) then
            v_session := lockstitch.lose_drafts_v1(v_session, v_begun.r_now, null, null);
        end if;
        if p_action in (2, 4) and v_session.active_run_id is not null then
            v_run := v_session.active_run_id;
            v_changed := lockstitch.end_run_v1(
                v_session, v_session.version + 1, v_begun.r_now, v_run_status,
                case v_run_status
                    when 4 then convert_to('Its session was closed or deleted by force.', 'UTF8')
                    else convert_to('Its lease ran out.', 'UTF8')
                end,
                true
            );
            v_session.active_run_id := null;
        end if;
        select * into v_details from lockstitch.session_details d
        where d.session_key = p_session_key and d.tenant_id = p_tenant;
        if p_action = 4 then
            v_details.status_before_delete := v_session.status;
            v_details.status := 4;
            v_details.delete_time := v_begun.r_now;
            v_details.purge_time := v_begun.r_now + p_purge_after;
        elsif p_action = 5 then
            v_details.status := v_details.status_before_delete;
            v_details.status_before_delete := null;
            v_details.delete_time := null;
            v_details.purge_time := null;
        else
            v_details.status := p_action;
            v_details.close_time := case when p_action = 2 then v_begun.r_now end;
            v_details.close_reason := case when p_action = 2 then p_close_reason else '' end;
        end if;
        if p_action = 1 then
            v_details.expire_time := coalesce(p_expire_time, v_begun.r_now + p_ttl, v_details.expire_time);
            if v_session.last_activity_time + v_details.idle_ttl <= v_begun.r_now then
                v_details.idle_ttl := null;
            end if;
        end if;
        v_session := lockstitch.commit_details_v1(
            v_session, v_details, v_begun.r_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent,
            null, v_run, v_changed, false
        );
        r_outcome := 'committed';
    elsif r_outcome = 'replayed' then
        v_session.version := (v_begun.r_commit).version;
        v_session.last_seq := (v_begun.r_commit).last_seq;
        v_session.memory_version := (v_begun.r_commit).memory_version;
        v_session.update_time := (v_begun.r_commit).commit_time;
    end if;
    r_version := v_session.version;
    r_commit_time := v_session.update_time;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
end
$$;
