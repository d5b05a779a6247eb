-- What the ledger's steps of one commit come to: a row a call that they touch (the arrays that begin with t_), and whether they are
-- refused. `dropped` are the messages that are not stored after all: results of calls that no message made, and repeats.
create type lockstitch.ledger_plan_v1 as (
    refusal text,
    refused_op integer,
    refused_status smallint,
    repeated_op integer,
    changed boolean,
    recorded integer,
    changed_calls bigint[],
    first_version bigint,
    first_position integer,
    dropped integer[],
    t_version bigint[],
    t_position integer[],
    t_new boolean[],
    t_changed boolean[],
    t_call_id text[],
    t_name text[],
    t_digest bytea[],
    t_status smallint[],
    t_message integer[],
    t_part integer[],
    t_result integer[],
    t_started boolean[],
    t_ended boolean[],
    t_outcome bytea[],
    t_detail bytea[],
    t_arguments bytea[],
    t_own_result bytea[]
);

-- Thinks the ledger's steps through, in order, under the session row's lock, and writes nothing. A step finds its call by the
-- ledger's id (p_op_version, p_op_position) or by the provider's: the one open call that has it, else the newest that had it.
create function lockstitch.plan_ledger_v1(
    p_tenant text, p_session_key uuid, p_version bigint, p_op smallint[], p_op_message integer[], p_op_version bigint[],
    p_op_position integer[], p_op_call_id text[], p_op_status smallint[], p_op_outcome_digest bytea[], p_op_granted boolean[],
    p_op_detail bytea[], p_op_arguments bytea[], p_op_result bytea[], p_op_name text[], p_op_arguments_digest bytea[],
    p_op_part integer[], p_allow_orphans boolean
) returns lockstitch.ledger_plan_v1 language plpgsql as $$
declare
    v_plan lockstitch.ledger_plan_v1;
    v_call lockstitch.tool_calls%rowtype;
    v_open integer;
    v_at integer;
    v_call_id text;
    v_touched integer := 0;
    v_recorded integer := 0;
    v_changed_calls bigint[];
    v_dropped integer[];
    t_version bigint[];
    t_position integer[];
    t_new boolean[];
    t_changed boolean[];
    t_has_message boolean[];
    t_call_id text[];
    t_name text[];
    t_digest bytea[];
    t_status smallint[];
    t_message integer[];
    t_part integer[];
    t_result integer[];
    t_started boolean[];
    t_ended boolean[];
    t_outcome bytea[];
    t_detail bytea[];
    t_arguments bytea[];
    t_own_result bytea[];
    c_detail_bytes_max constant integer := 262144;
begin
    v_plan.changed := false;
    for i in 1 .. cardinality(p_op) loop
        if p_op[i] = 1 then
            v_touched := v_touched + 1;
            t_version[v_touched] := p_version;
            t_position[v_touched] := v_recorded;
            t_new[v_touched] := true;
            t_changed[v_touched] := true;
            t_has_message[v_touched] := p_op_message[i] is not null;
            t_call_id[v_touched] := p_op_call_id[i];
            t_name[v_touched] := p_op_name[i];
            t_digest[v_touched] := p_op_arguments_digest[i];
            t_status[v_touched] := p_op_status[i];
            t_message[v_touched] := p_op_message[i];
            t_part[v_touched] := p_op_part[i];
            t_result[v_touched] := null;
            t_started[v_touched] := p_op_status[i] = 2;
            t_ended[v_touched] := p_op_status[i] > 3;
            t_outcome[v_touched] := p_op_outcome_digest[i];
            t_detail[v_touched] := coalesce(p_op_detail[i], '');
            t_arguments[v_touched] := p_op_arguments[i];
            t_own_result[v_touched] := p_op_result[i];
            v_recorded := v_recorded + 1;
            continue;
        end if;

        -- Find the call: among those that this commit touches, else in the ledger.
        v_at := null;
        v_call := null;
        -- Once: an element of an array of texts is found by walking over those before it.
        v_call_id := p_op_call_id[i];
        if p_op_version[i] is not null then
            for j in 1 .. v_touched loop
                if t_version[j] = p_op_version[i] and t_position[j] = p_op_position[i] then
                    v_at := j;
                end if;
            end loop;
            if v_at is null then
                select * into v_call from lockstitch.tool_calls c
                where c.session_key = p_session_key and c.tenant_id = p_tenant
                    and c.requested_version = p_op_version[i] and c.position = p_op_position[i];
            end if;
        else
            v_open := 0;
            for j in 1 .. v_touched loop
                if t_call_id[j] = v_call_id and t_status[j] <= 3 then
                    v_open := v_open + 1;
                    v_at := j;
                end if;
            end loop;
            for v_call in
                select * from lockstitch.tool_calls c
                where c.session_key = p_session_key and c.tenant_id = p_tenant and c.call_id = v_call_id and c.status <= 3
                limit 2 + v_touched
            loop
                continue when exists (
                    select from unnest(t_version, t_position) as t (version, place)
                    where t.version = v_call.requested_version and t.place = v_call.position
                );
                v_open := v_open + 1;
                exit when v_open > 1;
            end loop;
            if v_open > 1 then
                v_plan.refusal := 'tool_call_ambiguous';
                v_plan.refused_op := i;
                return v_plan;
            elsif v_open = 1 and v_at is null then
                select * into v_call from lockstitch.tool_calls c
                where c.session_key = p_session_key and c.tenant_id = p_tenant and c.call_id = v_call_id and c.status <= 3
                    and not exists (
                        select from unnest(t_version, t_position) as t (version, place)
                        where t.version = c.requested_version and t.place = c.position
                    );
            elsif v_open = 0 then
                -- None is open: the newest that had the id, and one of this commit is newer than any before it.
                for j in 1 .. v_touched loop
                    if t_new[j] and t_call_id[j] = v_call_id then
                        v_at := j;
                    end if;
                end loop;
                if v_at is null then
                    select * into v_call from lockstitch.tool_calls c
                    where c.session_key = p_session_key and c.tenant_id = p_tenant and c.call_id = v_call_id
                    order by c.requested_version desc, c.position desc
                    limit 1;
                    for j in 1 .. v_touched loop
                        if t_version[j] = v_call.requested_version and t_position[j] = v_call.position then
                            v_at := j;
                        end if;
                    end loop;
                end if;
            end if;
        end if;

        if v_at is null then
            if v_call.requested_version is null then
                if p_op[i] = 2 and p_allow_orphans then
                    continue;
                end if;
                v_plan.refusal := 'tool_call_not_found';
                v_plan.refused_op := i;
                return v_plan;
            end if;
            v_touched := v_touched + 1;
            v_at := v_touched;
            t_version[v_at] := v_call.requested_version;
            t_position[v_at] := v_call.position;
            t_new[v_at] := false;
            t_changed[v_at] := false;
            t_has_message[v_at] := v_call.message_seq is not null;
            t_call_id[v_at] := v_call.call_id;
            t_name[v_at] := v_call.name;
            t_digest[v_at] := v_call.arguments_digest;
            t_status[v_at] := v_call.status;
            t_message[v_at] := null;
            t_part[v_at] := v_call.part_index;
            t_result[v_at] := null;
            t_started[v_at] := false;
            t_ended[v_at] := false;
            t_outcome[v_at] := v_call.outcome_digest;
            t_detail[v_at] := v_call.detail;
            t_arguments[v_at] := v_call.arguments;
            t_own_result[v_at] := v_call.result;
        end if;
        if v_plan.first_version is null then
            v_plan.first_version := t_version[v_at];
            v_plan.first_position := t_position[v_at];
        end if;

        if p_op[i] = 3 then
            if t_status[v_at] > 3 then
                v_plan.refusal := 'tool_call_ended';
            elsif p_op_granted[i] is not null then
                if t_status[v_at] <> 3 then
                    v_plan.refusal := 'tool_call_status';
                elsif p_op_granted[i] then
                    t_status[v_at] := 1;
                else
                    t_status[v_at] := 6;
                    t_ended[v_at] := true;
                    t_outcome[v_at] := p_op_outcome_digest[i];
                end if;
                t_changed[v_at] := true;
            elsif p_op_status[i] is not null and p_op_status[i] <> t_status[v_at] then
                if t_status[v_at] = 1 and p_op_status[i] in (2, 3) then
                    t_status[v_at] := p_op_status[i];
                    t_started[v_at] := t_started[v_at] or p_op_status[i] = 2;
                    t_changed[v_at] := true;
                else
                    v_plan.refusal := 'tool_call_status';
                end if;
            end if;
            if v_plan.refusal is not null then
                v_plan.refused_op := i;
                v_plan.refused_status := t_status[v_at];
                return v_plan;
            end if;
            if p_op_detail[i] is not null then
                t_detail[v_at] := t_detail[v_at] || p_op_detail[i];
                t_changed[v_at] := true;
            end if;
        elsif t_status[v_at] <= 3 or (t_status[v_at] = 7 and p_op_status[i] <> 7) then
            t_status[v_at] := p_op_status[i];
            t_outcome[v_at] := p_op_outcome_digest[i];
            t_ended[v_at] := true;
            t_changed[v_at] := true;
            t_detail[v_at] := t_detail[v_at] || coalesce(p_op_detail[i], '');
            if p_op[i] = 2 or (p_op_message[i] is not null and t_has_message[v_at]) then
                t_result[v_at] := p_op_message[i];
                t_own_result[v_at] := null;
            else
                t_own_result[v_at] := p_op_result[i];
                v_dropped := v_dropped || p_op_message[i];
            end if;
        elsif t_status[v_at] = p_op_status[i] and t_outcome[v_at] = p_op_outcome_digest[i] then
            v_dropped := v_dropped || p_op_message[i];
            if p_op[i] = 2 and v_plan.repeated_op is null then
                v_plan.repeated_op := i;
            end if;
        else
            v_plan.refusal := 'tool_call_ended';
            v_plan.refused_op := i;
            v_plan.refused_status := t_status[v_at];
            return v_plan;
        end if;
        if octet_length(t_detail[v_at]) > c_detail_bytes_max then
            v_plan.refusal := 'tool_call_full';
            v_plan.refused_op := i;
            return v_plan;
        end if;
    end loop;

    for j in 1 .. v_touched loop
        if t_changed[j] then
            v_plan.changed := true;
            if not t_new[j] then
                v_changed_calls := v_changed_calls || array[t_version[j], t_position[j]];
            end if;
        end if;
    end loop;
    v_plan.recorded := v_recorded;
    v_plan.changed_calls := v_changed_calls;
    v_plan.dropped := array_remove(v_dropped, null);
    v_plan.t_version := t_version;
    v_plan.t_position := t_position;
    v_plan.t_new := t_new;
    v_plan.t_changed := t_changed;
    v_plan.t_call_id := t_call_id;
    v_plan.t_name := t_name;
    v_plan.t_digest := t_digest;
    v_plan.t_status := t_status;
    v_plan.t_message := t_message;
    v_plan.t_part := t_part;
    v_plan.t_result := t_result;
    v_plan.t_started := t_started;
    v_plan.t_ended := t_ended;
    v_plan.t_outcome := t_outcome;
    v_plan.t_detail := t_detail;
    v_plan.t_arguments := t_arguments;
    v_plan.t_own_result := t_own_result;
    return v_plan;
end
$$;

-- Copies calls to the history, as they stood until the commit p_until.
create function lockstitch.keep_tool_calls_v1(p_calls lockstitch.tool_calls[], p_until bigint) returns void language plpgsql as $$
begin
    insert into lockstitch.tool_calls_history (
        session_key, requested_version, position, part_index, version, until_version, message_seq, result_seq, ended_version,
        create_time, start_time, end_time, status, tenant_id, call_id, name, arguments_digest, outcome_digest, detail,
        arguments, result, run_id, started_run_id
    )
    select c.session_key, c.requested_version, c.position, c.part_index, c.version, p_until, c.message_seq, c.result_seq,
        c.ended_version, c.create_time, c.start_time, c.end_time, c.status, c.tenant_id, c.call_id, c.name, c.arguments_digest,
        c.outcome_digest, c.detail, c.arguments, c.result, c.run_id, c.started_run_id
    from unnest(p_calls) as c;
end
$$;

-- Carries the ledger's steps out: a row a call, its former state to the history. p_seqs are the seqs of the commit's messages where
-- some were dropped; else message i has p_last_seq + i.
create function lockstitch.write_ledger_v1(
    p_tenant text, p_session_key uuid, p_version bigint, p_now timestamptz, p_last_seq bigint, p_seqs bigint[],
    p_plan lockstitch.ledger_plan_v1, p_run_id text
) returns void language plpgsql as $$
declare
    v_calls lockstitch.tool_calls[];
begin
    -- One by one: a join would be planned once for few calls, and might read all of a session's.
    for j in 1 .. coalesce(cardinality(p_plan.t_version), 0) loop
        continue when p_plan.t_new[j] or not p_plan.t_changed[j];
        select array_agg(c) into v_calls
        from lockstitch.tool_calls c
        where c.session_key = p_session_key and c.tenant_id = p_tenant
            and c.requested_version = p_plan.t_version[j] and c.position = p_plan.t_position[j];
        perform lockstitch.keep_tool_calls_v1(v_calls, p_version);

        update lockstitch.tool_calls c set
            version = p_version,
            status = p_plan.t_status[j],
            result_seq = case
                when p_plan.t_result[j] is null then c.result_seq
                else coalesce(p_seqs[p_plan.t_result[j]], p_last_seq + p_plan.t_result[j])
            end,
            start_time = case when p_plan.t_started[j] then coalesce(c.start_time, p_now) else c.start_time end,
            started_run_id = case when p_plan.t_started[j] then p_run_id else c.started_run_id end,
            ended_version = case when p_plan.t_ended[j] then p_version else c.ended_version end,
            end_time = case when p_plan.t_ended[j] then p_now else c.end_time end,
            outcome_digest = p_plan.t_outcome[j],
            detail = p_plan.t_detail[j],
            result = p_plan.t_own_result[j]
        where c.session_key = p_session_key and c.tenant_id = p_tenant
            and c.requested_version = p_plan.t_version[j] and c.position = p_plan.t_position[j];
    end loop;

    insert into lockstitch.tool_calls (
        session_key, requested_version, position, part_index, version, message_seq, result_seq, ended_version, create_time,
        start_time, end_time, status, tenant_id, call_id, name, arguments_digest, outcome_digest, detail, arguments, result, run_id,
        started_run_id
    )
    select p_session_key, p_version, p_plan.t_position[j], p_plan.t_part[j], p_version,
        coalesce(p_seqs[p_plan.t_message[j]], p_last_seq + p_plan.t_message[j]),
        coalesce(p_seqs[p_plan.t_result[j]], p_last_seq + p_plan.t_result[j]),
        case when p_plan.t_ended[j] then p_version end, p_now,
        case when p_plan.t_started[j] then p_now end, case when p_plan.t_ended[j] then p_now end,
        p_plan.t_status[j], p_tenant, p_plan.t_call_id[j], p_plan.t_name[j], p_plan.t_digest[j], p_plan.t_outcome[j],
        p_plan.t_detail[j], p_plan.t_arguments[j], p_plan.t_own_result[j], p_run_id,
        case when p_plan.t_started[j] then p_run_id end
    from generate_subscripts(p_plan.t_version, 1) as j
    where p_plan.t_new[j];
end
$$;
