-- Makes a commit that takes messages back, with a replacement or without. Takes what commit_v1 takes.
create function lockstitch.remove_messages_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_expected_memory_version bigint, p_run_id text, p_fencing_token bigint, p_force boolean,
    p_message_roles smallint[], p_message_ids text[], p_message_call_ids text[], p_message_event_times timestamptz[],
    p_message_bodies bytea[],
    p_op smallint[], p_op_message integer[], p_op_part integer[], p_op_version bigint[], p_op_position integer[],
    p_op_call_id text[], p_op_name text[], p_op_arguments_digest bytea[], p_op_status smallint[],
    p_op_outcome_digest bytea[], p_op_granted boolean[], p_op_detail bytea[], p_op_arguments bytea[],
    p_op_result bytea[], p_allow_orphans boolean,
    p_session_messages_max integer,
    p_remove_last bigint, p_remove_from bigint, p_erase boolean,
    out r_outcome text, out r_index integer, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint,
    out r_new_messages integer, out r_new_tool_calls integer, out r_commit_time timestamptz, out r_status smallint,
    out r_message_ids text[]
) language plpgsql as $$
declare
    v_detail text;
begin
    perform set_config('app.tenant', p_tenant, true);
    select c.r_outcome, c.r_index, c.r_version, c.r_last_seq, c.r_memory_version, c.r_new_messages, c.r_new_tool_calls,
        c.r_commit_time, c.r_status, c.r_message_ids
    into r_outcome, r_index, r_version, r_last_seq, r_memory_version, r_new_messages, r_new_tool_calls,
        r_commit_time, r_status, r_message_ids
    from lockstitch.commit_v1(
        p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent,
        p_expected_version, p_expected_memory_version, p_run_id, p_fencing_token, p_force, p_message_roles, p_message_ids, p_message_call_ids,
        p_message_event_times, p_message_bodies, p_op, p_op_message, p_op_part, p_op_version, p_op_position, p_op_call_id,
        p_op_name, p_op_arguments_digest, p_op_status, p_op_outcome_digest, p_op_granted, p_op_detail, p_op_arguments,
        p_op_result, p_allow_orphans, null, null, null, 0::smallint, false, null, null, 0::smallint, null, null, null, null, null,
        null, null, null, null, p_session_messages_max, 0, p_remove_last, p_remove_from, p_erase, null, null, false, 0::smallint
    ) as c;
exception when sqlstate 'LS001' then
    get stacked diagnostics r_outcome = message_text, v_detail = pg_exception_detail;
    r_index := nullif(split_part(v_detail, ' ', 1), '')::integer;
    r_status := nullif(split_part(v_detail, ' ', 2), '')::smallint;
end
$$;
