-- Makes the commits of many appends, of any tenants, in one transaction, each under its tenant's name, and says of each what became of it:
-- what commit_v1 answers. Nothing is raised for what one of them is refused; what raises all the same, undoes all.
--
-- Items come in the order in which they were sent, and those of one session are made in that order: behind one that is put aside, the
-- others of its session are, too. So two servers never wait for each other. p_wait is for items of one session alone: it is then
-- waited for, and made where it is missing.
--
-- Messages and ledger steps of all items lie behind each other, and p_message_counts and p_op_counts say how many are whose.
create function lockstitch.commit_batch_v1(
    p_tenants text[], p_session_keys uuid[], p_session_ids text[], p_owners text[], p_method smallint, p_requests uuid[],
    p_digests bytea[], p_subjects text[], p_principal_roles smallint[], p_traceparents text[], p_expected_versions bigint[],
    p_run_ids text[], p_fencing_tokens bigint[],
    p_message_counts integer[], p_message_roles smallint[], p_message_ids text[], p_message_call_ids text[],
    p_message_event_times timestamptz[], p_message_bodies bytea[],
    p_op_counts integer[], p_op smallint[], p_op_message integer[], p_op_part integer[], p_op_version bigint[],
    p_op_position integer[], p_op_call_id text[], p_op_name text[], p_op_arguments_digest bytea[], p_op_status smallint[],
    p_op_outcome_digest bytea[], p_op_granted boolean[], p_op_detail bytea[], p_op_arguments bytea[], p_op_result bytea[],
    p_allow_orphans boolean[], p_creates smallint[], p_users text[], p_agents text[], p_session_messages_max integer, p_wait boolean
) returns table (
    r_outcome text, r_index integer, r_version bigint, r_last_seq bigint, r_memory_version bigint, r_new_messages integer,
    r_new_tool_calls integer, r_commit_time timestamptz, r_status smallint, r_message_ids text[]
) language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_made record;
    v_aside uuid[];
    -- The first message and step of an item, and the last.
    v_m integer := 1;
    v_n integer;
    v_o integer := 1;
    v_p integer;
    v_steps smallint[];
begin
    for i in 1 .. cardinality(p_tenants) loop
        perform set_config('app.tenant', p_tenants[i], true);
        v_n := v_m + p_message_counts[i] - 1;
        v_p := v_o + p_op_counts[i] - 1;
        if p_session_keys[i] = any(v_aside) then
            r_outcome := 'put_aside';
        else
            v_steps := case when v_p >= v_o then p_op[v_o:v_p] end;
            v_made := lockstitch.commit_v1(
                p_tenants[i], p_session_keys[i], p_session_ids[i], p_owners[i], p_method, p_requests[i], p_digests[i], p_subjects[i],
                p_principal_roles[i], p_traceparents[i], p_expected_versions[i], null, p_run_ids[i], p_fencing_tokens[i], false,
                p_message_roles[v_m:v_n], p_message_ids[v_m:v_n], p_message_call_ids[v_m:v_n], p_message_event_times[v_m:v_n],
                p_message_bodies[v_m:v_n],
                v_steps, p_op_message[v_o:v_p], p_op_part[v_o:v_p], p_op_version[v_o:v_p], p_op_position[v_o:v_p],
                p_op_call_id[v_o:v_p], p_op_name[v_o:v_p], p_op_arguments_digest[v_o:v_p], p_op_status[v_o:v_p],
                p_op_outcome_digest[v_o:v_p], p_op_granted[v_o:v_p], p_op_detail[v_o:v_p], p_op_arguments[v_o:v_p],
                p_op_result[v_o:v_p], p_allow_orphans[i],
                null, null, null, 0::smallint, false, null, null,
                p_creates[i], p_users[i], p_agents[i], '', '{}', '{}', '', null, null, null,
                p_session_messages_max, 0, null, null, false, null, null, false, case when p_wait then 0 else 2 end::smallint
            );
            r_outcome := v_made.r_outcome;
            r_index := v_made.r_index;
            r_version := v_made.r_version;
            r_last_seq := v_made.r_last_seq;
            r_memory_version := v_made.r_memory_version;
            r_new_messages := v_made.r_new_messages;
            r_new_tool_calls := v_made.r_new_tool_calls;
            r_commit_time := v_made.r_commit_time;
            r_status := v_made.r_status;
            r_message_ids := v_made.r_message_ids;
            if r_outcome = 'put_aside' then
                v_aside := v_aside || p_session_keys[i];
            end if;
        end if;
        v_m := v_n + 1;
        v_o := v_p + 1;
        return next;
    end loop;
end
$$;
