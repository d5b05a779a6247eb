-- Which messages were taken, and which earlier tool calls changed with them, as (requested_version, position) flattened.
create type lockstitch.removal_v1 as (
    count integer,
    first_seq bigint,
    last_seq bigint,
    changed_calls bigint[]
);

-- Takes messages from the end, under the session row's lock, as part of the commit p_version: the newest p_last, or all from p_from
-- on. They move to the history. Calls that they made leave the ledger with them; calls that they ended stand as they stood before.
create function lockstitch.take_messages_v1(
    p_tenant text, p_session_key uuid, p_version bigint, p_last bigint, p_from bigint, p_erase boolean
) returns lockstitch.removal_v1 language plpgsql as $$
declare
    v_removed lockstitch.removal_v1;
    v_seqs bigint[];
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
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.message_seq = any(v_seqs)
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
    insert into lockstitch.tool_calls_history (
        session_key, requested_version, position, part_index, version, until_version, message_seq, result_seq, ended_version,
        create_time, start_time, end_time, status, tenant_id, call_id, name, arguments_digest, outcome_digest, detail,
        arguments, result
    )
    select g.session_key, g.requested_version, g.position, g.part_index, g.version, p_version, g.message_seq, g.result_seq,
        g.ended_version, g.create_time, g.start_time, g.end_time, g.status, g.tenant_id, g.call_id, g.name, g.arguments_digest,
        g.outcome_digest, g.detail, g.arguments, g.result
    from gone g;

    -- Calls that they ended, and that stay.
    with reopened as (
        select c.requested_version, c.position, h.status, h.ended_version, h.end_time, h.outcome_digest, h.detail, h.result
        from lockstitch.messages m
        join lockstitch.tool_calls c
            on c.session_key = p_session_key and c.tenant_id = p_tenant and c.call_id = m.call_id and c.result_seq = m.seq
        left join lateral (
            select b.status, b.ended_version, b.end_time, b.outcome_digest, b.detail, b.result
            from lockstitch.tool_calls_history b
            where b.session_key = p_session_key and b.tenant_id = p_tenant
                and b.requested_version = c.requested_version and b.position = c.position and b.until_version = c.ended_version
            order by b.version desc
            limit 1
        ) as h on true
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = any(v_seqs) and m.role = 3
    ),
    kept as (
        insert into lockstitch.tool_calls_history (
            session_key, requested_version, position, part_index, version, until_version, message_seq, result_seq,
            ended_version, create_time, start_time, end_time, status, tenant_id, call_id, name, arguments_digest,
            outcome_digest, detail, arguments, result
        )
        select c.session_key, c.requested_version, c.position, c.part_index, c.version, p_version, c.message_seq, c.result_seq,
            c.ended_version, c.create_time, c.start_time, c.end_time, c.status, c.tenant_id, c.call_id, c.name,
            c.arguments_digest, c.outcome_digest, c.detail, c.arguments, c.result
        from lockstitch.tool_calls c
        join reopened r using (requested_version, position)
        where c.session_key = p_session_key and c.tenant_id = p_tenant
    ),
    changed as (
        update lockstitch.tool_calls c set
            version = p_version,
            status = coalesce(r.status, 1),
            result_seq = null,
            ended_version = r.ended_version,
            end_time = r.end_time,
            outcome_digest = r.outcome_digest,
            detail = coalesce(r.detail, ''),
            result = r.result
        from reopened r
        where c.session_key = p_session_key and c.tenant_id = p_tenant
            and c.requested_version = r.requested_version and c.position = r.position
        returning c.requested_version, c.position
    )
    select array_agg(k.part order by k.requested_version, k.position, k.place) into v_removed.changed_calls
    from (
        select c.requested_version, c.position, p.part, p.place
        from changed c
        cross join lateral unnest(array[c.requested_version, c.position]) with ordinality as p (part, place)
    ) as k;

    with gone as (
        delete from lockstitch.messages m
        where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = any(v_seqs)
        returning m.*
    )
    insert into lockstitch.messages_history (
        session_key, seq, version, until_version, create_time, event_time, role, removed, tenant_id, message_id, call_id, body
    )
    select g.session_key, g.seq, g.version, p_version, g.create_time, g.event_time, g.role, true, g.tenant_id, g.message_id,
        g.call_id, g.body
    from gone g;

    if p_erase then
        perform lockstitch.erase_messages_v1(p_tenant, p_session_key, v_seqs, true);
    end if;
    return v_removed;
end
$$;

-- Deletes every historic copy of what messages held: their former bodies, what the ledger's history has of them, and the digests of
-- the requests that brought it. Where the messages are gone, so is all that the ledger's history has of calls that they made or ended.
create function lockstitch.erase_messages_v1(p_tenant text, p_session_key uuid, p_seqs bigint[], p_gone boolean)
returns void language plpgsql as $$
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
    )
    update lockstitch.commits c set digest = '', erased = true
    from (select b.version from bodies b union select k.version from calls k where p_gone) as e
    where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = e.version;
end
$$;
