-- Puts a checkpoint, in one commit. A value without data must be stored; one with data that is stored already must be the same.
create function lockstitch.put_checkpoint_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_run_id text, p_fencing_token bigint, p_create smallint, p_user text, p_agent text,
    p_namespace text, p_checkpoint_id text, p_parent_id text, p_checkpoint_run_id text, p_format text, p_metadata bytea, p_data bytea,
    p_channels text[], p_versions text[], p_value_formats text[], p_values bytea[],
    p_task_ids text[], p_task_paths text[], p_indexes integer[], p_write_channels text[], p_write_formats text[], p_writes bytea[],
    p_bytes_max bigint,
    out r_outcome text, out r_index integer, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint,
    out r_commit_time timestamptz
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_stored lockstitch.checkpoint_values%rowtype;
    v_ancestor text;
    v_bytes bigint;
    v_new_bytes bigint;
    v_name_bytes bigint := 0;
    v_replaces boolean;
    v_is_ancestor boolean;
begin
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
        return;
    end if;
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_outcome := coalesce(
        r_outcome,
        lockstitch.change_refusal_v1(v_session, v_begun.r_now, p_run_id, p_fencing_token, p_expected_version)
    );

    if r_outcome is null then
        v_replaces := exists (
            select
            from lockstitch.checkpoints c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = p_namespace
                and c.checkpoint_id = p_checkpoint_id
        );
        -- Up from the parent: it must be there, and may not come from this one. What is new can be the ancestor of others only where
        -- they name a parent that was deleted: those with greater ids, or one that the index of parents with greater ids has.
        v_is_ancestor := v_replaces
            or exists (
                select
                from lockstitch.checkpoints c
                where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = p_namespace
                    and c.checkpoint_id > p_checkpoint_id
            )
            or exists (
                select
                from lockstitch.checkpoints c
                where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = p_namespace
                    and c.parent_id = p_checkpoint_id and c.parent_id > c.checkpoint_id
            );
        v_ancestor := nullif(p_parent_id, '');
        while r_outcome is null and v_ancestor is not null loop
            if v_ancestor = p_checkpoint_id then
                r_outcome := 'checkpoint_cycle';
                exit;
            end if;
            select nullif(c.parent_id, '') into v_ancestor
            from lockstitch.checkpoints c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = p_namespace
                and c.checkpoint_id = v_ancestor;
            if not found and r_index is null then
                r_outcome := 'parent_not_found';
            end if;
            -- The parent was found; those behind it may have been deleted.
            r_index := 0;
            exit when not v_is_ancestor;
        end loop;
        r_index := null;
    end if;

    v_bytes := octet_length(p_data);
    v_new_bytes := v_bytes;
    for i in 1 .. coalesce(cardinality(p_channels), 0) loop
        exit when r_outcome is not null;
        select * into v_stored
        from lockstitch.checkpoint_values v
        where v.session_key = p_session_key and v.tenant_id = p_tenant and v.namespace = p_namespace
            and v.channel = p_channels[i] and v.value_version = p_versions[i];
        if not found then
            if p_values[i] is null then
                r_outcome := 'value_not_found';
            else
                v_new_bytes := v_new_bytes + octet_length(p_values[i]);
            end if;
        elsif p_values[i] is not null and (v_stored.data <> p_values[i] or v_stored.format <> p_value_formats[i]) then
            r_outcome := 'value_changed';
        end if;
        r_index := i;
        v_bytes := v_bytes + octet_length(coalesce(p_values[i], v_stored.data));
        v_name_bytes := v_name_bytes + octet_length(p_channels[i]) + octet_length(p_versions[i])
            + octet_length(coalesce(v_stored.format, p_value_formats[i]));
    end loop;
    -- An answer has room for the largest checkpoint and 512 KiB of its values' names.
    if r_outcome is null and (v_bytes > p_bytes_max or v_name_bytes > 524288) then
        r_outcome := 'checkpoint_too_large';
        r_index := p_bytes_max;
    end if;
    if r_outcome is not null then
        if v_session.version = 0 then
            delete from lockstitch.session_details d where d.session_key = p_session_key and d.tenant_id = p_tenant;
            delete from lockstitch.sessions s where s.session_key = p_session_key and s.tenant_id = p_tenant;
        end if;
        return;
    end if;

    insert into lockstitch.checkpoint_values (session_key, tenant_id, namespace, channel, value_version, format, data)
    select p_session_key, p_tenant, p_namespace, v.channel, v.value_version, v.format, v.data
    from unnest(p_channels, p_versions, p_value_formats, p_values) as v (channel, value_version, format, data)
    where v.data is not null
    on conflict (session_key, namespace, channel, value_version) do nothing;
    insert into lockstitch.checkpoints as c (
        session_key, version, create_time, tenant_id, namespace, checkpoint_id, parent_id, run_id, format, value_channels,
        value_versions, metadata, data
    ) values (
        p_session_key, v_session.version + 1, v_begun.r_now, p_tenant, p_namespace, p_checkpoint_id, p_parent_id,
        coalesce(p_run_id, p_checkpoint_run_id), p_format, coalesce(p_channels, '{}'), coalesce(p_versions, '{}'), p_metadata, p_data
    )
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
    perform lockstitch.add_checkpoint_writes_v1(
        p_tenant, p_session_key, p_namespace, p_checkpoint_id, p_task_ids, p_task_paths, p_indexes, p_write_channels,
        p_write_formats, p_writes
    );
    if v_replaces then
        perform lockstitch.drop_unshared_values_v1(p_tenant, p_session_key, array[p_namespace]);
    end if;
    v_session := lockstitch.write_commit_v1(
        v_session, v_begun.r_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, false, 0::smallint,
        p_run_id, null, null, null, array[p_namespace], array[p_checkpoint_id], array[v_new_bytes], false
    );
    r_outcome := 'committed';
    r_version := v_session.version;
    r_commit_time := v_begun.r_now;
end
$$;

-- Adds pending writes: one below 0 replaces what was there, others stay as they were first put.
create function lockstitch.add_checkpoint_writes_v1(
    p_tenant text, p_session_key uuid, p_namespace text, p_checkpoint_id text, p_task_ids text[], p_task_paths text[],
    p_indexes integer[], p_channels text[], p_formats text[], p_writes bytea[]
) returns void language plpgsql as $$
declare
    i integer;
begin
    -- One by one, since a request may name a place twice; and by their places, so that two requests do not wait for each other.
    for i in
        select k.place::integer
        from unnest(p_task_ids, p_indexes) with ordinality as k (task_id, write_index, place)
        order by k.task_id collate "C", k.write_index, k.place
    loop
        insert into lockstitch.checkpoint_writes as w (
            session_key, write_index, tenant_id, namespace, checkpoint_id, task_id, task_path, channel, format, data
        ) values (
            p_session_key, p_indexes[i], p_tenant, p_namespace, p_checkpoint_id, p_task_ids[i], p_task_paths[i], p_channels[i],
            p_formats[i], p_writes[i]
        )
        on conflict (session_key, namespace, checkpoint_id, task_id, write_index) do update set
            task_path = excluded.task_path,
            channel = excluded.channel,
            format = excluded.format,
            data = excluded.data
        where w.write_index < 0;
    end loop;
end
$$;

-- Puts pending writes of a checkpoint, without a commit: the session is held still, so that a takeover comes before or after.
create function lockstitch.put_checkpoint_writes_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_run_id text, p_fencing_token bigint, p_namespace text,
    p_checkpoint_id text, p_task_ids text[], p_task_paths text[], p_indexes integer[], p_channels text[], p_formats text[],
    p_writes bytea[],
    out r_outcome text
) language plpgsql as $$
declare
    v_session lockstitch.sessions%rowtype;
begin
    perform set_config('app.tenant', p_tenant, true);
    select * into v_session from lockstitch.sessions s
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
        and lockstitch.reaches_v1(p_owner, s.user_id, s.agent)
    for share;
    if not found or coalesce(v_session.purge_time <= clock_timestamp(), false) then
        r_outcome := 'session_not_found';
        return;
    end if;
    r_outcome := lockstitch.change_refusal_v1(v_session, clock_timestamp(), p_run_id, p_fencing_token, null);
    if r_outcome is null then
        perform lockstitch.add_checkpoint_writes_v1(
            p_tenant, p_session_key, p_namespace, p_checkpoint_id, p_task_ids, p_task_paths, p_indexes, p_channels, p_formats,
            p_writes
        );
        r_outcome := 'put';
    end if;
end
$$;

-- Deletes values that no checkpoint of their namespace names any more.
create function lockstitch.drop_unshared_values_v1(p_tenant text, p_session_key uuid, p_namespaces text[])
returns void language plpgsql as $$
begin
    delete from lockstitch.checkpoint_values v
    where v.session_key = p_session_key and v.tenant_id = p_tenant and v.namespace = any(p_namespaces)
        and (v.namespace, v.channel, v.value_version) not in (
            select c.namespace, n.channel, n.value_version
            from lockstitch.checkpoints c
            cross join lateral unnest(c.value_channels, c.value_versions) as n (channel, value_version)
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = any(p_namespaces)
        );
end
$$;

-- Deletes checkpoints in one commit: all (p_all), those of a run, or all but the newest so many of each namespace.
create function lockstitch.delete_checkpoints_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_run_id text, p_fencing_token bigint, p_all boolean, p_of_run text, p_keep integer,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_count bigint
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_namespaces text[];
    v_ids text[];
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
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
        r_outcome,
        lockstitch.change_refusal_v1(v_session, v_begun.r_now, p_run_id, p_fencing_token, p_expected_version)
    );
    if r_outcome is not null then
        return;
    end if;

    select array_agg(k.namespace order by k.namespace, k.checkpoint_id),
        array_agg(k.checkpoint_id order by k.namespace, k.checkpoint_id)
    into v_namespaces, v_ids
    from (
        select c.namespace, c.checkpoint_id, c.run_id,
            row_number() over (partition by c.namespace order by c.checkpoint_id desc) as place
        from lockstitch.checkpoints c
        where c.session_key = p_session_key and c.tenant_id = p_tenant
    ) as k
    where p_all or k.run_id = p_of_run or k.place > p_keep;
    if p_all then
        -- Also those that were put before their checkpoint.
        delete from lockstitch.checkpoint_writes w where w.session_key = p_session_key and w.tenant_id = p_tenant;
    end if;
    if v_ids is null then
        r_outcome := 'unchanged';
        return;
    end if;

    for i in 1 .. cardinality(v_ids) loop
        delete from lockstitch.checkpoints c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = v_namespaces[i]
            and c.checkpoint_id = v_ids[i];
        delete from lockstitch.checkpoint_writes w
        where w.session_key = p_session_key and w.tenant_id = p_tenant and w.namespace = v_namespaces[i]
            and w.checkpoint_id = v_ids[i];
    end loop;
    perform lockstitch.drop_unshared_values_v1(p_tenant, p_session_key, array(select distinct unnest(v_namespaces)));
    r_count := cardinality(v_ids);
    v_session := lockstitch.write_commit_v1(
        v_session, v_begun.r_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, false, 0::smallint,
        p_run_id, null, null, null, v_namespaces[:1000], v_ids[:1000], null, true, r_count
    );
    r_outcome := 'committed';
    r_version := v_session.version;
    r_commit_time := v_begun.r_now;
end
$$;
