-- Whether a list shows a session, its labels aside. Without a subquery, so that it is inlined.
create function lockstitch.session_shown_v1(
    p_session lockstitch.sessions, p_tenant text, p_user text, p_agent text, p_statuses smallint[],
    p_created_after timestamptz, p_created_before timestamptz, p_active_after timestamptz, p_active_before timestamptz,
    p_cursor_minute integer, p_cursor_time timestamptz, p_cursor_id text, p_now timestamptz, p_show_deleted boolean
) returns boolean language sql stable as $$
    select p_session.tenant_id = p_tenant
        and (p_user is null or p_session.user_id = p_user)
        and (p_agent is null or p_session.agent = p_agent)
        and (p_session.status <> 4 or (p_show_deleted and p_session.purge_time > p_now))
        and (
            p_statuses is null
            or lockstitch.session_status_v1(p_session, p_now) = any(p_statuses)
        )
        and (p_created_after is null or p_session.create_time >= p_created_after)
        and (p_created_before is null or p_session.create_time < p_created_before)
        and (p_active_after is null or p_session.last_activity_time >= p_active_after)
        and (p_active_before is null or p_session.last_activity_time < p_active_before)
        and (p_session.activity_minute, p_session.last_activity_time, p_session.session_id)
            < (p_cursor_minute, p_cursor_time, p_cursor_id)
$$;

-- A page of sessions, the most recently used first, behind the cursor (minute, time, id). Exact by (activity_minute,
-- last_activity_time, session_id); activity_minute is what is indexed.
--
-- A label that no more than p_scan_max sessions have leads the search; the rarest, of several; unless the user has fewer. Else the
-- sessions of the tenant, or of the user, are walked in the order of the list, and no more than p_scan_max are looked at, since
-- filters hide some. The first row is the list's (s_session_id null): how many sessions there were before the page was cut by
-- size, and, where the walk was not ended, the session that it stopped at.
--
-- Planned anew at each call, since which index serves depends on which filters are given; and never by reading and sorting all
-- that match, since a page needs the first few.
create function lockstitch.list_sessions_v1(
    p_tenant text, p_user text, p_agent text, p_statuses smallint[], p_label_keys text[], p_label_values text[],
    p_created_after timestamptz, p_created_before timestamptz, p_active_after timestamptz, p_active_before timestamptz,
    p_cursor_minute integer, p_cursor_time timestamptz, p_cursor_id text, p_limit integer, p_scan_max integer, p_bytes_max bigint,
    p_show_deleted boolean, p_forked_from uuid
) returns table (
    s_session_id text, s_user_id text, s_agent text, s_create_time timestamptz, s_version bigint, s_last_seq bigint,
    s_memory_version bigint, s_message_count integer, s_update_time timestamptz, s_last_activity_time timestamptz,
    s_status smallint, s_close_time timestamptz, s_close_reason text, s_expire_time timestamptz, s_idle_ttl interval, s_title text,
    s_label_keys text[], s_label_values text[], s_metadata bytea, s_delete_time timestamptz, s_purge_time timestamptz,
    s_active_run_id text, s_forked_from_id text, s_forked_from_version bigint, activity_minute integer,
    fetched bigint, stopped_minute integer, stopped_time timestamptz, stopped_id text
) language plpgsql stable
set plan_cache_mode = force_custom_plan
set enable_sort = off
set enable_bitmapscan = off
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_having integer;
    v_fewest integer := p_scan_max + 1;
    v_rarest integer;
    v_labelled uuid[];
    v_page lockstitch.sessions[];
begin
    perform set_config('app.tenant', p_tenant, true);
    for i in 1 .. cardinality(p_label_keys) loop
        select count(*) into v_having
        from (
            select
            from lockstitch.session_labels t
            where t.tenant_id = p_tenant and t.label_key = p_label_keys[i] and t.label_value = p_label_values[i]
            limit v_fewest
        ) as n;
        if v_having < v_fewest then
            v_fewest := v_having;
            v_rarest := i;
        end if;
    end loop;

    -- A user may have fewer still.
    if v_rarest is not null and p_user is not null then
        select count(*) into v_having
        from (
            select
            from lockstitch.sessions s
            where s.tenant_id = p_tenant and s.user_id = p_user and s.activity_minute >= 0
            limit v_fewest
        ) as n;
        if v_having < v_fewest then
            v_rarest := null;
        end if;
    end if;

    if p_forked_from is not null then
        -- Forks of one session are few, and lead the search whatever else is asked for.
        v_rarest := 0;
        v_labelled := array(
            select s.session_key
            from lockstitch.sessions s
            where s.forked_from_key = p_forked_from and s.tenant_id = p_tenant
                and not exists (
                    select
                    from unnest(p_label_keys, p_label_values) as l (label_key, label_value)
                    where not exists (
                        select
                        from lockstitch.session_labels o
                        where o.session_key = s.session_key and o.tenant_id = p_tenant
                            and o.label_key = l.label_key and o.label_value = l.label_value
                    )
                )
        );
    elsif v_rarest is not null then
        v_labelled := array(
            select t.session_key
            from lockstitch.session_labels t
            where t.tenant_id = p_tenant and t.label_key = p_label_keys[v_rarest] and t.label_value = p_label_values[v_rarest]
                and not exists (
                    select
                    from unnest(p_label_keys, p_label_values) as l (label_key, label_value)
                    where not exists (
                        select
                        from lockstitch.session_labels o
                        where o.session_key = t.session_key and o.tenant_id = p_tenant
                            and o.label_key = l.label_key and o.label_value = l.label_value
                    )
                )
        );
    end if;
    if v_rarest is not null then
        v_page := array(
            select f.session
            from unnest(v_labelled) as k (session_key)
            cross join lateral (
                select s as session, s.activity_minute, s.last_activity_time, s.session_id
                from lockstitch.sessions s
                where s.session_key = k.session_key
                    and lockstitch.session_shown_v1(
                        s, p_tenant, p_user, p_agent, p_statuses, p_created_after, p_created_before, p_active_after,
                        p_active_before, p_cursor_minute, p_cursor_time, p_cursor_id, v_now, p_show_deleted
                    )
                -- Not to be walked by activity after all.
                offset 0
            ) as f
            order by f.activity_minute desc, f.last_activity_time desc, f.session_id desc
            limit p_limit
        );
    else
        select array_agg(p.session order by p.scanned) filter (where p.shown),
            max(p.activity_minute) filter (where p.scanned = p_scan_max),
            max(p.last_activity_time) filter (where p.scanned = p_scan_max),
            max(p.session_id) filter (where p.scanned = p_scan_max)
        into v_page, stopped_minute, stopped_time, stopped_id
        from (
            select n.*
            from (
                select w.*,
                    row_number() over (order by w.activity_minute desc, w.last_activity_time desc, w.session_id desc) as scanned,
                    lockstitch.session_shown_v1(
                        w.session, p_tenant, p_user, p_agent, p_statuses, p_created_after, p_created_before, p_active_after,
                        p_active_before, p_cursor_minute, p_cursor_time, p_cursor_id, v_now, p_show_deleted
                    )
                    and not exists (
                        select
                        from unnest(p_label_keys, p_label_values) as l (label_key, label_value)
                        where not exists (
                            select
                            from lockstitch.session_labels t
                            where t.session_key = w.session_key and t.tenant_id = p_tenant
                                and t.label_key = l.label_key and t.label_value = l.label_value
                        )
                    ) as shown
                from (
                    select s as session, s.session_key, s.activity_minute, s.last_activity_time, s.session_id
                    from lockstitch.sessions s
                    where s.tenant_id = p_tenant
                        and (p_user is null or s.user_id = p_user)
                        and (p_active_after is null or s.activity_minute >= lockstitch.minute_v1(p_active_after))
                        -- Nobody used it before it was there.
                        and (p_created_after is null or s.activity_minute >= lockstitch.minute_v1(p_created_after))
                        and (p_active_before is null or s.activity_minute <= lockstitch.minute_v1(p_active_before))
                        and s.activity_minute >= 0
                        and s.activity_minute <= p_cursor_minute
                        and (s.activity_minute, s.last_activity_time, s.session_id)
                            < (p_cursor_minute, p_cursor_time, p_cursor_id)
                    order by s.activity_minute desc, s.last_activity_time desc, s.session_id desc
                    limit p_scan_max
                ) as w
            ) as n
            where n.shown or n.scanned = p_scan_max
            order by n.activity_minute desc, n.last_activity_time desc, n.session_id desc
            limit p_limit
        ) as p;
    end if;
    fetched := coalesce(cardinality(v_page), 0);
    return next;

    return query
        select f.session_id, f.user_id, f.agent, f.create_time, f.version, f.last_seq, f.memory_version, f.message_count,
            f.update_time, f.last_activity_time, f.computed_status, f.close_time, f.close_reason, f.expire_time, f.idle_ttl,
            f.title, f.label_keys, f.label_values, f.metadata, f.delete_time, f.purge_time, f.active_run_id, f.forked_from_id,
            f.forked_from_version, f.activity_minute, null::bigint, null::integer,
            null::timestamptz, null::text
        from (
            select p.ordinality, (p.s).*, d.close_time, d.close_reason, d.title, d.label_keys, d.label_values, d.metadata,
                d.delete_time, lockstitch.session_status_v1(p.s, v_now) as computed_status,
                sum(
                    512 + octet_length(d.metadata) + octet_length(d.title) + octet_length(d.close_reason)
                    + octet_length(array_to_string(d.label_keys || d.label_values, ''))
                    + 8 * cardinality(d.label_keys) + octet_length((p.s).session_id) + octet_length((p.s).user_id)
                    + octet_length((p.s).agent) + octet_length(p_tenant)
                ) over (order by p.ordinality) as running
            from (select v_page[i] as s, i as ordinality from generate_subscripts(v_page, 1) as i) as p
            join lockstitch.session_details d on d.session_key = (p.s).session_key and d.tenant_id = p_tenant
        ) as f
        where f.running <= p_bytes_max or f.ordinality = 1
        order by f.ordinality;
end
$$;
