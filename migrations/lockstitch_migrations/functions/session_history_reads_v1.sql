-- A session as it was after the commit p_version, with its messages, memory and open tool calls of then, in get_session_v1's form.
-- s_status is null where there is no such session, and 0 where the version lies ahead of it (s_version is then the current one).
create function lockstitch.get_session_at_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_version bigint,
    p_messages integer, p_memory boolean, p_open_calls integer, p_bytes_max bigint, p_call_bytes_max bigint,
    p_show_deleted boolean,
    out s_session_id text, out s_user_id text, out s_agent text, out s_create_time timestamptz, out s_version bigint,
    out s_last_seq bigint, out s_memory_version bigint, out s_message_count integer, out s_update_time timestamptz,
    out s_last_activity_time timestamptz, out s_status smallint, out s_close_time timestamptz, out s_close_reason text,
    out s_expire_time timestamptz, out s_idle_ttl interval, out s_title text, out s_label_keys text[],
    out s_label_values text[], out s_metadata bytea, out s_delete_time timestamptz, out s_purge_time timestamptz,
    out s_active_run_id text, out s_forked_from_id text, out s_forked_from_version bigint,
    out m_seqs bigint[], out m_versions bigint[], out m_roles smallint[], out m_ids text[], out m_call_ids text[],
    out m_create_times bytea, out m_bytes integer[], out m_run_ids text[], out m_bodies bytea[], out m_erased boolean[],
    out memory_keys bytea[], out memory_values bytea[], out memory_erased boolean,
    out c_requested_versions bigint[], out c_positions integer[], out c_part_indexes integer[], out c_versions bigint[],
    out c_message_seqs bigint[], out c_result_seqs bigint[], out c_ended_versions bigint[], out c_create_times timestamptz[],
    out c_start_times timestamptz[], out c_end_times timestamptz[], out c_statuses smallint[], out c_call_ids text[],
    out c_names text[], out c_arguments_digests bytea[], out c_details bytea[], out c_arguments bytea[], out c_results bytea[],
    out c_message_ids text[], out c_result_message_ids text[], out c_message_bytes integer[], out c_result_bytes integer[],
    out c_message_bodies bytea[], out c_result_bodies bytea[], out c_run_ids text[],
    out l_result_seqs bigint[], out l_message_seqs bigint[], out l_part_indexes integer[]
) returns setof record language plpgsql stable as $$
declare
    v_current bigint;
    v_requested_versions bigint[];
    v_positions integer[];
begin
    perform set_config('app.tenant', p_tenant, true);
    v_current := lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, p_show_deleted);
    if v_current is null then
        return;
    end if;
    if p_version > v_current then
        s_status := 0;
        s_version := v_current;
        return next;
        return;
    end if;

    select a.* into s_session_id, s_user_id, s_agent, s_create_time, s_version, s_last_seq, s_memory_version, s_message_count,
        s_update_time, s_last_activity_time, s_status, s_close_time, s_close_reason, s_expire_time, s_idle_ttl, s_title,
        s_label_keys, s_label_values,
        s_metadata, s_delete_time, s_purge_time, s_active_run_id, s_forked_from_id, s_forked_from_version
    from lockstitch.session_at_v1(p_tenant, p_session_key, p_version) as a;

    if p_messages > 0 then
        select array_agg(t.seq), array_agg(t.version), array_agg(t.role), array_agg(t.message_id), array_agg(t.call_id),
            string_agg(timestamptz_send(t.create_time), ''), array_agg(t.bytes), array_agg(t.run_id), array_agg(t.body),
            array_agg(t.erased)
        into m_seqs, m_versions, m_roles, m_ids, m_call_ids, m_create_times, m_bytes, m_run_ids, m_bodies, m_erased
        from (
            select n.seq, n.version, n.role, n.message_id, n.call_id, n.create_time, n.bytes, n.run_id, n.erased,
                case
                    when sum(n.bytes) over (partition by n.bytes > 65536 order by n.seq desc) <= p_bytes_max then n.body
                end as body
            from (
                select u.*
                from (
                    (
                        select m.seq, m.version, m.role, m.message_id, m.call_id, m.create_time, octet_length(m.body) as bytes,
                            m.run_id, m.body, false as erased
                        from lockstitch.messages m
                        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq <= s_last_seq
                            and m.version <= p_version
                        order by m.seq desc
                        limit p_messages
                    )
                    union all
                    (
                        select h.seq, h.version, h.role, h.message_id, h.call_id, h.create_time, octet_length(h.body),
                            h.run_id, h.body, h.erased
                        from lockstitch.messages_history h
                        where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq <= s_last_seq
                            and h.version <= p_version and h.until_version > p_version
                        order by h.seq desc
                        limit p_messages
                    )
                ) as u
                order by u.seq desc
                limit p_messages
            ) as n
            order by n.seq desc
        ) as t;
    end if;

    if p_memory then
        select a.memory_keys, a.memory_values, a.memory_erased into memory_keys, memory_values, memory_erased
        from lockstitch.memory_at_v1(p_tenant, p_session_key, p_version, '') as a;
    end if;

    if p_open_calls > 0 then
        select array_agg(o.requested_version), array_agg(o.position) into v_requested_versions, v_positions
        from (
            select c.requested_version, c.position
            from lockstitch.tool_calls c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.requested_version <= p_version
                and c.version <= p_version and c.status <= 3
            union all
            select h.requested_version, h.position
            from lockstitch.tool_calls_history h
            where h.session_key = p_session_key and h.tenant_id = p_tenant and h.requested_version <= p_version
                and h.version <= p_version and h.until_version > p_version and h.status <= 3
            order by 1, 2
            limit p_open_calls
        ) as o;
    end if;
    if v_positions is not null then
        select array_agg(c.requested_version), array_agg(c.position), array_agg(c.part_index), array_agg(c.version),
            array_agg(c.message_seq), array_agg(c.result_seq), array_agg(c.ended_version), array_agg(c.create_time),
            array_agg(c.start_time), array_agg(c.end_time), array_agg(c.status), array_agg(c.call_id), array_agg(c.name),
            array_agg(c.arguments_digest), array_agg(c.detail), array_agg(c.arguments), array_agg(c.result),
            array_agg(c.message_id), array_agg(c.result_message_id), array_agg(c.message_bytes), array_agg(c.result_bytes),
            array_agg(c.message_body), array_agg(c.result_body), array_agg(c.run_id)
        into c_requested_versions, c_positions, c_part_indexes, c_versions, c_message_seqs, c_result_seqs, c_ended_versions,
            c_create_times, c_start_times, c_end_times, c_statuses, c_call_ids, c_names, c_arguments_digests, c_details,
            c_arguments, c_results, c_message_ids, c_result_message_ids, c_message_bytes, c_result_bytes, c_message_bodies,
            c_result_bodies, c_run_ids
        from lockstitch.tool_calls_at_v1(
            p_tenant, p_session_key, v_requested_versions, v_positions,
            array_fill(p_version, array[cardinality(v_positions)]), p_call_bytes_max
        ) as c;
    end if;
    return next;
end
$$;

-- Working memory as it was after the newest commits that changed it, from the one before p_before_version back: each version is found
-- from the one after it. The first row is the session's (v_version null) and says whether it is there for the caller.
create function lockstitch.list_memory_versions_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_run_id text, p_before_version bigint,
    p_limit integer, p_bytes_max bigint
) returns table (v_version bigint, memory_keys bytea[], memory_values bytea[], memory_erased boolean, v_more boolean)
language plpgsql stable as $$
declare
    v_last bigint;
    v_next bigint;
    v_bytes bigint := 0;
    v_given integer := 0;
begin
    perform set_config('app.tenant', p_tenant, true);
    v_last := lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false);
    if v_last is null then
        return;
    end if;
    if p_run_id <> '' and not exists (
        select from lockstitch.runs r where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_run_id
    ) then
        -- v_more says so: there is a session, and no such run.
        v_more := true;
        return next;
        return;
    end if;
    return next;

    v_last := least(v_last, p_before_version - 1);
    loop
        if p_run_id = '' then
            select c.memory_version into v_next
            from lockstitch.commits c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = v_last;
        else
            select c.version into v_next
            from lockstitch.commits c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.memory_run_id = p_run_id
                and c.version <= v_last
            order by c.version desc
            limit 1;
        end if;
        exit when not found or v_next = 0;
        select a.memory_keys, a.memory_values, a.memory_erased into memory_keys, memory_values, memory_erased
        from lockstitch.memory_at_v1(p_tenant, p_session_key, v_next, p_run_id) as a;
        v_bytes := v_bytes + 512 + coalesce(
            (select sum(octet_length(k.memory_key) + octet_length(k.value)) from unnest(memory_keys, memory_values) as k (memory_key, value)), 0
        );
        if v_given = p_limit or (v_given > 0 and v_bytes > p_bytes_max) then
            v_version := null;
            v_more := true;
            return next;
            return;
        end if;
        v_version := v_next;
        v_given := v_given + 1;
        return next;
        v_last := v_next - 1;
    end loop;
end
$$;
