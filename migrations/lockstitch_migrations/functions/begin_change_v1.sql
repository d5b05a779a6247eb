-- The beginning of a change of one session: names the tenant, locks the row, finds an earlier commit of the same request. The outcome
-- is null where the change goes on; else it is the answer.
create function lockstitch.begin_change_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_method smallint, p_request uuid, p_digest bytea,
    out r_outcome text, out r_session lockstitch.sessions, out r_commit lockstitch.commits, out r_now timestamptz
) language plpgsql as $$
begin
    perform set_config('app.tenant', p_tenant, true);

    select * into r_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
        and lockstitch.reaches_v1(p_owner, s.user_id, s.agent)
    for no key update;
    r_now := clock_timestamp();
    if not found or coalesce(r_session.purge_time <= r_now, false) then
        r_outcome := 'session_not_found';
        return;
    end if;

    select * into r_commit from lockstitch.commits c
    where c.session_key = p_session_key and c.tenant_id = p_tenant and c.request_hash = p_request;
    if found then
        if r_commit.method <> p_method or (r_commit.digest <> p_digest and not r_commit.erased) then
            r_outcome := 'request_id_reused';
        else
            r_outcome := 'replayed';
        end if;
    end if;
end
$$;

-- Why a session, whose row is locked, does not take a change: its state, then the fence, then the version. Null where it does.
create function lockstitch.change_refusal_v1(
    p_session lockstitch.sessions, p_now timestamptz, p_run_id text, p_fencing_token bigint, p_expected_version bigint
) returns text language plpgsql as $$
begin
    if p_session.status = 4 then
        return 'session_deleted';
    end if;
    if p_session.status = 2 then
        return 'session_closed';
    end if;
    if p_session.status = 3 or lockstitch.session_expired_v1(p_session, p_now) then
        return 'session_expired';
    end if;
    if p_run_id is not null
        and (p_session.active_run_id is distinct from p_run_id or p_session.fencing_token <> p_fencing_token)
    then
        return lockstitch.fence_refusal_v1(p_session.tenant_id, p_session.session_key, p_run_id, p_fencing_token);
    end if;
    if p_expected_version <> p_session.version then
        return 'version_conflict';
    end if;
    return null;
end
$$;

-- Why a fence does not hold. A run that somebody else ended, and a token that is not the run's, are fenced; one that its holder ended
-- has ended.
create function lockstitch.fence_refusal_v1(p_tenant text, p_session_key uuid, p_run_id text, p_fencing_token bigint)
returns text language plpgsql as $$
declare
    v_run lockstitch.runs%rowtype;
begin
    select * into v_run from lockstitch.runs r
    where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_run_id;
    return case
        when not found then 'run_not_found'
        when v_run.fenced or v_run.fencing_token <> p_fencing_token then 'run_fenced'
        else 'run_ended'
    end;
end
$$;

-- Makes the row of a commit that stores nothing else than what is said here, and takes the session to it. p_session is the session
-- after the commit, but for its version, update_time and, where the commit is activity, last_activity_time.
create function lockstitch.write_commit_v1(
    p_session lockstitch.sessions, p_now timestamptz, p_method smallint, p_request uuid, p_digest bytea, p_subject text,
    p_principal_role smallint, p_traceparent text, p_is_activity boolean, p_new_messages smallint, p_run_id text,
    p_changed_run_id text, p_ended_run_id text, p_changed_calls bigint[], p_checkpoint_namespaces text[] default null,
    p_checkpoint_ids text[] default null, p_checkpoint_bytes bigint[] default null, p_checkpoints_deleted boolean default null,
    p_checkpoint_count bigint default null
) returns lockstitch.sessions language plpgsql as $$
begin
    p_session.version := p_session.version + 1;
    p_session.update_time := p_now;
    if p_is_activity then
        p_session.last_activity_time := p_now;
        p_session.activity_minute := lockstitch.minute_v1(p_now);
    end if;
    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, last_activity_time, message_count,
        new_messages, new_tool_calls, method, principal_role, tenant_id, principal_subject, digest, traceparent,
        changed_tool_calls, run_id, changed_run_id, ended_run_id, checkpoint_count, checkpoints_deleted, checkpoint_namespaces,
        checkpoint_ids, checkpoint_bytes
    ) values (
        p_session.session_key, p_session.version, p_request, p_now, p_session.last_seq, p_session.memory_version,
        case when not p_is_activity then p_session.last_activity_time end, p_session.message_count, p_new_messages, 0, p_method,
        p_principal_role, p_session.tenant_id, p_subject, p_digest, p_traceparent, p_changed_calls, p_run_id, p_changed_run_id,
        p_ended_run_id, coalesce(p_checkpoint_count, cardinality(p_checkpoint_ids)), p_checkpoints_deleted, p_checkpoint_namespaces,
        p_checkpoint_ids, p_checkpoint_bytes
    );
    update lockstitch.sessions s set
        version = p_session.version,
        last_seq = p_session.last_seq,
        update_time = p_session.update_time,
        last_activity_time = p_session.last_activity_time,
        message_count = p_session.message_count,
        activity_minute = p_session.activity_minute,
        status = p_session.status,
        expire_time = p_session.expire_time,
        idle_ttl = p_session.idle_ttl,
        purge_time = p_session.purge_time,
        fencing_token = p_session.fencing_token,
        active_run_id = p_session.active_run_id
    where s.session_key = p_session.session_key and s.tenant_id = p_session.tenant_id;
    return p_session;
end
$$;

-- The hash of a request_id that only the server uses: the first 16 bytes of SHA-256, as of every request_id.
create function lockstitch.server_request_v1(p_request_id text) returns uuid language sql immutable parallel safe as $$
    select encode(substring(sha256(convert_to('server:' || p_request_id, 'UTF8')) from 1 for 16), 'hex')::uuid
$$;
