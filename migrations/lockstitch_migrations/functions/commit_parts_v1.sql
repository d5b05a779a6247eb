-- Why a session that is not there is not created by a commit. Null where it is.
create function lockstitch.creation_refusal_v1(
    p_tenant text, p_session_key uuid, p_may_create boolean, p_run_id text, p_expected_version bigint,
    p_expected_memory_version bigint, p_expire_time timestamptz, p_now timestamptz
) returns text language plpgsql as $$
begin
    return case
        when exists (
            select from lockstitch.purged_sessions g where g.session_key = p_session_key and g.tenant_id = p_tenant
        ) then 'session_purged'
        when not p_may_create then 'quota_exceeded'
        when p_run_id is not null then 'run_not_found'
        when p_expected_version <> 0 then 'version_conflict'
        when p_expected_memory_version <> 0 then 'memory_conflict'
        when p_expire_time <= p_now then 'expire_time_passed'
    end;
end
$$;

-- Writes what stands beside the row of a session that a commit created.
create function lockstitch.write_first_details_v1(
    p_tenant text, p_session_key uuid, p_version bigint, p_now timestamptz, p_title text, p_label_keys text[], p_label_values text[],
    p_metadata bytea, p_expire_time timestamptz, p_idle_ttl interval
) returns void language plpgsql as $$
begin
    insert into lockstitch.session_details (
        session_key, version, status, expire_time, idle_ttl, tenant_id, title, close_reason, label_keys, label_values, metadata
    ) values (
        p_session_key, p_version, 1, p_expire_time, p_idle_ttl, p_tenant, p_title, '', p_label_keys, p_label_values, p_metadata
    );
    if cardinality(p_label_keys) > 0 then
        insert into lockstitch.session_labels (session_key, tenant_id, label_key, label_value)
        select p_session_key, p_tenant, l.label_key, l.label_value
        from unnest(p_label_keys, p_label_values) as l (label_key, label_value);
    end if;
    if p_expire_time is not null or p_idle_ttl is not null then
        perform lockstitch.sweep_by_v1(p_tenant, p_session_key, least(p_expire_time, p_now + p_idle_ttl));
    end if;
end
$$;

-- The first of these messages, but for those dropped, whose id the session has or had, or that is named twice. One by one: a query over
-- all of them costs more to set up than it saves, and most commits bring one.
create function lockstitch.taken_message_id_v1(
    p_tenant text, p_session_key uuid, p_message_ids text[], p_dropped integer[]
) returns integer language plpgsql as $$
begin
    for i in 1 .. cardinality(p_message_ids) loop
        continue when p_message_ids[i] is null or i = any(p_dropped);
        if p_message_ids[i] = any(p_message_ids[:i - 1])
            or exists (
                select from lockstitch.messages m
                where m.session_key = p_session_key and m.tenant_id = p_tenant and m.message_id = p_message_ids[i]
            )
            or exists (
                select from lockstitch.messages_history h
                where h.session_key = p_session_key and h.tenant_id = p_tenant and h.message_id = p_message_ids[i]
            )
        then
            return i;
        end if;
    end loop;
    return null;
end
$$;
