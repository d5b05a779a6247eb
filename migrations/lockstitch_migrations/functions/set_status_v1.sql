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
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_details lockstitch.session_details%rowtype;
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    if r_outcome is null then
        if v_begun.r_expired and (
            (p_status = 2 and v_session.status = 1) or (p_status = 1 and p_expire_time is null and p_ttl is null)
        ) then
            r_outcome := 'session_expired';
        elsif p_expected_version <> v_session.version then
            r_outcome := 'version_conflict';
        elsif v_session.status = p_status and (p_status = 2 or not v_begun.r_expired) then
            r_outcome := 'unchanged';
        elsif p_status = 1 and p_expire_time <= v_begun.r_now then
            r_outcome := 'expire_time_passed';
        end if;
    end if;

    if r_outcome is null then
        select * into v_details from lockstitch.session_details d
        where d.session_key = p_session_key and d.tenant_id = p_tenant;
        v_details.status := p_status;
        v_details.close_time := case when p_status = 2 then v_begun.r_now end;
        v_details.close_reason := case when p_status = 2 then p_close_reason else '' end;
        if p_status = 1 then
            v_details.expire_time := coalesce(p_expire_time, v_begun.r_now + p_ttl, v_details.expire_time);
            if v_session.last_activity_time + v_details.idle_ttl <= v_begun.r_now then
                v_details.idle_ttl := null;
            end if;
        end if;
        perform lockstitch.commit_details_v1(
            v_session, v_details, v_begun.r_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, false
        );
        r_outcome := 'committed';
        r_version := v_session.version + 1;
        r_commit_time := v_begun.r_now;
    elsif r_outcome = 'replayed' then
        v_session.version := (v_begun.r_commit).version;
        v_session.last_seq := (v_begun.r_commit).last_seq;
        v_session.memory_version := (v_begun.r_commit).memory_version;
        v_session.update_time := (v_begun.r_commit).commit_time;
    end if;
    r_version := coalesce(r_version, v_session.version);
    r_commit_time := coalesce(r_commit_time, v_session.update_time);
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
end
$$;
