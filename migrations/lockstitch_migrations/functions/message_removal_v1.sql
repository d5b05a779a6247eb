-- Which messages were taken, and which earlier tool calls changed with them, as (requested_version, position) flattened.
create type lockstitch.removal_v1 as (
    count integer,
    first_seq bigint,
    last_seq bigint,
    changed_calls bigint[],
    erased_since bigint
);

-- Takes messages from the end, under the session row's lock, as part of the commit p_version: the newest p_last, or all from p_from
-- on. They move to the history. Calls that they made leave the ledger with them; calls that they ended stand as they stood before.
create function lockstitch.take_messages_v1(
    p_tenant text, p_session_key uuid, p_version bigint, p_last bigint, p_from bigint, p_erase boolean
) returns lockstitch.removal_v1 language plpgsql as $$
declare
    v_removed lockstitch.removal_v1;
    v_seqs bigint[];
    v_result record;
    v_calls lockstitch.tool_calls[];
    v_call lockstitch.tool_calls%rowtype;
    v_former lockstitch.tool_calls_history%rowtype;
    v_begun smallint;
begin
    select array_agg(t.seq), min(t.seq), max(t.seq), count(*)
    into v_seqs, v_removed.first_seq, v_removed.last_seq, v_removed.count
    from (
        select m.seq
        from lockstitch.messages m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq >= coalesce(p_from, 0)
        order by m.seq desc
        limit p_last
    ) as t;
    if v_removed.count = 0 then
        return v_removed;
    end if;

    -- Calls that they made.
    with gone as (
        delete from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.message_seq >= v_removed.first_seq
            -- They were recorded with the first of the messages or later; the ledger's key is by version.
            and c.requested_version >= (
                select min(f.version)
                from (
                    select m.version
                    from lockstitch.messages m
                    where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = v_removed.first_seq
                    union all
                    select h.version
                    from lockstitch.messages_history h
                    where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = v_removed.first_seq
                ) as f
            )
        returning c.*
    )
    select array_agg(g::lockstitch.tool_calls) into v_calls from gone g;
    perform lockstitch.keep_tool_calls_v1(v_calls, p_version);

    -- Calls that they ended, and that stay: as they stood before. One by one, as the ledger is written: a join would be planned once
    -- for few calls, and might read all of a session's.
    for v_result in
        select m.seq, m.call_id
        from lockstitch.messages m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq >= v_removed.first_seq and m.role = 3
        order by m.seq
    loop
        select * into v_call
        from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.call_id = v_result.call_id
            and c.result_seq = v_result.seq
        order by c.requested_version desc, c.position desc
        limit 1;
        continue when not found;

        select * into v_former
        from lockstitch.tool_calls_history h
        where h.session_key = p_session_key and h.tenant_id = p_tenant
            and h.requested_version = v_call.requested_version and h.position = v_call.position
            and h.until_version = v_call.ended_version
        order by h.version desc
        limit 1;

        -- A fork has no history of calls that came with it ended: one that was begun before is not safe to run.
        v_begun := 1;
        if v_former.status is null and v_call.start_time is not null and v_call.requested_version = 1 then
            select case when s.forked_from_key is null then 1 else 2 end into v_begun
            from lockstitch.sessions s
            where s.session_key = p_session_key and s.tenant_id = p_tenant;
        end if;
        perform lockstitch.keep_tool_calls_v1(array[v_call], p_version);
        update lockstitch.tool_calls c set
            version = p_version,
            status = coalesce(v_former.status, v_begun),
            result_seq = null,
            ended_version = v_former.ended_version,
            end_time = v_former.end_time,
            outcome_digest = v_former.outcome_digest,
            detail = coalesce(v_former.detail, ''),
            result = v_former.result,
            started_run_id = v_former.started_run_id
        where c.session_key = p_session_key and c.tenant_id = p_tenant
            and c.requested_version = v_call.requested_version and c.position = v_call.position;
        v_removed.changed_calls := v_removed.changed_calls || array[v_call.requested_version, v_call.position];
    end loop;

    with gone as (
        delete from lockstitch.messages m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq >= v_removed.first_seq
        returning m.*
    )
    insert into lockstitch.messages_history (
        session_key, seq, version, until_version, create_time, event_time, role, removed, tenant_id, message_id, call_id,
        run_id, body
    )
    select g.session_key, g.seq, g.version, p_version, g.create_time, g.event_time, g.role, true, g.tenant_id, g.message_id,
        g.call_id, g.run_id, g.body
    from gone g;

    if p_erase then
        v_removed.erased_since := lockstitch.erase_messages_v1(p_tenant, p_session_key, v_seqs, true);
    end if;
    return v_removed;
end
$$;

-- Deletes every historic copy of what messages held: their former bodies, what the ledger's history has of them, and the digests of
-- the requests that brought it. Where the messages are gone, so is all that the ledger's history has of calls that they made or ended. Gives
-- the version with which the first of it had come in.
create function lockstitch.erase_messages_v1(p_tenant text, p_session_key uuid, p_seqs bigint[], p_gone boolean)
returns bigint language plpgsql as $$
declare
    v_since bigint;
begin
    with bodies as (
        update lockstitch.messages_history h set body = '', event_time = null, erased = true
        where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = any(p_seqs) and not h.erased
        returning h.version
    ),
    calls as (
        update lockstitch.tool_calls_history h set
            arguments_digest = case when h.message_seq = any(p_seqs) then '' else h.arguments_digest end,
            outcome_digest = case when p_gone or h.result_seq = any(p_seqs) then null else h.outcome_digest end,
            detail = case when p_gone then '' else h.detail end,
            result = case when p_gone then null else h.result end
        where h.session_key = p_session_key and h.tenant_id = p_tenant
            and (h.message_seq = any(p_seqs) or h.result_seq = any(p_seqs))
        returning h.version
    ),
    said as (
        update lockstitch.commits c set digest = '', erased = true
        from (select b.version from bodies b union select k.version from calls k where p_gone) as e
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = e.version
    )
    select min(b.version) into v_since from bodies b;
    return v_since;
end
$$;
