-- The beginning of a change of one session: names the tenant, locks the row, finds an earlier commit of the same request. The outcome
-- is null where the change goes on; else it is the answer.
create function lockstitch.begin_change_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_method smallint, p_request uuid, p_digest bytea,
    out r_outcome text, out r_session lockstitch.sessions, out r_commit lockstitch.commits, out r_now timestamptz,
    out r_expired boolean
) language plpgsql as $$
begin
    perform set_config('app.tenant', p_tenant, true);

    select * into r_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
        and (p_owner is null or s.user_id = p_owner)
    for no key update;
    if not found then
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
        return;
    end if;

    r_now := clock_timestamp();
    r_expired := lockstitch.session_expired_v1(r_session.expire_time, r_session.last_activity_time, r_session.idle_ttl, r_now);
end
$$;
