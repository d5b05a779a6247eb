-- Why the checkpoints of a session can't be copied to another one: those that stay there would have other values, or come from
-- themselves. Null where they can.
create function lockstitch.copy_refusal_v1(p_tenant text, p_session_key uuid, p_source_key uuid) returns text language plpgsql as $$
declare
    v_checkpoint lockstitch.checkpoints%rowtype;
    v_ancestor text;
    v_met text[];
begin
    if exists (
        select
        from lockstitch.checkpoints c
        cross join lateral unnest(c.value_channels, c.value_versions) as n (channel, value_version)
        join lockstitch.checkpoint_values v
            on v.session_key = p_session_key and v.tenant_id = p_tenant and v.namespace = c.namespace and v.channel = n.channel
            and v.value_version = n.value_version
        join lockstitch.checkpoint_values o
            on o.session_key = p_source_key and o.tenant_id = p_tenant and o.namespace = c.namespace and o.channel = n.channel
            and o.value_version = n.value_version
        where c.session_key = p_session_key and c.tenant_id = p_tenant and (o.data <> v.data or o.format <> v.format)
            and not exists (
                select
                from lockstitch.checkpoints r
                where r.session_key = p_source_key and r.tenant_id = p_tenant and r.namespace = c.namespace
                    and r.checkpoint_id = c.checkpoint_id
            )
    ) then
        return 'copied_value_differs';
    end if;

    -- Where a parent was deleted and the other session has it, one may lead to the other.
    for v_checkpoint in
        select c.*
        from lockstitch.checkpoints c
        where c.session_key = p_source_key and c.tenant_id = p_tenant and c.parent_id <> ''
            and not exists (
                select
                from lockstitch.checkpoints r
                where r.session_key = p_source_key and r.tenant_id = p_tenant and r.namespace = c.namespace
                    and r.checkpoint_id = c.parent_id
            )
    loop
        v_ancestor := v_checkpoint.parent_id;
        v_met := array[v_checkpoint.checkpoint_id];
        while v_ancestor is not null loop
            if v_ancestor = any(v_met) then
                return 'copied_cycle';
            end if;
            v_met := v_met || v_ancestor;
            select nullif(c.parent_id, '') into v_ancestor
            from lockstitch.checkpoints c
            where c.session_key in (p_source_key, p_session_key) and c.tenant_id = p_tenant and c.namespace = v_checkpoint.namespace
                and c.checkpoint_id = v_ancestor
            order by c.session_key = p_source_key desc
            limit 1;
        end loop;
    end loop;
    return null;
end
$$;

-- Copies all checkpoints of a session to another one, in one commit there. Both are locked, in the order of their keys, so that two
-- copies that cross do not wait for each other.
create function lockstitch.copy_checkpoints_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_source_key uuid, p_source_id text, p_create smallint, p_user text, p_agent text,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_count bigint
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_namespaces text[];
    v_ids text[];
    v_bytes bigint[];
begin
    perform set_config('app.tenant', p_tenant, true);
    perform from lockstitch.sessions s
    where s.session_key = least(p_session_key, p_source_key) and s.tenant_id = p_tenant
    for no key update;
    perform from lockstitch.sessions s
    where s.session_key = greatest(p_session_key, p_source_key) and s.tenant_id = p_tenant
    for no key update;
    select * into v_begun
    from lockstitch.begin_or_create_v1(
        p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest, p_create, p_user, p_agent
    );
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    if r_outcome = 'replayed' then
        r_version := (v_begun.r_commit).version;
        r_last_seq := (v_begun.r_commit).last_seq;
        r_memory_version := (v_begun.r_commit).memory_version;
        r_commit_time := (v_begun.r_commit).commit_time;
        r_count := (v_begun.r_commit).checkpoint_count;
        return;
    end if;
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_session.update_time;
    r_count := 0;
    r_outcome := coalesce(
        r_outcome, lockstitch.change_refusal_v1(v_session, v_begun.r_now, null, null, p_expected_version)
    );
    if r_outcome is null
        and lockstitch.visible_session_v1(p_tenant, p_source_key, p_source_id, p_owner, false) is null
    then
        r_outcome := 'session_not_found';
    end if;
    if r_outcome is null then
        select array_agg(c.namespace order by c.namespace, c.checkpoint_id),
            array_agg(c.checkpoint_id order by c.namespace, c.checkpoint_id),
            array_agg(octet_length(c.data) + coalesce(b.bytes, 0) order by c.namespace, c.checkpoint_id)
        into v_namespaces, v_ids, v_bytes
        from lockstitch.checkpoints c
        left join (
            -- A value counts once, with the first that brings it.
            select f.namespace, f.checkpoint_id, sum(octet_length(o.data)) as bytes
            from (
                select s.namespace, n.channel, n.value_version, min(s.checkpoint_id) as checkpoint_id
                from lockstitch.checkpoints s
                cross join lateral unnest(s.value_channels, s.value_versions) as n (channel, value_version)
                where s.session_key = p_source_key and s.tenant_id = p_tenant
                group by s.namespace, n.channel, n.value_version
            ) as f
            join lockstitch.checkpoint_values o
                on o.session_key = p_source_key and o.tenant_id = p_tenant and o.namespace = f.namespace and o.channel = f.channel
                and o.value_version = f.value_version
            where not exists (
                select
                from lockstitch.checkpoint_values v
                where v.session_key = p_session_key and v.tenant_id = p_tenant and v.namespace = f.namespace
                    and v.channel = f.channel and v.value_version = f.value_version
            )
            group by f.namespace, f.checkpoint_id
        ) as b on b.namespace = c.namespace and b.checkpoint_id = c.checkpoint_id
        where c.session_key = p_source_key and c.tenant_id = p_tenant;
        r_outcome := case
            when v_ids is null then 'unchanged'
            when v_session.version > 0 then lockstitch.copy_refusal_v1(p_tenant, p_session_key, p_source_key)
        end;
    end if;
    if r_outcome is not null then
        if v_session.version = 0 then
            delete from lockstitch.session_details d where d.session_key = p_session_key and d.tenant_id = p_tenant;
            delete from lockstitch.sessions s where s.session_key = p_session_key and s.tenant_id = p_tenant;
        end if;
        return;
    end if;

    insert into lockstitch.checkpoint_values as v (session_key, tenant_id, namespace, channel, value_version, format, data)
    select p_session_key, p_tenant, o.namespace, o.channel, o.value_version, o.format, o.data
    from lockstitch.checkpoint_values o
    where o.session_key = p_source_key and o.tenant_id = p_tenant
    on conflict (session_key, namespace, channel, value_version) do update set format = excluded.format, data = excluded.data;
    insert into lockstitch.checkpoints as c (
        session_key, version, create_time, tenant_id, namespace, checkpoint_id, parent_id, run_id, format, value_channels,
        value_versions, metadata, data
    )
    select p_session_key, v_session.version + 1, o.create_time, p_tenant, o.namespace, o.checkpoint_id, o.parent_id, o.run_id, o.format,
        o.value_channels, o.value_versions, o.metadata, o.data
    from lockstitch.checkpoints o
    where o.session_key = p_source_key and o.tenant_id = p_tenant
    on conflict (session_key, namespace, checkpoint_id) do update set
        version = excluded.version,
        create_time = excluded.create_time,
        parent_id = excluded.parent_id,
        run_id = excluded.run_id,
        format = excluded.format,
        value_channels = excluded.value_channels,
        value_versions = excluded.value_versions,
        metadata = excluded.metadata,
        data = excluded.data;
    -- What is replaced is replaced with its writes.
    delete from lockstitch.checkpoint_writes w
    using lockstitch.checkpoints o
    where w.session_key = p_session_key and w.tenant_id = p_tenant and o.session_key = p_source_key and o.tenant_id = p_tenant
        and o.namespace = w.namespace and o.checkpoint_id = w.checkpoint_id;
    insert into lockstitch.checkpoint_writes as w (
        session_key, write_index, tenant_id, namespace, checkpoint_id, task_id, task_path, channel, format, data
    )
    select p_session_key, o.write_index, p_tenant, o.namespace, o.checkpoint_id, o.task_id, o.task_path, o.channel, o.format, o.data
    from lockstitch.checkpoint_writes o
    where o.session_key = p_source_key and o.tenant_id = p_tenant
    on conflict (session_key, namespace, checkpoint_id, task_id, write_index) do update set
        task_path = excluded.task_path,
        channel = excluded.channel,
        format = excluded.format,
        data = excluded.data;
    perform lockstitch.drop_unshared_values_v1(p_tenant, p_session_key, array(select distinct unnest(v_namespaces)));
    r_count := cardinality(v_ids);
    v_session := lockstitch.write_commit_v1(
        v_session, v_begun.r_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, false, 0::smallint,
        null, null, null, null, v_namespaces[:1000], v_ids[:1000], v_bytes[:1000], false, r_count
    );
    r_outcome := 'committed';
    r_version := v_session.version;
    r_commit_time := v_begun.r_now;
end
$$;
