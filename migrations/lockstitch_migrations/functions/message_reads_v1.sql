-- A page of messages by seq between two bounds, in either direction. The first row is the session's (m_seq null): its version, how
-- many messages were looked at (at most p_scan_max, since filters hide some) and up to which seq, and how many matched.
create function lockstitch.list_messages_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_after_seq bigint, p_before_seq bigint,
    p_event_after timestamptz, p_event_before timestamptz, p_descending boolean, p_roles smallint[], p_limit integer,
    p_scan_max integer, p_bytes_max bigint
) returns table (
    m_seq bigint, m_version bigint, m_role smallint, m_id text, m_call_id text, m_create_time timestamptz, m_bytes integer,
    m_body bytea, m_scanned integer, m_last_scanned bigint, m_matched integer
) language plpgsql stable as $$
declare
    v_seqs bigint[];
    v_scanned integer;
    v_last bigint;
begin
    perform set_config('app.tenant', p_tenant, true);
    select s.version into m_version
    from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
        and (p_owner is null or s.user_id = p_owner);
    if not found then
        return;
    end if;

    if p_descending then
        select array_agg(n.seq order by n.seq desc) filter (where n.shown), count(*), min(n.seq)
        into v_seqs, v_scanned, v_last
        from (
            select m.seq,
                (p_roles is null or m.role = any(p_roles))
                and (p_event_after is null or m.event_time >= p_event_after)
                and (p_event_before is null or m.event_time < p_event_before) as shown
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq > p_after_seq and m.seq < p_before_seq
            order by m.seq desc
            limit p_scan_max
        ) as n;
    else
        select array_agg(n.seq order by n.seq) filter (where n.shown), count(*), max(n.seq)
        into v_seqs, v_scanned, v_last
        from (
            select m.seq,
                (p_roles is null or m.role = any(p_roles))
                and (p_event_after is null or m.event_time >= p_event_after)
                and (p_event_before is null or m.event_time < p_event_before) as shown
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq > p_after_seq and m.seq < p_before_seq
            order by m.seq
            limit p_scan_max
        ) as n;
    end if;
    m_scanned := v_scanned;
    m_last_scanned := v_last;
    m_matched := coalesce(cardinality(v_seqs), 0);
    return next;

    return query
        select w.seq, w.version, w.role, w.message_id, w.call_id, w.create_time, w.bytes, w.body, null::integer, null::bigint, null::integer
        from (
            select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body) as bytes, m.body, k.place,
                sum(octet_length(m.body) + 512) over (order by k.place) as running
            from unnest(v_seqs[:p_limit]) with ordinality as k (seq, place)
            join lockstitch.messages m on m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = k.seq
        ) as w
        where w.running <= p_bytes_max or w.place = 1
        order by w.place;
end
$$;

-- Messages by seq range, for commits that are read; what they hold is bounded by the commits' page.
create function lockstitch.messages_between_v1(p_tenant text, p_session_key uuid, p_first_seq bigint, p_last_seq bigint)
returns table (
    m_seq bigint, m_version bigint, m_role smallint, m_id text, m_call_id text, m_create_time timestamptz, m_bytes integer,
    m_body bytea
) language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body), m.body
        from lockstitch.messages m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq between p_first_seq and p_last_seq
        order by m.seq;
end
$$;
