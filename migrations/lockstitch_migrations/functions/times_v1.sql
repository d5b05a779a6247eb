-- Whether a session's time has passed: the one rule of expiry, for writes, reads and lists alike.
create function lockstitch.session_expired_v1(
    p_expire_time timestamptz, p_last_activity_time timestamptz, p_idle_ttl interval, p_now timestamptz
) returns boolean language sql stable parallel safe as $$
    select coalesce(p_expire_time <= p_now, false) or coalesce(p_last_activity_time + p_idle_ttl <= p_now, false)
$$;

-- The minute of a time, since 1970: what lists of sessions are indexed by. Times too far ahead for it are its last one, those too
-- far back its first: the last instant of the year 9999 and the first of the year 1 come here as infinite.
create function lockstitch.minute_v1(p_time timestamptz) returns integer language sql stable parallel safe as $$
    select greatest(least(floor(extract(epoch from p_time) / 60), 2147483647), -2147483648)::integer
$$;
