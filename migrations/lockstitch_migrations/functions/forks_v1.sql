-- The version nearest to one, in a direction, at which no tool call is split from its result: 0 where there is none.
create function lockstitch.whole_version_v1(p_tenant text, p_session_key uuid, p_version bigint, p_direction integer)
returns bigint language plpgsql stable as $$
declare
    v_version bigint := p_version;
    v_next bigint;
begin
    loop
        -- A call splits every version from the one that recorded it to the one before its result.
        select case when p_direction < 0 then min(c.requested_version) - 1 else max(c.ended_version) end into v_next
        from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.status between 4 and 6
            and c.requested_version <= v_version and c.ended_version > v_version;
        if v_next is null then
            return v_version;
        end if;
        v_version := v_next;
        if v_version < 1 then
            return 0;
        end if;
    end loop;
end
$$;

-- Makes a session out of another one as it was at p_version (null: now): its messages under the same seqs, its memory, its tool calls, all
-- of them as of the new session's first version. The source is held still meanwhile.
create function lockstitch.fork_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_source_key uuid, p_source_id text, p_version bigint, p_title text, p_label_keys text[], p_label_values text[],
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_below bigint, out r_above bigint
) language plpgsql as $$
declare
    v_source lockstitch.sessions%rowtype;
    v_at lockstitch.commits%rowtype;
    v_details record;
    v_session lockstitch.sessions%rowtype;
    v_first lockstitch.commits%rowtype;
    v_version bigint;
    v_now timestamptz;
begin
    perform set_config('app.tenant', p_tenant, true);
    select * into v_source from lockstitch.sessions s
    where s.session_key = p_source_key and s.tenant_id = p_tenant and s.session_id = p_source_id
        and (p_owner is null or s.user_id = p_owner)
    for share;
    v_now := clock_timestamp();
    if not found or coalesce(v_source.purge_time <= v_now, false) then
        r_outcome := 'session_not_found';
        return;
    end if;

    select * into v_first from lockstitch.commits c
    where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = 1;
    if found then
        r_outcome := 'session_exists';
        if v_first.method = p_method and (v_first.digest = p_digest or v_first.erased) and exists (
            select
            from lockstitch.sessions s
            where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
                and (p_owner is null or s.user_id = p_owner)
        ) then
            r_outcome := 'replayed';
            r_version := 1;
            r_last_seq := v_first.last_seq;
            r_memory_version := v_first.memory_version;
            r_commit_time := v_first.commit_time;
        end if;
        return;
    end if;
    if exists (select from lockstitch.purged_sessions g where g.session_key = p_session_key and g.tenant_id = p_tenant) then
        r_outcome := 'session_purged';
        return;
    end if;
    if v_source.status = 4 then
        r_outcome := 'session_not_found';
        return;
    end if;

    v_version := coalesce(p_version, v_source.version);
    r_version := v_source.version;
    if v_version > v_source.version then
        r_outcome := 'fork_ahead';
        return;
    end if;
    r_below := lockstitch.whole_version_v1(p_tenant, p_source_key, v_version, -1);
    if r_below <> v_version then
        r_above := lockstitch.whole_version_v1(p_tenant, p_source_key, v_version, 1);
        r_outcome := 'fork_splits';
        return;
    end if;

    select * into v_at from lockstitch.commits c
    where c.session_key = p_source_key and c.tenant_id = p_tenant and c.version = v_version;
    select a.s_title, a.s_metadata into v_details from lockstitch.session_at_v1(p_tenant, p_source_key, v_version) as a;
    insert into lockstitch.sessions as s (
        session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
        message_count, memory_bytes, activity_minute, status, expire_time, idle_ttl, tenant_id, user_id, session_id, agent,
        forked_from_key, forked_from_id, forked_from_version
    ) values (
        p_session_key, v_now, 1, v_at.last_seq, case when v_at.memory_version > 0 then 1 else 0 end, 0, v_now, v_now,
        v_at.message_count, 0, lockstitch.minute_v1(v_now), 1, case when v_source.expire_time > v_now then v_source.expire_time end,
        v_source.idle_ttl, p_tenant, v_source.user_id, p_session_id, v_source.agent, p_source_key, p_source_id, v_version
    )
    on conflict (session_key) do nothing
    returning s.* into v_session;
    if not found then
        -- Somebody else made it this moment: whoever repeats the request finds out what it is.
        r_outcome := 'session_exists';
        return;
    end if;

    insert into lockstitch.messages (
        session_key, seq, version, create_time, event_time, role, tenant_id, message_id, call_id, body
    )
    select p_session_key, m.seq, 1, m.create_time, m.event_time, m.role, p_tenant, m.message_id, m.call_id, m.body
    from lockstitch.messages m
    where m.session_key = p_source_key and m.tenant_id = p_tenant and m.seq <= v_at.last_seq and m.version <= v_version
    union all
    select p_session_key, h.seq, 1, h.create_time, h.event_time, h.role, p_tenant, h.message_id, h.call_id, h.body
    from lockstitch.messages_history h
    where h.session_key = p_source_key and h.tenant_id = p_tenant and h.seq <= v_at.last_seq
        and h.version <= v_version and h.until_version > v_version and not h.erased;

    insert into lockstitch.memory (session_key, version, tenant_id, run_id, memory_key, value)
    select p_session_key, 1, p_tenant, '', a.memory_key, a.value
    from lockstitch.memory_at_v1(p_tenant, p_source_key, v_version, '') as m
    cross join lateral unnest(m.memory_keys, m.memory_values) as a (memory_key, value);

    insert into lockstitch.tool_calls (
        session_key, requested_version, position, part_index, version, message_seq, result_seq, ended_version, create_time,
        start_time, end_time, status, tenant_id, call_id, name, arguments_digest, outcome_digest, detail, arguments, result
    )
    select p_session_key, 1, row_number() over (order by c.requested_version, c.position) - 1, c.part_index, 1, c.message_seq,
        c.result_seq, case when c.status > 3 then 1 end, c.create_time, c.start_time, c.end_time, c.status, p_tenant, c.call_id,
        c.name, c.arguments_digest, c.outcome_digest, c.detail, c.arguments, c.result
    from (
        select l.requested_version, l.position, l.part_index, l.message_seq, l.result_seq, l.create_time, l.start_time, l.end_time,
            l.status, l.call_id, l.name, l.arguments_digest, l.outcome_digest, l.detail, l.arguments, l.result
        from lockstitch.tool_calls l
        where l.session_key = p_source_key and l.tenant_id = p_tenant and l.requested_version <= v_version
            and l.version <= v_version
        union all
        select h.requested_version, h.position, h.part_index, h.message_seq, h.result_seq, h.create_time, h.start_time, h.end_time,
            h.status, h.call_id, h.name, h.arguments_digest, h.outcome_digest, h.detail, h.arguments, h.result
        from lockstitch.tool_calls_history h
        where h.session_key = p_source_key and h.tenant_id = p_tenant and h.requested_version <= v_version
            and h.version <= v_version and h.until_version > v_version
    ) as c;

    insert into lockstitch.session_details (
        session_key, version, status, expire_time, idle_ttl, tenant_id, title, close_reason, label_keys, label_values, metadata
    ) values (
        p_session_key, 1, 1, v_session.expire_time, v_session.idle_ttl, p_tenant,
        case when p_title = '' then v_details.s_title else p_title end, '', p_label_keys, p_label_values, v_details.s_metadata
    );
    insert into lockstitch.session_labels (session_key, tenant_id, label_key, label_value)
    select p_session_key, p_tenant, l.label_key, l.label_value
    from unnest(p_label_keys, p_label_values) as l (label_key, label_value);

    select count(*) into v_session.message_count
    from lockstitch.messages m
    where m.session_key = p_session_key and m.tenant_id = p_tenant;
    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, message_count, new_messages, new_tool_calls,
        method, principal_role, tenant_id, principal_subject, digest, traceparent
    ) values (
        p_session_key, 1, p_request, v_now, v_session.last_seq, v_session.memory_version, v_session.message_count, 0, 0, p_method,
        p_principal_role, p_tenant, p_subject, p_digest, p_traceparent
    );
    update lockstitch.sessions s set
        message_count = v_session.message_count,
        memory_bytes = (
            select coalesce(sum(octet_length(m.memory_key) + octet_length(m.value)), 0)
            from lockstitch.memory m
            where m.session_key = p_session_key and m.tenant_id = p_tenant
        )
    where s.session_key = p_session_key and s.tenant_id = p_tenant;
    perform lockstitch.sweep_by_v1(p_tenant, p_session_key, least(v_session.expire_time, v_now + v_session.idle_ttl));
    r_outcome := 'committed';
    r_version := 1;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_now;
end
$$;

-- The forks of a session, at most 1,000, that were made since what the commit p_version erased had come in: an erasure does not reach them.
create function lockstitch.forks_of_erasure_v1(p_tenant text, p_session_key uuid, p_version bigint)
returns text[] language plpgsql stable as $$
declare
    v_commit lockstitch.commits%rowtype;
    v_since bigint := 1;
begin
    perform set_config('app.tenant', p_tenant, true);
    select * into v_commit from lockstitch.commits c
    where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = p_version;
    if coalesce(v_commit.updated_seq, v_commit.removed_from) is not null then
        select min(h.version) into v_since
        from lockstitch.messages_history h
        where h.session_key = p_session_key and h.tenant_id = p_tenant
            and h.seq = coalesce(v_commit.updated_seq, v_commit.removed_from);
    elsif v_commit.memory_change is not null then
        -- An erasure names what it erased by its version.
        select min(h.version) into v_since
        from lockstitch.memory_history h
        where h.session_key = p_session_key and h.tenant_id = p_tenant and h.run_id = coalesce(v_commit.memory_run_id, '')
            and h.memory_key >= '\xff'::bytea || int8send(p_version) and h.memory_key < '\xff'::bytea || int8send(p_version + 1);
    end if;
    return array(
        select s.session_id
        from lockstitch.sessions s
        where s.forked_from_key = p_session_key and s.tenant_id = p_tenant and s.forked_from_version >= v_since
        order by s.session_id
        limit 1000
    );
end
$$;
