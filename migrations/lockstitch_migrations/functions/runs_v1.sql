-- Ends the run of a session that has not ended, as part of the commit p_version, under the session row's lock: the caller takes it off
-- the session. Where the run is fenced, the calls that it said were RUNNING become INTERRUPTED; they are given back, as
-- (requested_version, position) flattened.
create function lockstitch.end_run_v1(
    p_session lockstitch.sessions, p_version bigint, p_now timestamptz, p_status smallint, p_error bytea, p_fenced boolean
) returns bigint[] language plpgsql as $$
declare
    v_calls lockstitch.tool_calls[];
    v_changed bigint[];
begin
    update lockstitch.runs r set
        status = p_status,
        ended_version = p_version,
        end_time = p_now,
        error = p_error,
        fenced = p_fenced
    where r.session_key = p_session.session_key and r.tenant_id = p_session.tenant_id and r.run_id = p_session.active_run_id;
    delete from lockstitch.run_leases l
    where l.session_key = p_session.session_key and l.tenant_id = p_session.tenant_id;
    if not p_fenced then
        return null;
    end if;

    select array_agg(c order by c.requested_version, c.position) into v_calls
    from lockstitch.tool_calls c
    where c.session_key = p_session.session_key and c.tenant_id = p_session.tenant_id and c.status <= 3
        and c.status = 2 and c.started_run_id = p_session.active_run_id;
    if v_calls is null then
        return null;
    end if;
    perform lockstitch.keep_tool_calls_v1(v_calls, p_version);
    -- One by one, as the ledger is written.
    for i in 1 .. cardinality(v_calls) loop
        update lockstitch.tool_calls c
        set version = p_version, status = 7, ended_version = p_version, end_time = p_now,
            -- Of the outcome that a caller gives who says INTERRUPTED and no more: to say so as well is no other outcome.
            outcome_digest = substr(sha256('\x070000'), 1, 16)
        where c.session_key = p_session.session_key and c.tenant_id = p_session.tenant_id
            and c.requested_version = v_calls[i].requested_version and c.position = v_calls[i].position;
        v_changed := v_changed || array[v_calls[i].requested_version, v_calls[i].position];
    end loop;
    return v_changed;
end
$$;

-- The lease of a session's run, locked: after the session, always.
create function lockstitch.lock_lease_v1(p_tenant text, p_session_key uuid)
returns timestamptz language plpgsql as $$
declare
    v_lease timestamptz;
begin
    select l.lease_expire_time into v_lease
    from lockstitch.run_leases l
    where l.session_key = p_session_key and l.tenant_id = p_tenant
    for update;
    return v_lease;
end
$$;

-- Starts a run. p_on_busy says what happens where one is active: 1 refuse, 2 join it, 3 end it. One whose lease has run out is ended
-- whatever it says. What the ended run was drafting is stored before, in a commit of its own.
create function lockstitch.start_run_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_run_id text, p_worker text, p_lease interval, p_on_busy smallint, p_label_keys text[],
    p_label_values text[], p_sweep_grace interval,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_run_id text, out r_lease_expire_time timestamptz
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_lease timestamptz;
    v_ended text;
    v_status smallint;
    v_changed bigint[];
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    if r_outcome = 'replayed' then
        r_version := (v_begun.r_commit).version;
        r_last_seq := (v_begun.r_commit).last_seq;
        r_memory_version := (v_begun.r_commit).memory_version;
        r_commit_time := (v_begun.r_commit).commit_time;
        r_run_id := (v_begun.r_commit).changed_run_id;
        return;
    end if;

    r_outcome := coalesce(r_outcome, lockstitch.change_refusal_v1(v_session, v_begun.r_now, null, null, null));
    if r_outcome is null and v_session.active_run_id is not null then
        v_lease := lockstitch.lock_lease_v1(p_tenant, p_session_key);
        v_status := 6;
        if v_lease > clock_timestamp() then
            r_run_id := v_session.active_run_id;
            r_lease_expire_time := v_lease;
            v_status := 5;
            if p_on_busy = 1 then
                r_outcome := 'run_active';
            elsif p_on_busy = 2 then
                r_outcome := 'unchanged';
            end if;
        end if;
    end if;
    if coalesce(r_outcome, 'unchanged') = 'unchanged' and p_expected_version <> v_session.version then
        r_outcome := 'version_conflict';
    end if;
    if r_outcome is null and exists (
        select
        from lockstitch.runs r
        where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_run_id
    ) then
        r_outcome := case when v_session.active_run_id = p_run_id then 'run_id_used' else 'run_ended' end;
        r_run_id := p_run_id;
    end if;
    if r_outcome is not null then
        r_version := v_session.version;
        r_last_seq := v_session.last_seq;
        r_memory_version := v_session.memory_version;
        r_commit_time := v_session.update_time;
        return;
    end if;

    r_commit_time := clock_timestamp();
    if v_session.active_run_id is not null then
        v_session := lockstitch.lose_drafts_v1(v_session, r_commit_time, v_session.active_run_id, null);
        v_ended := v_session.active_run_id;
        v_changed := lockstitch.end_run_v1(
            v_session, v_session.version + 1, r_commit_time, v_status,
            case v_status
                when 5 then convert_to('Interrupted by another run.', 'UTF8')
                else convert_to('Its lease ran out, and another run took over.', 'UTF8')
            end,
            true
        );
    end if;
    v_session.fencing_token := v_session.fencing_token + 1;
    v_session.active_run_id := p_run_id;
    insert into lockstitch.runs (
        session_key, fencing_token, started_version, memory_version, start_time, lease_expire_time, memory_bytes, status,
        tenant_id, run_id, worker, error, label_keys, label_values
    ) values (
        p_session_key, v_session.fencing_token, v_session.version + 1, 0, r_commit_time, r_commit_time + p_lease, 0, 1,
        p_tenant, p_run_id, p_worker, '', p_label_keys, p_label_values
    );
    insert into lockstitch.run_leases (session_key, fencing_token, lease_expire_time, tenant_id)
    values (p_session_key, v_session.fencing_token, r_commit_time + p_lease, p_tenant);
    v_session := lockstitch.write_commit_v1(
        v_session, r_commit_time, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, true, 0::smallint,
        null, p_run_id, v_ended, v_changed
    );
    -- A long lease may be renewed for a short time, which moves nothing here: it is looked at now and then.
    perform lockstitch.sweep_by_v1(
        p_tenant, p_session_key, r_commit_time + least(p_lease, p_sweep_grace) + p_sweep_grace
    );
    r_outcome := 'committed';
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_run_id := p_run_id;
end
$$;

-- Ends a run for its holder (p_change 1, p_run_status and p_error as said), asks it to end (2), or ends it at once (3).
create function lockstitch.change_run_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_change smallint, p_run_id text, p_fencing_token bigint, p_run_status smallint, p_error bytea,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_run_id text
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_run lockstitch.runs%rowtype;
    v_changed bigint[];
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    r_run_id := p_run_id;
    if r_outcome = 'replayed' then
        r_version := (v_begun.r_commit).version;
        r_last_seq := (v_begun.r_commit).last_seq;
        r_memory_version := (v_begun.r_commit).memory_version;
        r_commit_time := (v_begun.r_commit).commit_time;
        return;
    end if;

    r_outcome := coalesce(
        r_outcome,
        lockstitch.change_refusal_v1(
            v_session, v_begun.r_now, case when p_change = 1 then p_run_id end, p_fencing_token, null
        )
    );
    if r_outcome is null then
        select * into v_run from lockstitch.runs r
        where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_run_id;
        if not found then
            r_outcome := 'run_not_found';
        elsif v_run.status > 1 then
            r_outcome := 'run_ended';
        elsif p_expected_version <> v_session.version then
            r_outcome := 'version_conflict';
        elsif p_change = 2 and v_run.cancel_version is not null then
            r_outcome := 'unchanged';
        end if;
    end if;
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_session.update_time;
    if r_outcome is not null then
        return;
    end if;

    r_commit_time := v_begun.r_now;
    if p_change = 2 then
        update lockstitch.runs r set cancel_version = v_session.version + 1
        where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_run_id;
    else
        if p_change = 3 then
            perform lockstitch.lock_lease_v1(p_tenant, p_session_key);
            v_session := lockstitch.lose_drafts_v1(v_session, r_commit_time, p_run_id, null);
        end if;
        v_changed := lockstitch.end_run_v1(
            v_session, v_session.version + 1, r_commit_time, p_run_status, p_error, p_change = 3
        );
        v_session.active_run_id := null;
    end if;
    v_session := lockstitch.write_commit_v1(
        v_session, r_commit_time, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, true, 0::smallint,
        case when p_change = 1 then p_run_id end, p_run_id, null, v_changed
    );
    r_outcome := 'committed';
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
end
$$;
