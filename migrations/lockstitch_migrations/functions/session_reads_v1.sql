-- A session as it was after the commit p_version, for answers and replays. Volatile, so that it sees what an earlier part of its
-- statement wrote. Planned anew at each call: on a small log the index by request_id looks as good as the one by version.
create function lockstitch.session_at_v1(
    p_tenant text, p_session_key uuid, p_version bigint,
    out s_session_id text, out s_user_id text, out s_agent text, out s_create_time timestamptz, out s_version bigint,
    out s_last_seq bigint, out s_memory_version bigint, out s_message_count integer, out s_update_time timestamptz,
    out s_last_activity_time timestamptz, out s_status smallint, out s_close_time timestamptz, out s_close_reason text,
    out s_expire_time timestamptz, out s_idle_ttl interval, out s_title text, out s_label_keys text[],
    out s_label_values text[], out s_metadata bytea, out s_delete_time timestamptz, out s_purge_time timestamptz,
    out s_active_run_id text, out s_forked_from_id text, out s_forked_from_version bigint
) returns setof record language plpgsql volatile set plan_cache_mode = force_custom_plan as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select s.session_id, s.user_id, s.agent, s.create_time, c.version, c.last_seq, c.memory_version, c.message_count,
            c.commit_time, coalesce(c.last_activity_time, c.commit_time), d.status, d.close_time, d.close_reason, d.expire_time,
            d.idle_ttl, d.title, d.label_keys, d.label_values, d.metadata, d.delete_time, d.purge_time,
            (
                -- Runs follow on one another: the one that was started last is the one that may not have ended.
                select case when r.ended_version is null or r.ended_version > p_version then r.run_id end
                from lockstitch.runs r
                where r.session_key = p_session_key and r.tenant_id = p_tenant and r.started_version <= p_version
                order by r.fencing_token desc
                limit 1
            ),
            s.forked_from_id, s.forked_from_version
        from lockstitch.sessions s
        join lockstitch.commits c on c.session_key = s.session_key and c.tenant_id = p_tenant and c.version = p_version
        join lateral (
            select l.status, l.close_time, l.close_reason, l.expire_time, l.idle_ttl, l.title, l.label_keys, l.label_values, l.metadata,
                l.delete_time, l.purge_time
            from lockstitch.session_details l
            where l.session_key = s.session_key and l.tenant_id = p_tenant and l.version <= p_version
            union all
            select h.status, h.close_time, h.close_reason, h.expire_time, h.idle_ttl, h.title, h.label_keys, h.label_values, h.metadata,
                h.delete_time, h.purge_time
            from lockstitch.session_details_history h
            where h.session_key = s.session_key and h.tenant_id = p_tenant
                and h.version <= p_version and h.until_version > p_version
        ) as d on true
        where s.session_key = p_session_key and s.tenant_id = p_tenant;
end
$$;

-- The working memory of a session (p_run_id '') or of a run as it was after the commit p_version. Volatile, like session_at_v1.
create function lockstitch.memory_at_v1(
    p_tenant text, p_session_key uuid, p_version bigint, p_run_id text,
    out memory_keys bytea[], out memory_values bytea[], out memory_erased boolean
) language plpgsql volatile as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    select array_agg(m.memory_key) filter (where not m.erased), array_agg(m.value) filter (where not m.erased),
        coalesce(bool_or(m.erased), false)
    into memory_keys, memory_values, memory_erased
    from (
        select l.memory_key, l.value, false as erased
        from lockstitch.memory l
        where l.session_key = p_session_key and l.tenant_id = p_tenant and l.run_id = p_run_id and l.version <= p_version
        union all
        select h.memory_key, h.value, h.erased
        from lockstitch.memory_history h
        where h.session_key = p_session_key and h.tenant_id = p_tenant and h.run_id = p_run_id
            and h.version <= p_version and h.until_version > p_version
    ) as m;
end
$$;

-- The named keys of working memory with the versions they are at, to merge a patch into.
create function lockstitch.memory_keys_v1(p_tenant text, p_session_key uuid, p_run_id text, p_keys bytea[])
returns table (memory_key bytea, value bytea, version bigint) language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select m.memory_key, m.value, m.version
        from lockstitch.memory m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.run_id = p_run_id and m.memory_key = any(p_keys);
end
$$;

-- A session now, and from the same snapshot its newest messages (newest first), memory, open and lately ended tool calls. Stable: every part sees
-- what the calling statement saw. Message bodies come while the small ones and, apart from them, the large ones fit p_bytes_max.
create function lockstitch.get_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_messages integer, p_memory boolean, p_open_calls integer, p_ended_calls integer, p_bytes_max bigint, p_call_bytes_max bigint,
    p_last_run boolean, p_show_deleted boolean,
    out s_session_id text, out s_user_id text, out s_agent text, out s_create_time timestamptz, out s_version bigint,
    out s_last_seq bigint, out s_memory_version bigint, out s_message_count integer, out s_update_time timestamptz,
    out s_last_activity_time timestamptz, out s_status smallint, out s_close_time timestamptz, out s_close_reason text,
    out s_expire_time timestamptz, out s_idle_ttl interval, out s_title text, out s_label_keys text[],
    out s_label_values text[], out s_metadata bytea, out s_delete_time timestamptz, out s_purge_time timestamptz,
    out s_active_run_id text, out s_forked_from_id text, out s_forked_from_version bigint,
    out m_seqs bigint[], out m_versions bigint[], out m_roles smallint[], out m_ids text[], out m_call_ids text[],
    out m_create_times bytea, out m_bytes integer[], out m_run_ids text[], out m_bodies bytea[],
    out memory_keys bytea[], out memory_values bytea[],
    out c_requested_versions bigint[], out c_positions integer[], out c_part_indexes integer[], out c_versions bigint[],
    out c_message_seqs bigint[], out c_result_seqs bigint[], out c_ended_versions bigint[], out c_create_times timestamptz[],
    out c_start_times timestamptz[], out c_end_times timestamptz[], out c_statuses smallint[], out c_call_ids text[],
    out c_names text[], out c_arguments_digests bytea[], out c_details bytea[], out c_arguments bytea[], out c_results bytea[], out c_message_ids text[],
    out c_result_message_ids text[], out c_message_bytes integer[], out c_result_bytes integer[],
    out c_message_bodies bytea[], out c_result_bodies bytea[], out c_run_ids text[],
    out l_result_seqs bigint[], out l_message_seqs bigint[], out l_part_indexes integer[],
    out run_id text, out fencing_token bigint, out started_version bigint, out ended_version bigint, out cancel_version bigint,
    out start_time timestamptz, out end_time timestamptz, out granted_until timestamptz, out renewed_until timestamptz,
    out status smallint, out worker text, out error bytea, out label_keys text[], out label_values text[]
) returns setof record language plpgsql stable as $$
declare
    v_calls lockstitch.tool_calls[];
    v_first_seq bigint;
    v_small_bytes bigint;
    v_large_bytes bigint;
begin
    perform set_config('app.tenant', p_tenant, true);
    select s.session_id, s.user_id, s.agent, s.create_time, s.version, s.last_seq, s.memory_version, s.message_count,
        s.update_time, s.last_activity_time,
        lockstitch.session_status_v1(s, clock_timestamp()), d.close_time, d.close_reason, s.expire_time, s.idle_ttl, d.title,
        d.label_keys, d.label_values, d.metadata, d.delete_time, d.purge_time, s.active_run_id,
        s.forked_from_id, s.forked_from_version
    into s_session_id, s_user_id, s_agent, s_create_time, s_version, s_last_seq, s_memory_version, s_message_count,
        s_update_time, s_last_activity_time, s_status, s_close_time, s_close_reason, s_expire_time, s_idle_ttl, s_title,
        s_label_keys, s_label_values, s_metadata, s_delete_time, s_purge_time, s_active_run_id, s_forked_from_id,
        s_forked_from_version
    from lockstitch.sessions s
    join lockstitch.session_details d on d.session_key = s.session_key and d.tenant_id = p_tenant
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
        and lockstitch.reaches_v1(p_owner, s.user_id, s.agent)
        and (s.status <> 4 or (p_show_deleted and s.purge_time > clock_timestamp()));
    if not found then
        return;
    end if;

    if p_messages > 0 then
        -- Newest first, as the index gives them.
        select array_agg(n.seq), array_agg(n.version), array_agg(n.role), array_agg(n.message_id), array_agg(n.call_id),
            string_agg(timestamptz_send(n.create_time), ''), array_agg(n.bytes), array_agg(n.run_id),
            sum(n.bytes) filter (where n.bytes <= 65536), sum(n.bytes) filter (where n.bytes > 65536)
        into m_seqs, m_versions, m_roles, m_ids, m_call_ids, m_create_times, m_bytes, m_run_ids, v_small_bytes, v_large_bytes
        from (
            select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body) as bytes, m.run_id
            from lockstitch.messages m
            where m.session_key = p_session_key and m.tenant_id = p_tenant
            order by m.seq desc
            limit p_messages
        ) as n;
        v_first_seq := m_seqs[cardinality(m_seqs)];
        if greatest(v_small_bytes, v_large_bytes) <= p_bytes_max then
            select array_agg(n.body) into m_bodies
            from (
                select m.body
                from lockstitch.messages m
                where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq >= v_first_seq
                order by m.seq desc
            ) as n;
        else
            select array_agg(n.body order by n.seq desc) into m_bodies
            from (
                select m.seq,
                    case
                        when sum(octet_length(m.body)) over (partition by octet_length(m.body) > 65536 order by m.seq desc)
                            <= p_bytes_max
                            then m.body
                    end as body
                from lockstitch.messages m
                where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq >= v_first_seq
            ) as n;
        end if;
        -- Where the results among them belong.
        if p_ended_calls > 0 then
            select array_agg(c.result_seq), array_agg(c.message_seq), array_agg(c.part_index)
            into l_result_seqs, l_message_seqs, l_part_indexes
            from lockstitch.tool_calls c
            where c.session_key = p_session_key and c.tenant_id = p_tenant
                -- Calls were recorded with the first of the messages or later; the ledger's key is by version.
                and c.requested_version >= coalesce(
                    (
                        select min(h.version)
                        from lockstitch.messages_history h
                        where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = v_first_seq
                    ),
                    m_versions[cardinality(m_versions)]
                )
                and c.message_seq >= v_first_seq and c.result_seq is not null;
        end if;
    end if;

    if p_memory then
        select array_agg(m.memory_key), array_agg(m.value)
        into memory_keys, memory_values
        from lockstitch.memory m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.run_id = '';
    end if;

    if p_open_calls > 0 then
        select array_agg(o.call) into v_calls
        from (
            select c as call
            from lockstitch.tool_calls c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.status <= 3
            order by c.requested_version, c.position
            limit p_open_calls
        ) as o;
    end if;
    if p_ended_calls > 0 then
        select v_calls || array_agg(e.call order by e.requested_version, e.position) into v_calls
        from (
            select c as call, c.requested_version, c.position
            from lockstitch.tool_calls c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.status > 3
            order by c.requested_version desc, c.position desc
            limit p_ended_calls
        ) as e;
    end if;
    if v_calls is not null then
        select array_agg(c.requested_version), array_agg(c.position), array_agg(c.part_index), array_agg(c.version),
            array_agg(c.message_seq), array_agg(c.result_seq), array_agg(c.ended_version), array_agg(c.create_time),
            array_agg(c.start_time), array_agg(c.end_time), array_agg(c.status), array_agg(c.call_id), array_agg(c.name),
            array_agg(c.arguments_digest), array_agg(c.detail), array_agg(c.arguments), array_agg(c.result), array_agg(c.message_id), array_agg(c.result_message_id),
            array_agg(c.message_bytes), array_agg(c.result_bytes), array_agg(c.message_body), array_agg(c.result_body),
            array_agg(c.run_id)
        into c_requested_versions, c_positions, c_part_indexes, c_versions, c_message_seqs, c_result_seqs, c_ended_versions,
            c_create_times, c_start_times, c_end_times, c_statuses, c_call_ids, c_names, c_arguments_digests, c_details, c_arguments, c_results,
            c_message_ids, c_result_message_ids, c_message_bytes, c_result_bytes, c_message_bodies, c_result_bodies,
            c_run_ids
        from lockstitch.tool_calls_with_bodies_v1(p_tenant, p_session_key, v_calls, null, p_call_bytes_max) as c;
    end if;
    if p_last_run then
        select r.*
        into run_id, fencing_token, started_version, ended_version, cancel_version, start_time, end_time, granted_until,
            renewed_until, status, worker, error, label_keys, label_values
        from lockstitch.run_rows_v1(p_tenant, p_session_key) as r
        order by r.fencing_token desc
        limit 1;
    end if;
    return next;
end
$$;
