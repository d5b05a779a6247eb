-- Changes a message in its place, in one commit; what it was moves to the history. Its role stays, so do the call that it answers
-- and the calls that it makes (p_call_ids and p_call_names, in order, with the digests of their new arguments and the places of
-- their parts). A result that changes changes how its call ended.
create function lockstitch.update_message_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_run_id text, p_fencing_token bigint, p_seq bigint, p_message_id text, p_role smallint, p_call_id text, p_event_time timestamptz,
    p_body bytea, p_call_ids text[], p_call_names text[], p_call_digests bytea[], p_call_parts integer[],
    p_result_status smallint, p_outcome_digest bytea, p_erase boolean,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_seq bigint
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_message lockstitch.messages%rowtype;
    v_calls lockstitch.tool_calls[];
    v_changed_calls bigint[];
    v_erased_since bigint;
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_session.update_time;
    if r_outcome = 'replayed' then
        r_version := (v_begun.r_commit).version;
        r_last_seq := (v_begun.r_commit).last_seq;
        r_memory_version := (v_begun.r_commit).memory_version;
        r_commit_time := (v_begun.r_commit).commit_time;
        r_seq := (v_begun.r_commit).updated_seq;
        return;
    elsif r_outcome is not null then
        return;
    end if;

    r_outcome := lockstitch.change_refusal_v1(
        v_session, v_begun.r_now, p_run_id, p_fencing_token, p_expected_version
    );
    if r_outcome is not null then
        return;
    end if;

    select * into v_message from lockstitch.messages m
    where m.session_key = p_session_key and m.tenant_id = p_tenant
        and (m.seq = p_seq or (p_seq is null and m.message_id = p_message_id));
    if not found or (p_seq is not null and v_message.message_id is not null) then
        r_outcome := 'message_not_found';
        return;
    end if;
    r_seq := v_message.seq;
    if v_message.role <> p_role then
        r_outcome := 'message_role';
        return;
    end if;
    if p_role = 3 and v_message.call_id is distinct from p_call_id then
        r_outcome := 'message_call_id';
        return;
    end if;
    select array_agg(c order by c.requested_version, c.position) into v_calls
    from lockstitch.tool_calls c
    where c.session_key = p_session_key and c.tenant_id = p_tenant and p_role = 2 and c.message_seq = v_message.seq
        and c.requested_version >= coalesce(
            (
                select min(h.version)
                from lockstitch.messages_history h
                where h.session_key = p_session_key and h.tenant_id = p_tenant and h.seq = v_message.seq
            ),
            v_message.version
        );
    if array(select c.call_id from unnest(v_calls) as c) <> coalesce(p_call_ids, '{}')
        or array(select c.name from unnest(v_calls) as c) <> coalesce(p_call_names, '{}')
    then
        r_outcome := 'message_tool_calls';
        return;
    end if;
    if v_message.body = p_body and v_message.event_time is not distinct from p_event_time then
        r_outcome := 'unchanged';
        return;
    end if;

    r_outcome := 'committed';
    r_version := v_session.version + 1;
    r_commit_time := v_begun.r_now;

    insert into lockstitch.messages_history (
        session_key, seq, version, until_version, create_time, event_time, role, removed, tenant_id, message_id, call_id,
        run_id, body
    ) values (
        p_session_key, v_message.seq, v_message.version, r_version, v_message.create_time, v_message.event_time, v_message.role,
        false, p_tenant, v_message.message_id, v_message.call_id, v_message.run_id, v_message.body
    );
    update lockstitch.messages m set version = r_version, event_time = p_event_time, body = p_body
    where m.session_key = p_session_key and m.tenant_id = p_tenant and m.seq = v_message.seq;

    -- The calls that it makes, and the call that it answers.
    if p_role = 3 then
        select array_agg(c) into v_calls
        from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.call_id = v_message.call_id
            and c.result_seq = v_message.seq;
    end if;
    if v_calls is not null then
        perform lockstitch.keep_tool_calls_v1(v_calls, r_version);
        -- One by one, as the ledger is written.
        for i in 1 .. cardinality(v_calls) loop
            update lockstitch.tool_calls c set
                version = r_version,
                arguments_digest = case when p_role = 2 then p_call_digests[i] else c.arguments_digest end,
                part_index = case when p_role = 2 then p_call_parts[i] else c.part_index end,
                outcome_digest = case when p_role = 3 then p_outcome_digest else c.outcome_digest end,
                -- A cancelled call stays cancelled, whatever its message says of it.
                status = case when p_role = 3 and c.status in (4, 5) then p_result_status else c.status end
            where c.session_key = p_session_key and c.tenant_id = p_tenant
                and c.requested_version = v_calls[i].requested_version and c.position = v_calls[i].position;
        end loop;
        select array_agg(p.part order by c.requested_version, c.position, p.place) into v_changed_calls
        from unnest(v_calls) as c
        cross join lateral unnest(array[c.requested_version, c.position]) with ordinality as p (part, place);
    end if;

    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, message_count, new_messages, new_tool_calls,
        method, principal_role, tenant_id, principal_subject, digest, traceparent, updated_seq, changed_tool_calls, run_id
    ) values (
        p_session_key, r_version, p_request, v_begun.r_now, v_session.last_seq, v_session.memory_version, v_session.message_count,
        0, 0, p_method, p_principal_role, p_tenant, p_subject, p_digest, p_traceparent, v_message.seq, v_changed_calls, p_run_id
    );
    update lockstitch.sessions s set
        version = r_version,
        update_time = v_begun.r_now,
        last_activity_time = v_begun.r_now,
        activity_minute = lockstitch.minute_v1(v_begun.r_now)
    where s.session_key = p_session_key and s.tenant_id = p_tenant;

    if p_erase then
        v_erased_since := lockstitch.erase_messages_v1(p_tenant, p_session_key, array[v_message.seq], false);
        update lockstitch.commits c set erased_since = v_erased_since
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = r_version;
    end if;
end
$$;
