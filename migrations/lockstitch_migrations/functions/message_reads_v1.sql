-- A page of messages by seq between two bounds, in either direction, as arrays: the session's version, how many messages were looked
-- at (at most p_scan_max, since filters hide some) and up to which seq, how many matched, and those of them that have room, by seq.
create function lockstitch.list_messages_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_after_seq bigint, p_before_seq bigint,
    p_event_after timestamptz, p_event_before timestamptz, p_descending boolean, p_roles smallint[], p_run_id text, p_limit integer,
    p_scan_max integer, p_bytes_max bigint,
    out m_version bigint, out m_scanned integer, out m_last_scanned bigint, out m_matched integer,
    out m_seqs bigint[], out m_versions bigint[], out m_roles smallint[], out m_ids text[], out m_call_ids text[],
    out m_create_times bytea, out m_bytes integer[], out m_run_ids text[], out m_bodies bytea[], out m_removed_versions bigint[],
    out m_erased boolean[]
) returns setof record language plpgsql stable as $$
declare
    v_seqs bigint[];
    v_bytes bigint;
begin
    perform set_config('app.tenant', p_tenant, true);
    m_version := lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false);
    if m_version is null then
        return;
    end if;

    if p_descending then
        select array_agg(n.seq) filter (where n.shown), count(*), min(n.seq), sum(n.bytes)
        into v_seqs, m_scanned, m_last_scanned, v_bytes
        from (
            select m.seq, octet_length(m.body) + 512 as bytes,
                (p_roles is null or m.role = any(p_roles))
                and (p_event_after is null or m.event_time >= p_event_after)
                and (p_event_before is null or m.event_time < p_event_before)
                and (p_run_id is null or m.run_id = p_run_id) as shown
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq > p_after_seq and m.seq < p_before_seq
            order by m.seq desc
            limit p_scan_max
        ) as n;
    else
        select array_agg(n.seq) filter (where n.shown), count(*), max(n.seq), sum(n.bytes)
        into v_seqs, m_scanned, m_last_scanned, v_bytes
        from (
            select m.seq, octet_length(m.body) + 512 as bytes,
                (p_roles is null or m.role = any(p_roles))
                and (p_event_after is null or m.event_time >= p_event_after)
                and (p_event_before is null or m.event_time < p_event_before)
                and (p_run_id is null or m.run_id = p_run_id) as shown
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq > p_after_seq and m.seq < p_before_seq
            order by m.seq
            limit p_scan_max
        ) as n;
    end if;
    m_matched := coalesce(cardinality(v_seqs), 0);
    v_seqs := v_seqs[:p_limit];

    if m_matched = m_scanned and v_bytes <= p_bytes_max then
        -- Nothing is hidden or cut: one stretch of the index.
        select array_agg(w.seq), array_agg(w.version), array_agg(w.role), array_agg(w.message_id), array_agg(w.call_id),
            string_agg(timestamptz_send(w.create_time), ''), array_agg(w.bytes), array_agg(w.run_id), array_agg(w.body)
        into m_seqs, m_versions, m_roles, m_ids, m_call_ids, m_create_times, m_bytes, m_run_ids, m_bodies
        from (
            select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body) as bytes, m.run_id, m.body
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant
                and m.seq >= least(v_seqs[1], v_seqs[cardinality(v_seqs)])
                and m.seq <= greatest(v_seqs[1], v_seqs[cardinality(v_seqs)])
            order by m.seq
        ) as w;
    else
        select array_agg(w.seq), array_agg(w.version), array_agg(w.role), array_agg(w.message_id), array_agg(w.call_id),
            string_agg(timestamptz_send(w.create_time), ''), array_agg(w.bytes), array_agg(w.run_id), array_agg(w.body)
        into m_seqs, m_versions, m_roles, m_ids, m_call_ids, m_create_times, m_bytes, m_run_ids, m_bodies
        from (
            select t.*
            from (
                select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body) as bytes, m.body,
                    m.run_id, k.place, sum(octet_length(m.body) + 512) over (order by k.place) as running
                from unnest(v_seqs) with ordinality as k (seq, place)
                join lockstitch.messages m on m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = k.seq
            ) as t
            where t.running <= p_bytes_max or t.place = 1
            order by t.seq
        ) as w;
    end if;
    return next;
end
$$;

-- The same with removed messages in their places. Planned anew at each call, since the direction is a parameter of its one statement.
create function lockstitch.list_messages_with_removed_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_after_seq bigint, p_before_seq bigint,
    p_event_after timestamptz, p_event_before timestamptz, p_descending boolean, p_roles smallint[], p_run_id text, p_limit integer,
    p_scan_max integer, p_bytes_max bigint,
    out m_version bigint, out m_scanned integer, out m_last_scanned bigint, out m_matched integer,
    out m_seqs bigint[], out m_versions bigint[], out m_roles smallint[], out m_ids text[], out m_call_ids text[],
    out m_create_times bytea, out m_bytes integer[], out m_run_ids text[], out m_bodies bytea[], out m_removed_versions bigint[],
    out m_erased boolean[]
) returns setof record language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
    v_seqs bigint[];
begin
    perform set_config('app.tenant', p_tenant, true);
    m_version := lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false);
    if m_version is null then
        return;
    end if;

    select array_agg(n.seq order by n.place) filter (where n.shown), count(*), max(n.seq) filter (where n.place = n.places)
    into v_seqs, m_scanned, m_last_scanned
    from (
        select u.seq,
            (p_roles is null or u.role = any(p_roles))
            and (p_event_after is null or u.event_time >= p_event_after)
            and (p_event_before is null or u.event_time < p_event_before)
            and (p_run_id is null or u.run_id = p_run_id) as shown,
            row_number() over (order by case when p_descending then -u.seq else u.seq end) as place,
            count(*) over () as places
        from (
            (
                select m.seq, m.role, m.event_time, m.run_id
                from lockstitch.messages m
                where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq > p_after_seq and m.seq < p_before_seq
                order by case when p_descending then m.seq end desc, case when not p_descending then m.seq end
                limit p_scan_max
            )
            union all
            (
                select h.seq, h.role, h.event_time, h.run_id
                from lockstitch.messages_history h
                where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq > p_after_seq and h.seq < p_before_seq
                    and h.removed
                order by case when p_descending then h.seq end desc, case when not p_descending then h.seq end
                limit p_scan_max
            )
        ) as u
        order by case when p_descending then -u.seq else u.seq end
        limit p_scan_max
    ) as n;
    m_matched := coalesce(cardinality(v_seqs), 0);

    select array_agg(w.seq), array_agg(w.version), array_agg(w.role), array_agg(w.message_id), array_agg(w.call_id),
        string_agg(timestamptz_send(w.create_time), ''), array_agg(w.bytes), array_agg(w.run_id), array_agg(w.body),
        array_agg(w.removed_version), array_agg(w.erased)
    into m_seqs, m_versions, m_roles, m_ids, m_call_ids, m_create_times, m_bytes, m_run_ids, m_bodies,
        m_removed_versions, m_erased
    from (
        select t.*
        from (
            select l.*, k.place, sum(l.bytes + 512) over (order by k.place) as running
            from unnest(v_seqs[:p_limit]) with ordinality as k (seq, place)
            cross join lateral (
                select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body) as bytes, m.body, m.run_id,
                    null::bigint as removed_version, false as erased
                from lockstitch.messages m
                where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = k.seq
                union all
                select h.seq, h.version, h.role, h.message_id, h.call_id, h.create_time, octet_length(h.body), h.body, h.run_id,
                    h.until_version, h.erased
                from lockstitch.messages_history h
                where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = k.seq and h.removed
            ) as l
        ) as t
        where t.running <= p_bytes_max or t.place = 1
        order by t.seq
    ) as w;
    return next;
end
$$;

-- What commits stored, as they stored it: appended messages lie between two seqs, changed ones are named. Volatile, so that it sees
-- what an earlier part of its statement wrote.
create function lockstitch.messages_of_commits_v1(
    p_tenant text, p_session_key uuid, p_first_version bigint, p_last_version bigint, p_first_seq bigint, p_last_seq bigint,
    p_updated_seqs bigint[]
) returns table (
    seq bigint, version bigint, role smallint, message_id text, call_id text, create_time timestamptz, bytes integer, body bytea,
    run_id text, removed_version bigint, erased boolean
) language plpgsql volatile as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body), m.body, m.run_id, null::bigint, false
        from lockstitch.messages m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.version between p_first_version and p_last_version
            and m.seq between p_first_seq and p_last_seq
        union all
        select h.seq, h.version, h.role, h.message_id, h.call_id, h.create_time, octet_length(h.body), h.body, h.run_id, null::bigint, h.erased
        from lockstitch.messages_history h
        where h.session_key = p_session_key and h.tenant_id = p_tenant and h.version between p_first_version and p_last_version
            and h.seq between p_first_seq and p_last_seq
        union all
        -- Each seq looked up by itself, also by a plan that was made for few messages: hence the offset.
        select u.*
        from (
            select distinct n.seq
            from unnest(p_updated_seqs) as n (seq)
            where (n.seq between p_first_seq and p_last_seq) is not true
        ) as k
        cross join lateral (
            select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body), m.body, m.run_id, null::bigint,
                false
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = k.seq
                and m.version between p_first_version and p_last_version
            union all
            select h.seq, h.version, h.role, h.message_id, h.call_id, h.create_time, octet_length(h.body), h.body, h.run_id, null::bigint,
                h.erased
            from lockstitch.messages_history h
            where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = k.seq
                and h.version between p_first_version and p_last_version
            offset 0
        ) as u
        order by 1, 2;
end
$$;

-- The messages that a commit removed, newest first, while they fit, each with how many there were. Volatile, likewise.
create function lockstitch.removed_messages_v1(p_tenant text, p_session_key uuid, p_version bigint, p_bytes_max bigint)
returns table (
    m_seq bigint, m_version bigint, m_role smallint, m_id text, m_call_id text, m_create_time timestamptz, m_bytes integer,
    m_body bytea, m_run_id text, m_removed_version bigint, m_erased boolean, m_total bigint
) language plpgsql volatile as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select w.seq, w.version, w.role, w.message_id, w.call_id, w.create_time, w.bytes, w.body, w.run_id, p_version, w.erased, w.total
        from (
            select h.seq, h.version, h.role, h.message_id, h.call_id, h.create_time, octet_length(h.body) as bytes, h.body, h.run_id, h.erased,
                count(*) over () as total,
                row_number() over (order by h.seq desc) as place,
                sum(octet_length(h.body) + 512) over (order by h.seq desc) as running
            from lockstitch.commits c
            join lockstitch.messages_history h
                on h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq between c.removed_from and c.removed_to
                and h.until_version = p_version and h.removed
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = p_version
        ) as w
        where w.running <= p_bytes_max or w.place = 1
        order by w.place;
end
$$;
