-- A tool call as reads give it: the ledger's row with the messages that hold its arguments and result. A body is given once a
-- message, and bodies, arguments and results only while they fit the budget; the sizes are given all the same.
create type lockstitch.tool_call_row_v1 as (
    requested_version bigint,
    "position" integer,
    part_index integer,
    version bigint,
    message_seq bigint,
    result_seq bigint,
    ended_version bigint,
    create_time timestamptz,
    start_time timestamptz,
    end_time timestamptz,
    status smallint,
    call_id text,
    name text,
    arguments_digest bytea,
    detail bytea,
    arguments bytea,
    result bytea,
    message_id text,
    result_message_id text,
    message_bytes integer,
    result_bytes integer,
    message_body bytea,
    result_body bytea,
    run_id text
);

-- A message as it was after the commit p_at, for a call that refers to it.
create function lockstitch.message_at_v1(
    p_tenant text, p_session_key uuid, p_seq bigint, p_at bigint, out message_id text, out body bytea
) returns setof record language sql stable as $$
    select m.message_id, m.body
    from lockstitch.messages m
    where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = p_seq and m.version <= p_at
    union all
    select h.message_id, h.body
    from lockstitch.messages_history h
    where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = p_seq
        and h.version <= p_at and h.until_version > p_at
$$;

-- Adds to calls, in their order, the messages they refer to, as these were after the commits p_at (null: now). Where p_bytes_max is
-- negative there are no bodies, and only those arguments and results that the call's last commit brought without a message.
create function lockstitch.tool_calls_with_bodies_v1(
    p_tenant text, p_session_key uuid, p_calls lockstitch.tool_calls[], p_at bigint[], p_bytes_max bigint
) returns setof lockstitch.tool_call_row_v1 language sql stable as $$
    select b.requested_version, b.position, b.part_index, b.version, b.message_seq, b.result_seq, b.ended_version, b.create_time,
        b.start_time, b.end_time, b.status, b.call_id, b.name, b.arguments_digest, b.detail,
        case when b.running <= p_bytes_max or (p_bytes_max < 0 and b.requested_version = b.version) then b.arguments end,
        case when b.running <= p_bytes_max or (p_bytes_max < 0 and b.ended_version = b.version) then b.result end,
        b.message_id, b.result_message_id,
        b.message_bytes, b.result_bytes,
        case when b.is_first and b.running <= p_bytes_max then b.message_body end,
        case when b.running <= p_bytes_max then b.result_body end,
        b.run_id
    from (
        select a.*,
            sum(case when a.is_first then coalesce(a.message_bytes, 0) else 0 end + coalesce(a.result_bytes, 0))
                over (order by a.place) as running
        from (
            select c.*, m.message_id, r.message_id as result_message_id, coalesce(octet_length(m.body), octet_length(c.arguments)) as message_bytes,
                coalesce(octet_length(r.body), octet_length(c.result)) as result_bytes, m.body as message_body, r.body as result_body,
                c.message_seq is null or row_number() over (partition by c.message_seq order by c.place) = 1 as is_first
            from (select u.*, row_number() over () as place from unnest(p_calls) as u) as c
            left join lateral lockstitch.message_at_v1(
                p_tenant, p_session_key, c.message_seq, coalesce(p_at[c.place], 9223372036854775807)
            ) as m on true
            left join lateral lockstitch.message_at_v1(
                p_tenant, p_session_key, c.result_seq, coalesce(p_at[c.place], 9223372036854775807)
            ) as r on true
        ) as a
    ) as b
    order by b.place
$$;

-- Gives each named call as it was after the commit p_at. Volatile, so that it sees what an earlier part of its statement wrote.
create function lockstitch.tool_calls_at_v1(
    p_tenant text, p_session_key uuid, p_requested_versions bigint[], p_positions integer[], p_at bigint[], p_bytes_max bigint
) returns setof lockstitch.tool_call_row_v1 language plpgsql volatile as $$
declare
    v_calls lockstitch.tool_calls[];
    v_at bigint[];
begin
    perform set_config('app.tenant', p_tenant, true);
    select array_agg(coalesce(live.call, past.call) order by k.place), array_agg(k.at order by k.place)
    into v_calls, v_at
    from unnest(p_requested_versions, p_positions, p_at) with ordinality as k (requested_version, position, at, place)
    left join lateral (
        select c as call
        from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant
            and c.requested_version = k.requested_version and c.position = k.position and c.version <= k.at
    ) as live on true
    left join lateral (
        select row(
            h.session_key, h.requested_version, h.position, h.part_index, h.version, h.message_seq, h.result_seq,
            h.ended_version, h.create_time, h.start_time, h.end_time, h.status, h.tenant_id, h.call_id, h.name,
            h.arguments_digest, h.outcome_digest, h.detail, h.arguments, h.result, h.run_id, h.started_run_id
        )::lockstitch.tool_calls as call
        from lockstitch.tool_calls_history h
        where h.session_key = p_session_key and h.tenant_id = p_tenant
            and h.requested_version = k.requested_version and h.position = k.position
            and h.version <= k.at and h.until_version > k.at
    ) as past on live.call is null
    where not (live.call is null and past.call is null);
    return query select * from lockstitch.tool_calls_with_bodies_v1(p_tenant, p_session_key, v_calls, v_at, p_bytes_max);
end
$$;

-- A page of a session's tool calls, oldest first, behind (p_after_version, p_after_position). The first row says whether the
-- session is there for the caller (requested_version null); the calls follow.
create function lockstitch.list_tool_calls_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_statuses smallint[], p_name text, p_run_id text,
    p_arguments_digest bytea,
    p_after_version bigint, p_after_position integer, p_limit integer, p_bytes_max bigint
) returns setof lockstitch.tool_call_row_v1 language plpgsql stable as $$
declare
    v_calls lockstitch.tool_calls[];
begin
    perform set_config('app.tenant', p_tenant, true);
    if lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false) is null then
        return;
    end if;
    return query select (null::lockstitch.tool_call_row_v1).*;
    select array_agg(p.call) into v_calls
    from (
        select c as call
        from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant
            and (c.requested_version, c.position) > (p_after_version, p_after_position)
            and (p_statuses is null or c.status = any(p_statuses))
            and (p_name is null or c.name = p_name)
            and (p_run_id is null or c.run_id = p_run_id)
            and (p_arguments_digest is null or c.arguments_digest = p_arguments_digest)
        order by c.requested_version, c.position
        limit p_limit
    ) as p;
    return query select * from lockstitch.tool_calls_with_bodies_v1(p_tenant, p_session_key, v_calls, null, p_bytes_max);
end
$$;
