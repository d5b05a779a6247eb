-- Whether the run of a session holds a live lease.
create function lockstitch.run_is_live_v1(p_tenant text, p_session_key uuid, p_now timestamptz)
returns boolean language plpgsql stable as $$
begin
    return exists (
        select
        from lockstitch.run_leases l
        where l.session_key = p_session_key and l.tenant_id = p_tenant and l.lease_expire_time > p_now
    );
end
$$;

-- Whether a session's time has passed: the one rule of expiry, for writes, reads and lists alike. Without a subquery, so that it is
-- inlined: a lease is looked at only where the session would be idle.
create function lockstitch.session_expired_v1(p_session lockstitch.sessions, p_now timestamptz)
returns boolean language sql stable as $$
    select coalesce(p_session.expire_time <= p_now, false)
        or case
            when p_session.last_activity_time + p_session.idle_ttl <= p_now then
                p_session.active_run_id is null
                or not lockstitch.run_is_live_v1(p_session.tenant_id, p_session.session_key, p_now)
            else false
        end
$$;

-- The status that a session has now: 3 where its time has passed.
create function lockstitch.session_status_v1(p_session lockstitch.sessions, p_now timestamptz)
returns smallint language sql stable as $$
    select case
        when p_session.status = 1 and lockstitch.session_expired_v1(p_session, p_now) then 3::smallint
        else p_session.status
    end
$$;

-- The minute of a time, since 1970: what lists of sessions are indexed by. Times too far ahead for it are its last one, those too
-- far back its first: the last instant of the year 9999 and the first of the year 1 come here as infinite.
create function lockstitch.minute_v1(p_time timestamptz) returns integer language sql stable parallel safe as $$
    select greatest(least(floor(extract(epoch from p_time) / 60), 2147483647), -2147483648)::integer
$$;
