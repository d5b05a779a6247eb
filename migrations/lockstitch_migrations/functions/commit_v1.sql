-- Makes one commit of a session: messages, changes of the tool-call ledger and a change of memory, all of it or nothing.
--
-- The rules that must hold under concurrency live here, under the session row's lock, in CONTRACT order: replay, exists and
-- state, versions, then the content. Nothing is written before all is checked, so a refusal is an answer (r_outcome) and never
-- an exception. A request_id that was committed before gives its receipt again, whatever became of the session since.
--
-- p_owner: what the caller is narrowed to (reaches_v1); null for callers who reach their whole tenant.
-- p_create: 0 never, 1 if missing, 2 must not exist; below 0 likewise, while there may be no session more. p_user: whose session it becomes, and whose an existing one must be.
-- Ledger steps (p_op): 1 record, 2 answered by a message of the caller, 3 update, 4 complete. The message that a step 4 names is
-- the result it writes, and is stored only for a call that a message made.
--
-- p_run_id and p_fencing_token: the run that the change is made under; it guards a change of memory, too. p_finish_status ends it with the
-- commit. p_memory_run_id: the run whose own memory is changed, in place of the session's; its versions are then compared and given
-- (r_changed_memory_version). p_is_draft: the request's draft becomes this commit.
--
-- p_put_aside: from 1 on answers 'put_aside', and waits for nobody, where another transaction holds the session; 2 does so where it would
-- have to be made, too.
--
-- p_remove_last and p_remove_from take messages from the end before the content is stored. That has to be done before the ledger's
-- steps are thought through, so a refusal after it is raised as LS001, for remove_messages_v1 to undo and to answer.
create function lockstitch.commit_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_expected_memory_version bigint, p_run_id text, p_fencing_token bigint, p_force boolean,
    p_message_roles smallint[], p_message_ids text[], p_message_call_ids text[], p_message_event_times timestamptz[],
    p_message_bodies bytea[],
    p_op smallint[], p_op_message integer[], p_op_part integer[], p_op_version bigint[], p_op_position integer[],
    p_op_call_id text[], p_op_name text[], p_op_arguments_digest bytea[], p_op_status smallint[],
    p_op_outcome_digest bytea[], p_op_granted boolean[], p_op_detail bytea[], p_op_arguments bytea[],
    p_op_result bytea[], p_allow_orphans boolean,
    p_memory_keys bytea[], p_memory_values bytea[], p_memory_key_versions bigint[], p_memory_scope smallint,
    p_memory_needs_guard boolean, p_memory_change bytea, p_memory_run_id text,
    p_create smallint, p_user text, p_agent text, p_title text, p_label_keys text[], p_label_values text[],
    p_metadata bytea, p_expire_time timestamptz, p_ttl interval, p_idle_ttl interval,
    p_session_messages_max integer, p_memory_bytes_max integer,
    p_remove_last bigint, p_remove_from bigint, p_erase boolean,
    p_finish_status smallint, p_finish_error bytea, p_is_draft boolean, p_put_aside smallint,
    out r_outcome text, out r_index integer, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint,
    out r_new_messages integer, out r_new_tool_calls integer, out r_commit_time timestamptz, out r_status smallint,
    out r_call_version bigint, out r_call_position integer, out r_message_ids text[], out r_changed_memory_version bigint
) language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
    v_commit lockstitch.commits%rowtype;
    v_created boolean := false;
    v_now timestamptz;
    v_count integer := coalesce(cardinality(p_message_bodies), 0);
    v_stored integer := 0;
    v_seqs bigint[];
    v_plan lockstitch.ledger_plan_v1;
    v_memory lockstitch.memory_plan_v1;
    v_memory_changed boolean := false;
    v_removed lockstitch.removal_v1;
    v_erased_since bigint;
    v_memory_version bigint;
    v_memory_bytes integer;
    v_may_create boolean := p_create > 0;
begin
    perform set_config('app.tenant', p_tenant, true);
    p_create := abs(p_create);

    if p_put_aside > 0 then
        select * into v_session from lockstitch.sessions s
        where s.session_key = p_session_key and s.tenant_id = p_tenant
        for no key update skip locked;
        if not found and (
            (p_create > 0 and p_put_aside = 2)
            or exists (select from lockstitch.sessions s where s.session_key = p_session_key and s.tenant_id = p_tenant)
        ) then
            r_outcome := 'put_aside';
            return;
        end if;
    else
        select * into v_session from lockstitch.sessions s
        where s.session_key = p_session_key and s.tenant_id = p_tenant
        for no key update;
    end if;

    if not found then
        if p_create = 0 then
            r_outcome := 'session_not_found';
            return;
        end if;
        v_now := clock_timestamp();
        r_outcome := lockstitch.creation_refusal_v1(
            p_tenant, p_session_key, v_may_create, p_run_id, p_expected_version, p_expected_memory_version, p_expire_time, v_now
        );
        if r_outcome is not null then
            -- What a conflict names; nothing else looks at them.
            r_version := 0;
            r_memory_version := 0;
            r_last_seq := 0;
            return;
        end if;
        insert into lockstitch.sessions as s (
            session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
            message_count, memory_bytes, activity_minute, status, expire_time, idle_ttl, tenant_id, user_id, session_id, agent
        ) values (
            p_session_key, v_now, 0, 0, 0, 0, v_now, v_now,
            0, 0, 0, 1, coalesce(p_expire_time, v_now + p_ttl), p_idle_ttl, p_tenant, p_user, p_session_id, p_agent
        )
        on conflict (session_key) do nothing
        returning s.* into v_session;
        if found then
            v_created := true;
        else
            -- Somebody else created it while this call waited.
            select * into v_session from lockstitch.sessions s
            where s.session_key = p_session_key and s.tenant_id = p_tenant
            for no key update;
        end if;
    end if;

    if not v_created then
        if v_session.session_id is distinct from p_session_id
            or not lockstitch.reaches_v1(p_owner, v_session.user_id, v_session.agent)
        then
            r_outcome := case when p_create > 0 then 'session_exists' else 'session_not_found' end;
            return;
        end if;
        v_now := clock_timestamp();
        if v_session.purge_time <= v_now then
            r_outcome := case when p_create > 0 then 'session_purged' else 'session_not_found' end;
            return;
        end if;
        if p_user <> '' and v_session.user_id <> p_user then
            r_outcome := 'session_exists';
            return;
        end if;

        if p_create = 2 then
            select * into v_commit from lockstitch.commits c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = 1;
            if not found or v_commit.method <> p_method
                or (v_commit.digest <> p_digest and not v_commit.erased)
            then
                r_outcome := 'session_exists';
                return;
            end if;
        else
            select * into v_commit from lockstitch.commits c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.request_hash = p_request;
        end if;
        if found then
            if v_commit.method <> p_method or (v_commit.digest <> p_digest and not v_commit.erased) then
                r_outcome := 'request_id_reused';
                return;
            end if;
            r_outcome := 'replayed';
            r_version := v_commit.version;
            r_last_seq := v_commit.last_seq;
            r_memory_version := v_commit.memory_version;
            r_new_messages := v_commit.new_messages;
            r_new_tool_calls := v_commit.new_tool_calls;
            r_commit_time := v_commit.commit_time;
            r_call_version := v_commit.changed_tool_calls[1];
            r_call_position := v_commit.changed_tool_calls[2];
            r_changed_memory_version := case
                when v_commit.memory_run_id is null then v_commit.memory_version
                else v_commit.version
            end;
            if v_commit.new_messages > 0 then
                select array_agg(m.message_id order by m.seq) into r_message_ids
                from lockstitch.messages_of_commits_v1(
                    p_tenant, p_session_key, v_commit.version, v_commit.version,
                    v_commit.last_seq - v_commit.new_messages + 1, v_commit.last_seq, null
                ) as m;
            end if;
            return;
        end if;

        r_version := v_session.version;
        r_last_seq := v_session.last_seq;
        r_memory_version := v_session.memory_version;
        r_outcome := lockstitch.change_refusal_v1(v_session, v_now, p_run_id, p_fencing_token, null);
        if r_outcome is not null then
            return;
        end if;
        v_memory_version := v_session.memory_version;
        v_memory_bytes := v_session.memory_bytes;
        if p_memory_run_id <> '' then
            select r.memory_version, r.memory_bytes,
                case when r.status > 1 then 'run_ended' end
            into v_memory_version, v_memory_bytes, r_outcome
            from lockstitch.runs r
            where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_memory_run_id;
            if not found then
                r_outcome := 'run_not_found';
            end if;
            if r_outcome is not null then
                return;
            end if;
        end if;
        if p_expected_version <> v_session.version then
            r_outcome := 'version_conflict';
            return;
        end if;
        if p_expected_memory_version <> v_memory_version then
            r_memory_version := v_memory_version;
            r_outcome := 'memory_conflict';
            return;
        end if;
        if p_is_draft and not exists (
            select from lockstitch.drafts d
            where d.session_key = p_session_key and d.tenant_id = p_tenant and d.request_hash = p_request
        ) then
            r_outcome := 'draft_lost';
            return;
        end if;
        if p_memory_needs_guard and v_memory_version > 0
            and p_expected_version is null and p_expected_memory_version is null and p_run_id is null and not p_force
        then
            r_outcome := 'version_required';
            return;
        end if;
    end if;

    if p_remove_last is not null or p_remove_from is not null then
        v_removed := lockstitch.take_messages_v1(
            p_tenant, p_session_key, v_session.version + 1, p_remove_last, p_remove_from, p_erase
        );
        v_session.message_count := v_session.message_count - v_removed.count;
    end if;

    -- The ledger's steps are thought through first; nothing is written yet.
    if p_op is not null then
        v_plan := lockstitch.plan_ledger_v1(
            p_tenant, p_session_key, v_session.version + 1, p_op, p_op_message, p_op_version, p_op_position,
            p_op_call_id, p_op_status, p_op_outcome_digest, p_op_granted, p_op_detail, p_op_arguments, p_op_result,
            p_op_name, p_op_arguments_digest, p_op_part, p_allow_orphans
        );
        r_outcome := v_plan.refusal;
        r_index := v_plan.refused_op;
        r_status := v_plan.refused_status;
        r_call_version := v_plan.first_version;
        r_call_position := v_plan.first_position;
    end if;

    if r_outcome is null and v_count > 0 then
        if v_plan.dropped is null then
            v_stored := v_count;
        else
            select array_agg(case when n.i = any(v_plan.dropped) then null else v_session.last_seq + n.rank end order by n.i),
                count(*) filter (where not n.i = any(v_plan.dropped))
            into v_seqs, v_stored
            from (
                select i, count(*) filter (where not i = any(v_plan.dropped)) over (order by i) as rank
                from generate_series(1, v_count) as i
            ) as n;
        end if;
        if v_session.message_count + v_stored > p_session_messages_max then
            r_outcome := 'session_full';
            r_index := p_session_messages_max;
        elsif p_message_ids is not null then
            r_index := lockstitch.taken_message_id_v1(p_tenant, p_session_key, p_message_ids, coalesce(v_plan.dropped, '{}'));
            if r_index is not null then
                r_outcome := 'message_id_exists';
            end if;
        end if;
    end if;

    if r_outcome is null and (p_memory_keys is not null or p_memory_scope > 0) then
        v_memory := lockstitch.plan_memory_v1(
            p_tenant, p_session_key, coalesce(p_memory_run_id, ''), coalesce(v_memory_bytes, 0), p_memory_keys, p_memory_values, p_memory_key_versions,
            p_memory_scope, p_memory_bytes_max
        );
        r_outcome := v_memory.refusal;
        v_memory_changed := v_memory.changed;
    end if;

    -- A TOOL message that repeats the result its call ended with is no news: alone it changes nothing, among news it is refused.
    if r_outcome is null and v_plan.repeated_op is not null
        and (
            v_stored > 0 or v_plan.changed or v_memory_changed or coalesce(v_removed.count, 0) > 0 or p_finish_status is not null
        )
    then
        r_outcome := 'tool_call_ended';
        r_index := v_plan.repeated_op;
    end if;

    if r_outcome is null and not v_created and v_stored = 0 and not coalesce(v_plan.changed, false) and not v_memory_changed
        and coalesce(v_removed.count, 0) = 0 and p_finish_status is null
    then
        r_outcome := 'unchanged';
        r_changed_memory_version := v_memory_version;
        r_new_messages := 0;
        r_new_tool_calls := 0;
        r_commit_time := v_session.update_time;
    end if;

    if r_outcome is not null then
        if v_created then
            delete from lockstitch.sessions s where s.session_key = p_session_key and s.tenant_id = p_tenant;
        end if;
        if v_removed.count > 0 then
            raise exception using errcode = 'LS001', message = r_outcome, detail = concat_ws(' ', r_index, r_status);
        end if;
        return;
    end if;

    -- Everything holds: write.
    r_outcome := 'committed';
    r_version := v_session.version + 1;
    r_last_seq := v_session.last_seq + v_stored;
    r_changed_memory_version := case when v_memory_changed then r_version else v_memory_version end;
    r_memory_version := case
        when v_memory_changed and coalesce(p_memory_run_id, '') = '' then r_version
        else v_session.memory_version
    end;
    r_new_messages := v_stored;
    r_new_tool_calls := coalesce(v_plan.recorded, 0);
    r_commit_time := v_now;

    insert into lockstitch.commits (
        session_key, version, request_hash, commit_time, last_seq, memory_version, last_activity_time, message_count,
        new_messages, new_tool_calls, method, principal_role, tenant_id, principal_subject, digest, traceparent,
        memory_change, removed_from, removed_to, changed_tool_calls, run_id, changed_run_id, memory_run_id
    ) values (
        p_session_key, r_version, p_request, v_now, r_last_seq, r_memory_version, null, v_session.message_count + v_stored,
        v_stored, r_new_tool_calls, p_method, p_principal_role, p_tenant, p_subject, p_digest, p_traceparent,
        case when v_memory_changed then p_memory_change end, v_removed.first_seq, v_removed.last_seq,
        v_removed.changed_calls || v_plan.changed_calls, p_run_id, case when p_finish_status is not null then p_run_id end,
        case when v_memory_changed then nullif(p_memory_run_id, '') end
    );

    if v_stored = 1 and v_count = 1 then
        insert into lockstitch.messages (
            session_key, seq, version, create_time, event_time, role, tenant_id, message_id, call_id, run_id, body
        ) values (
            p_session_key, r_last_seq, r_version, v_now, p_message_event_times[1], p_message_roles[1], p_tenant,
            p_message_ids[1], coalesce(p_message_call_ids[1], v_plan.t_call_id[array_position(v_plan.t_result, 1)]),
            p_run_id, p_message_bodies[1]
        );
    elsif v_stored > 0 then
        insert into lockstitch.messages (
            session_key, seq, version, create_time, event_time, role, tenant_id, message_id, call_id, run_id, body
        )
        select p_session_key, coalesce(v_seqs[i], v_session.last_seq + i), r_version, v_now, p_message_event_times[i],
            p_message_roles[i], p_tenant, p_message_ids[i],
            coalesce(p_message_call_ids[i], v_plan.t_call_id[array_position(v_plan.t_result, i)]), p_run_id,
            p_message_bodies[i]
        from generate_series(1, v_count) as i
        where v_seqs is null or v_seqs[i] is not null;
    end if;

    if v_plan.changed then
        perform lockstitch.write_ledger_v1(
            p_tenant, p_session_key, r_version, v_now, v_session.last_seq, v_seqs, v_plan, p_run_id
        );
    end if;
    if v_memory_changed then
        v_erased_since := lockstitch.write_memory_v1(
            p_tenant, p_session_key, coalesce(p_memory_run_id, ''), r_version, v_memory, p_erase
        );
        if p_memory_run_id <> '' then
            -- No fork has any of it.
            v_erased_since := null;
            update lockstitch.runs r set memory_version = r_version, memory_bytes = r.memory_bytes + v_memory.bytes_delta
            where r.session_key = p_session_key and r.tenant_id = p_tenant and r.run_id = p_memory_run_id;
            v_memory.bytes_delta := 0;
        end if;
    end if;
    v_erased_since := least(v_erased_since, v_removed.erased_since);
    if v_erased_since is not null then
        update lockstitch.commits c set erased_since = v_erased_since
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version = r_version;
    end if;
    if v_created then
        perform lockstitch.write_first_details_v1(
            p_tenant, p_session_key, r_version, v_now, p_title, p_label_keys, p_label_values, p_metadata, v_session.expire_time, p_idle_ttl
        );
    end if;
    if p_finish_status is not null then
        perform lockstitch.end_run_v1(v_session, r_version, v_now, p_finish_status, p_finish_error, false);
    end if;
    if p_is_draft then
        delete from lockstitch.drafts d
        where d.session_key = p_session_key and d.tenant_id = p_tenant and d.request_hash = p_request;
        delete from lockstitch.draft_steps t
        where t.session_key = p_session_key and t.tenant_id = p_tenant and t.request_hash = p_request;
    end if;

    update lockstitch.sessions s set
        version = r_version,
        last_seq = r_last_seq,
        memory_version = r_memory_version,
        update_time = v_now,
        last_activity_time = v_now,
        message_count = v_session.message_count + v_stored,
        memory_bytes = v_session.memory_bytes + coalesce(v_memory.bytes_delta, 0),
        activity_minute = lockstitch.minute_v1(v_now),
        active_run_id = case when p_finish_status is null then s.active_run_id end
    where s.session_key = p_session_key and s.tenant_id = p_tenant;
end
$$;
