-- The versions nearest to one, below and above, at which no tool call is split from its result: itself where it splits none, 0 where there
-- is none below. A call splits the versions at which it was open, or its outcome unknown, where it has a result now, or had one when it
-- was taken back.
create function lockstitch.whole_versions_v1(
    p_tenant text, p_session_key uuid, p_version bigint, out r_below bigint, out r_above bigint
) language plpgsql stable as $$
begin
    -- Spans that touch make islands, whose shores are whole.
    select min(i.since) - 1, max(i.until) into r_below, r_above
    from (
        select o.since, o.until, count(*) filter (where o.begins) over (order by o.since, o.until, o.place) as island
        from (
            select n.since, n.until, n.place,
                coalesce(
                    n.since > max(n.until) over (
                        order by n.since, n.until, n.place rows between unbounded preceding and 1 preceding
                    ),
                    true
                ) as begins
            from (
                select h.version as since, h.until_version as until, row_number() over () as place
                from lockstitch.tool_calls_history h
                where h.session_key = p_session_key and h.tenant_id = p_tenant and h.until_version > h.version
                    and (h.status <= 3 or h.status = 7)
                    and coalesce(
                        (
                            select c.status
                            from lockstitch.tool_calls c
                            where c.session_key = p_session_key and c.tenant_id = p_tenant
                                and c.requested_version = h.requested_version and c.position = h.position
                        ),
                        (
                            select l.status
                            from lockstitch.tool_calls_history l
                            where l.session_key = p_session_key and l.tenant_id = p_tenant
                                and l.requested_version = h.requested_version and l.position = h.position
                            order by l.version desc, l.until_version desc
                            limit 1
                        )
                    ) between 4 and 6
            ) as n
        ) as o
    ) as i
    group by i.island
    having min(i.since) <= p_version and max(i.until) > p_version;
    r_below := coalesce(r_below, p_version);
    r_above := coalesce(r_above, p_version);
end
$$;

-- What there is under a fork's key: null where nothing, 'replayed' where it is this fork, made by an earlier call.
create function lockstitch.fork_made_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_method smallint, p_digest bytea, p_source_key uuid,
    p_version bigint
) returns text language plpgsql volatile as $$
declare
    v_session lockstitch.sessions%rowtype;
begin
    select * into v_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant;
    if not found then
        return (
            select 'session_purged'
            from lockstitch.purged_sessions g
            where g.session_key = p_session_key and g.tenant_id = p_tenant
        );
    end if;
    if v_session.session_id <> p_session_id or not lockstitch.reaches_v1(p_owner, v_session.user_id, v_session.agent) then
        return 'session_exists';
    end if;
    if v_session.purge_time <= clock_timestamp() then
        return 'session_purged';
    end if;
    return (
        select case
            when c.method = p_method
                and (
                    c.digest = p_digest
                    -- What was said is gone with what was erased, but for these two.
                    or (
                        c.erased and v_session.forked_from_key = p_source_key
                        and v_session.forked_from_version = coalesce(p_version, v_session.forked_from_version)
                    )
                )
            then 'replayed'
            else 'session_exists'
        end
        from lockstitch.commits c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = 1
    );
end
$$;

-- Makes a session out of another one as it was at p_version (null: now): its messages under the same seqs, its memory, its tool calls, all
-- of them as of the new session's first version. The source is held still meanwhile. A message that was erased keeps its place: its body is
-- empty, which no other's is.
create function lockstitch.fork_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_source_key uuid, p_source_id text, p_version bigint, p_title text, p_label_keys text[], p_label_values text[],
    p_is_over_quota boolean,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_below bigint, out r_above bigint
) language plpgsql as $$
declare
    v_source lockstitch.sessions%rowtype;
    v_at lockstitch.commits%rowtype;
    v_details record;
    v_memory record;
    v_session lockstitch.sessions%rowtype;
    v_version bigint;
    v_now timestamptz;
begin
    perform set_config('app.tenant', p_tenant, true);
    -- Twice at most: where somebody else makes the session at the same moment, it is found then.
    for i in 1 .. 2 loop
        -- A fork that was made is given again, whatever became of its source.
        r_outcome := lockstitch.fork_made_v1(
            p_tenant, p_session_key, p_session_id, p_owner, p_method, p_digest, p_source_key, p_version
        );
        if r_outcome = 'replayed' then
            select c.version, c.last_seq, c.memory_version, c.commit_time
            into r_version, r_last_seq, r_memory_version, r_commit_time
            from lockstitch.commits c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = 1;
            return;
        end if;

        select * into v_source from lockstitch.sessions s
        where s.session_key = p_source_key and s.tenant_id = p_tenant and s.session_id = p_source_id
            and lockstitch.reaches_v1(p_owner, s.user_id, s.agent)
        for share;
        v_now := clock_timestamp();
        if not found or v_source.status = 4 then
            r_outcome := 'session_not_found';
        end if;
        if r_outcome is not null then
            return;
        end if;

        v_version := coalesce(p_version, v_source.version);
        r_version := v_source.version;
        if v_version > v_source.version then
            r_outcome := 'fork_ahead';
            return;
        end if;
        if p_is_over_quota then
            r_outcome := 'quota_exceeded';
            return;
        end if;
        -- Nothing lies behind the present.
        if v_version < v_source.version then
            select w.r_below, w.r_above into r_below, r_above
            from lockstitch.whole_versions_v1(p_tenant, p_source_key, v_version) as w;
            if r_below <> v_version then
                r_outcome := 'fork_splits';
                return;
            end if;
        end if;

        select * into v_at from lockstitch.commits c
        where c.session_key = p_source_key and c.tenant_id = p_tenant and c.version = v_version;
        select m.memory_keys, m.memory_values into v_memory
        from lockstitch.memory_at_v1(p_tenant, p_source_key, v_version, '') as m;
        insert into lockstitch.sessions as s (
            session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
            message_count, memory_bytes, activity_minute, status, expire_time, idle_ttl, tenant_id, user_id, session_id, agent,
            forked_from_key, forked_from_id, forked_from_version
        ) values (
            p_session_key, v_now, 1, v_at.last_seq, case when v_at.memory_version > 0 then 1 else 0 end, 0, v_now, v_now,
            v_at.message_count,
            (
                select coalesce(sum(octet_length(a.memory_key) + octet_length(a.value)), 0)
                from unnest(v_memory.memory_keys, v_memory.memory_values) as a (memory_key, value)
            ),
            lockstitch.minute_v1(v_now), 1, case when v_source.expire_time > v_now then v_source.expire_time end,
            v_source.idle_ttl, p_tenant, v_source.user_id, p_session_id, v_source.agent, p_source_key, p_source_id, v_version
        )
        on conflict (session_key) do nothing
        returning s.* into v_session;
        exit when found;
        r_outcome := 'session_exists';
    end loop;
    if r_outcome is not null then
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
        and h.version <= v_version and h.until_version > v_version;

    insert into lockstitch.memory (session_key, version, tenant_id, run_id, memory_key, value)
    select p_session_key, 1, p_tenant, '', a.memory_key, a.value
    from unnest(v_memory.memory_keys, v_memory.memory_values) as a (memory_key, value);

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

    select a.s_title, a.s_metadata into v_details from lockstitch.session_at_v1(p_tenant, p_source_key, v_version) as a;
    insert into lockstitch.session_details (
        session_key, version, status, expire_time, idle_ttl, tenant_id, title, close_reason, label_keys, label_values, metadata
    ) values (
        p_session_key, 1, 1, v_session.expire_time, v_session.idle_ttl, p_tenant,
        case when p_title = '' then v_details.s_title else p_title end, '', p_label_keys, p_label_values, v_details.s_metadata
    );
    insert into lockstitch.session_labels (session_key, tenant_id, label_key, label_value)
    select p_session_key, p_tenant, l.label_key, l.label_value
    from unnest(p_label_keys, p_label_values) as l (label_key, label_value);

    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, message_count, new_messages, new_tool_calls,
        method, principal_role, tenant_id, principal_subject, digest, traceparent
    ) values (
        p_session_key, 1, p_request, v_now, v_session.last_seq, v_session.memory_version, v_session.message_count, 0, 0, p_method,
        p_principal_role, p_tenant, p_subject, p_digest, p_traceparent
    );
    perform lockstitch.sweep_by_v1(p_tenant, p_session_key, least(v_session.expire_time, v_now + v_session.idle_ttl));
    r_outcome := 'committed';
    r_version := 1;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_now;
end
$$;

-- The forks of a session, at most 1,000, that hold what the commit p_version erased: those made of versions since it had come in, before it
-- was erased. An erasure does not reach them.
--
-- Planned anew at each call: on a small log the index by request_id looks as good as the one by version.
create function lockstitch.forks_of_erasure_v1(p_tenant text, p_session_key uuid, p_version bigint)
returns text[] language plpgsql stable set plan_cache_mode = force_custom_plan as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return array(
        select s.session_id
        from lockstitch.commits c
        join lockstitch.sessions s on s.forked_from_key = p_session_key and s.tenant_id = p_tenant
            and s.forked_from_version >= c.erased_since and s.forked_from_version < p_version and s.create_time <= c.commit_time
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = p_version
        order by s.session_id
        limit 1000
    );
end
$$;
