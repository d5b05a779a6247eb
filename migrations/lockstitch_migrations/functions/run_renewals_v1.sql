-- Renews leases of runs of any tenants, each by its token and under its tenant's name, and says of each what became of it: the run as it is
-- then, or a word for why not. Locks the leases alone. Whoever took over has put another lease in the place of the one that it locked.
-- Items come in the order of their keys, so that two servers never wait for each other.
create function lockstitch.renew_runs_v1(
    p_tenants text[], p_session_keys uuid[], p_session_ids text[], p_run_ids text[], p_fencing_tokens bigint[], p_leases interval[]
) returns table (
    r_outcome text, run_id text, fencing_token bigint, started_version bigint, ended_version bigint, cancel_version bigint,
    start_time timestamptz, end_time timestamptz, granted_until timestamptz, renewed_until timestamptz, status smallint, worker text,
    error bytea, label_keys text[], label_values text[]
) language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
    v_now timestamptz;
begin
    for i in 1 .. cardinality(p_tenants) loop
        perform set_config('app.tenant', p_tenants[i], true);
        v_now := clock_timestamp();
        update lockstitch.run_leases l set lease_expire_time = v_now + p_leases[i]
        from lockstitch.sessions s, lockstitch.runs r
        where l.session_key = p_session_keys[i] and l.tenant_id = p_tenants[i] and l.fencing_token = p_fencing_tokens[i]
            and s.session_key = p_session_keys[i] and s.tenant_id = p_tenants[i] and s.session_id = p_session_ids[i]
            and s.active_run_id = p_run_ids[i]
            and r.session_key = p_session_keys[i] and r.tenant_id = p_tenants[i] and r.run_id = p_run_ids[i]
            and r.fencing_token = p_fencing_tokens[i]
            -- A live lease would bring back to life what has expired.
            and coalesce(s.expire_time > v_now, true)
            and (
                l.lease_expire_time > v_now
                or coalesce(s.last_activity_time + s.idle_ttl > v_now, true)
            )
        returning 'renewed', r.run_id, r.fencing_token, r.started_version, r.ended_version, r.cancel_version, r.start_time, r.end_time,
            r.lease_expire_time, l.lease_expire_time, r.status, r.worker, r.error, r.label_keys, r.label_values
        into r_outcome, run_id, fencing_token, started_version, ended_version, cancel_version, start_time, end_time, granted_until,
            renewed_until, status, worker, error, label_keys, label_values;
        if not found then
            select * into v_session from lockstitch.sessions s
            where s.session_key = p_session_keys[i] and s.tenant_id = p_tenants[i] and s.session_id = p_session_ids[i];
            if not found or coalesce(v_session.purge_time <= v_now, false) then
                r_outcome := 'session_not_found';
            elsif v_session.active_run_id = p_run_ids[i] and v_session.fencing_token = p_fencing_tokens[i] then
                r_outcome := 'session_expired';
            else
                r_outcome := lockstitch.fence_refusal_v1(
                    p_tenants[i], p_session_keys[i], p_run_ids[i], p_fencing_tokens[i]
                );
            end if;
        end if;
        return next;
    end loop;
end
$$;
