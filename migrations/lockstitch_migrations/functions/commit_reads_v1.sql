-- A page of the log between two versions, in either direction, cut by the size of what the commits carry. The first row is the
-- session's (c_request_hash null): its version. `fetched` says how many there were before the page was cut by size.
create function lockstitch.list_commits_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_after_version bigint, p_before_version bigint,
    p_descending boolean, p_limit integer, p_bytes_max bigint, p_show_deleted boolean
) returns table (
    c_version bigint, c_request_hash uuid, c_commit_time timestamptz, c_last_seq bigint, c_new_messages smallint,
    c_new_tool_calls smallint, c_method smallint, c_principal_role smallint, c_principal_subject text, c_traceparent text,
    c_memory_change bytea, c_changed_tool_calls bigint[], c_updated_seq bigint, c_removed_from bigint, c_removed_to bigint,
    c_erased boolean, c_run_id text, c_changed_run_id text, c_ended_run_id text, c_memory_run_id text,
    c_checkpoint_namespaces text[], c_checkpoint_ids text[], c_checkpoint_bytes bigint[], c_checkpoints_deleted boolean, fetched bigint
) language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
    v_version bigint;
begin
    perform set_config('app.tenant', p_tenant, true);
    v_version := lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, p_show_deleted);
    if v_version is null then
        return;
    end if;
    c_version := v_version;
    return next;

    return query
        select w.version, w.request_hash, w.commit_time, w.last_seq, w.new_messages, w.new_tool_calls, w.method, w.principal_role,
            w.principal_subject, w.traceparent, w.memory_change, w.changed_tool_calls, w.updated_seq, w.removed_from, w.removed_to,
            w.erased, w.run_id, w.changed_run_id, w.ended_run_id, w.memory_run_id,
            w.checkpoint_namespaces, w.checkpoint_ids, w.checkpoint_bytes, w.checkpoints_deleted, w.fetched
        from (
            select n.*, count(*) over () as fetched, row_number() over by_place as place,
                sum(
                    1024 + case when n.changed_run_id is null then 0 else 81920 end
                    + 1100 * coalesce(cardinality(n.checkpoint_ids), 0) + coalesce(octet_length(n.memory_change), 0) + coalesce(b.bytes, 0) + coalesce(t.bytes, 0)
                ) over by_place as running
            from (
                select c.*
                from lockstitch.commits c
                where c.session_key = p_session_key and c.tenant_id = p_tenant
                    and c.version > p_after_version and c.version < p_before_version
                order by
                    case when p_descending then c.version end desc,
                    case when not p_descending then c.version end
                limit p_limit
            ) as n
            left join lateral (
                select sum(m.bytes + 512) as bytes
                from (
                    select octet_length(l.body) as bytes
                    from lockstitch.messages l
                    where l.session_key = p_session_key and l.tenant_id = p_tenant
                        and l.seq between n.last_seq - n.new_messages + 1 and n.last_seq
                    union all
                    select octet_length(h.body)
                    from lockstitch.messages_history h
                    where h.session_key = p_session_key and h.tenant_id = p_tenant and h.version = n.version
                        and h.seq between n.last_seq - n.new_messages + 1 and n.last_seq
                    union all
                    select octet_length(u.body)
                    from lockstitch.messages u
                    where u.session_key = p_session_key and u.tenant_id = p_tenant and u.seq = n.updated_seq
                    union all
                    select octet_length(o.body)
                    from lockstitch.messages_history o
                    where o.session_key = p_session_key and o.tenant_id = p_tenant and o.seq = n.updated_seq
                        and o.version = n.version
                ) as m
            ) as b on n.new_messages > 0 or n.updated_seq is not null
            -- What its tool calls take, with what they hold of their own as of this commit.
            left join lateral (
                select sum(
                    1536 + octet_length(c.call_id) + octet_length(c.name) + octet_length(c.detail)
                    + case when k.requested_version = n.version then coalesce(octet_length(c.arguments), 0) else 0 end
                    + case when c.ended_version = n.version then coalesce(octet_length(c.result), 0) else 0 end
                ) as bytes
                from (
                    select n.version as requested_version, i as position
                    from generate_series(0, n.new_tool_calls - 1) as i
                    union all
                    select n.changed_tool_calls[2 * i - 1], n.changed_tool_calls[2 * i]::integer
                    from generate_series(1, cardinality(n.changed_tool_calls) / 2) as i
                ) as k
                cross join lateral (
                    select l.call_id, l.name, l.ended_version, l.detail, l.arguments, l.result
                    from lockstitch.tool_calls l
                    where l.session_key = p_session_key and l.tenant_id = p_tenant
                        and l.requested_version = k.requested_version and l.position = k.position and l.version = n.version
                    union all
                    select h.call_id, h.name, h.ended_version, h.detail, h.arguments, h.result
                    from lockstitch.tool_calls_history h
                    where h.session_key = p_session_key and h.tenant_id = p_tenant
                        and h.requested_version = k.requested_version and h.position = k.position and h.version = n.version
                ) as c
            ) as t on n.new_tool_calls > 0 or n.changed_tool_calls is not null
            window by_place as (order by case when p_descending then -n.version else n.version end)
        ) as w
        where w.running <= p_bytes_max or w.place = 1
        order by w.place;
end
$$;
