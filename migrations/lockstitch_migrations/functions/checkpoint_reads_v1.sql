-- Checkpoints with their values and writes, each as far as they fit p_bytes_max together; the first is given whatever it takes, but for
-- those of its writes that have no room (more_writes says so). Writes come by (task_path, task_id, index), behind the p_after_… place
-- where there is one, which is the first checkpoint's.
create function lockstitch.checkpoint_rows_v1(
    p_tenant text, p_session_keys uuid[], p_namespaces text[], p_ids text[], p_bytes_max bigint, p_after_path text, p_after_task text,
    p_after_index integer
) returns table (
    session_id text, namespace text, checkpoint_id text, parent_id text, run_id text, format text, data bytea, metadata bytea,
    version bigint, create_time timestamptz, value_channels text[], value_versions text[], value_formats text[], value_datas bytea[],
    task_ids text[], task_paths text[], write_indexes integer[], write_channels text[], write_formats text[], write_datas bytea[],
    more_writes boolean
) language plpgsql stable as $$
declare
    v_checkpoint lockstitch.checkpoints%rowtype;
    v_bytes bigint := 0;
    v_value_bytes bigint;
    v_write_bytes bigint;
begin
    for i in 1 .. coalesce(cardinality(p_ids), 0) loop
        select * into v_checkpoint from lockstitch.checkpoints c
        where c.session_key = p_session_keys[i] and c.tenant_id = p_tenant and c.namespace = p_namespaces[i]
            and c.checkpoint_id = p_ids[i];
        continue when not found;
        if i = 1 and p_after_path is not null then
            -- Its content was given with its first writes.
            v_checkpoint.data := '';
            v_checkpoint.metadata := '';
            v_checkpoint.value_channels := '{}';
            v_checkpoint.value_versions := '{}';
        end if;
        select array_agg(v.format order by n.place), array_agg(v.data order by n.place),
            coalesce(
                sum(
                    64 + octet_length(n.channel) + octet_length(n.value_version) + octet_length(coalesce(v.format, ''))
                    + coalesce(octet_length(v.data), 0)
                ),
                0
            )
        into value_formats, value_datas, v_value_bytes
        from unnest(v_checkpoint.value_channels, v_checkpoint.value_versions) with ordinality as n (channel, value_version, place)
        left join lateral (
            select o.format, o.data
            from lockstitch.checkpoint_values o
            where o.session_key = v_checkpoint.session_key and o.tenant_id = p_tenant and o.namespace = v_checkpoint.namespace
                and o.channel = n.channel and o.value_version = n.value_version
            -- One by one, whatever was planned: all values of the session are many more.
            offset 0
        ) as v on true;
        v_bytes := v_bytes + 1024 + octet_length(v_checkpoint.data) + octet_length(v_checkpoint.metadata) + v_value_bytes
            + octet_length(v_checkpoint.namespace) + octet_length(v_checkpoint.checkpoint_id) + octet_length(v_checkpoint.parent_id)
            + octet_length(v_checkpoint.format) + coalesce(octet_length(v_checkpoint.run_id), 0);
        exit when i > 1 and v_bytes > p_bytes_max;

        select array_agg(w.task_id order by w.place), array_agg(w.task_path order by w.place), array_agg(w.write_index order by w.place),
            array_agg(w.channel order by w.place), array_agg(w.format order by w.place), array_agg(w.data order by w.place),
            coalesce(max(w.running), 0), coalesce(bool_or(w.places > w.kept), false)
        into task_ids, task_paths, write_indexes, write_channels, write_formats, write_datas, v_write_bytes, more_writes
        from (
            select u.*, count(*) over () as kept
            from (
                select t.*, row_number() over by_place as place, count(*) over () as places,
                    sum(
                        64 + octet_length(t.data) + octet_length(t.task_path) + octet_length(t.task_id) + octet_length(t.channel)
                        + octet_length(t.format)
                    ) over by_place as running
                from lockstitch.checkpoint_writes t
                where t.session_key = v_checkpoint.session_key and t.tenant_id = p_tenant
                    and t.namespace = v_checkpoint.namespace and t.checkpoint_id = v_checkpoint.checkpoint_id
                    and (
                        i > 1 or p_after_path is null
                        or (t.task_path, t.task_id, t.write_index) > (p_after_path, p_after_task, p_after_index)
                    )
                window by_place as (order by t.task_path, t.task_id, t.write_index)
            ) as u
            where v_bytes + u.running <= p_bytes_max or (u.place = 1 and p_after_path is not null)
        ) as w;
        if task_ids is null then
            more_writes := exists (
                select
                from lockstitch.checkpoint_writes t
                where t.session_key = v_checkpoint.session_key and t.tenant_id = p_tenant
                    and t.namespace = v_checkpoint.namespace and t.checkpoint_id = v_checkpoint.checkpoint_id
                    and (
                        i > 1 or p_after_path is null
                        or (t.task_path, t.task_id, t.write_index) > (p_after_path, p_after_task, p_after_index)
                    )
            );
        end if;
        v_bytes := v_bytes + v_write_bytes;

        select s.session_id into session_id from lockstitch.sessions s
        where s.session_key = v_checkpoint.session_key and s.tenant_id = p_tenant;
        namespace := v_checkpoint.namespace;
        checkpoint_id := v_checkpoint.checkpoint_id;
        parent_id := v_checkpoint.parent_id;
        run_id := v_checkpoint.run_id;
        format := v_checkpoint.format;
        data := v_checkpoint.data;
        metadata := v_checkpoint.metadata;
        version := v_checkpoint.version;
        create_time := v_checkpoint.create_time;
        value_channels := v_checkpoint.value_channels;
        value_versions := v_checkpoint.value_versions;
        return next;
    end loop;
end
$$;

-- A checkpoint by its id, or the latest of its namespace (p_checkpoint_id ''), with its writes behind a place; or those that it goes on
-- from, from p_ancestor_id on up, at most p_ancestors. The first row says whether the session is there for the caller (session_id null).
create function lockstitch.get_checkpoint_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_namespace text, p_checkpoint_id text, p_after_path text,
    p_after_task text, p_after_index integer, p_ancestors integer, p_ancestor_id text, p_bytes_max bigint
) returns table (
    session_id text, namespace text, checkpoint_id text, parent_id text, run_id text, format text, data bytea, metadata bytea,
    version bigint, create_time timestamptz, value_channels text[], value_versions text[], value_formats text[], value_datas bytea[],
    task_ids text[], task_paths text[], write_indexes integer[], write_channels text[], write_formats text[], write_datas bytea[],
    more_writes boolean
) language plpgsql stable as $$
declare
    v_ids text[];
    v_id text := p_checkpoint_id;
begin
    perform set_config('app.tenant', p_tenant, true);
    if lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false) is null then
        return;
    end if;
    return next;
    if v_id = '' then
        select c.checkpoint_id into v_id
        from lockstitch.checkpoints c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = p_namespace
        order by c.checkpoint_id desc
        limit 1;
        if not found then
            return;
        end if;
    end if;
    v_ids := array[v_id];
    if p_ancestor_id <> '' then
        v_ids := array[p_ancestor_id];
        v_id := p_ancestor_id;
    end if;
    for i in 1 .. p_ancestors loop
        select nullif(c.parent_id, '') into v_id
        from lockstitch.checkpoints c
        where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = p_namespace and c.checkpoint_id = v_id;
        exit when v_id is null;
        v_ids := v_ids || v_id;
    end loop;
    return query
        select r.*
        from lockstitch.checkpoint_rows_v1(
            p_tenant, array_fill(p_session_key, array[cardinality(v_ids)]), array_fill(p_namespace, array[cardinality(v_ids)]), v_ids,
            p_bytes_max, p_after_path, p_after_task, p_after_index
        ) as r;
end
$$;

-- The places of checkpoints, by id, the greatest first, behind the cursor (id, session_key, namespace): of a session, or of all sessions
-- of the tenant (p_session_key null), of which p_scan are looked at, the last of them given in any case (is_last) with whether it is
-- asked for (shown). p_namespace null is all of them. Metadata comes along where it is filtered by, p_metadata_max bytes of it and
-- the one that passes them. The first row says whether the session is there for the caller (checkpoint_id null). Planned anew at each
-- call: which index serves depends on what is given.
create function lockstitch.list_checkpoint_places_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_namespace text, p_run_id text, p_before text,
    p_cursor_id text, p_cursor_key uuid, p_cursor_namespace text, p_limit integer, p_scan integer, p_metadata_max bigint
) returns table (session_key uuid, namespace text, checkpoint_id text, metadata bytea, shown boolean, is_last boolean)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
    v_namespaces text[] := array[p_namespace];
    v_namespace text;
begin
    perform set_config('app.tenant', p_tenant, true);
    if p_session_key is null then
        return next;
        return query
            select m.session_key, m.namespace, m.checkpoint_id, m.metadata, m.shown, m.place = p_scan
            from (
                select k.*, row_number() over by_place as place, sum(coalesce(octet_length(k.metadata), 0)) over by_place as bytes
                from (
                    select c.session_key, c.namespace, c.checkpoint_id, f.shown,
                        case when f.shown and p_metadata_max is not null then c.metadata end as metadata
                    from lockstitch.checkpoints c
                    cross join lateral (
                        select (p_namespace is null or c.namespace = p_namespace)
                            and (p_run_id is null or coalesce(c.run_id = p_run_id, false))
                            and exists (
                                select
                                from lockstitch.sessions s
                                where s.session_key = c.session_key and s.tenant_id = p_tenant and s.status <> 4
                            ) as shown
                        -- Not a join: a session's checkpoints stand among those of others.
                        offset 0
                    ) as f
                    -- version > 0: it names the index.
                    where c.tenant_id = p_tenant and c.version > 0
                        and (p_before is null or c.checkpoint_id < p_before)
                        and (
                            p_cursor_id is null
                            or (c.checkpoint_id, c.session_key, c.namespace) < (p_cursor_id, p_cursor_key, p_cursor_namespace)
                        )
                    order by c.checkpoint_id desc, c.session_key desc, c.namespace desc
                    limit p_scan
                ) as k
                window by_place as (order by k.checkpoint_id desc, k.session_key desc, k.namespace desc)
            ) as m
            where (m.shown or m.place = p_scan)
                and (p_metadata_max is null or m.bytes - coalesce(octet_length(m.metadata), 0) < p_metadata_max)
            order by m.checkpoint_id desc, m.session_key desc, m.namespace desc
            limit p_limit;
        return;
    end if;

    if lockstitch.visible_session_v1(p_tenant, p_session_key, p_session_id, p_owner, false) is null then
        return;
    end if;
    return next;
    if p_namespace is null then
        -- From one namespace to the next, by the key.
        v_namespaces := '{}';
        select min(c.namespace) into v_namespace
        from lockstitch.checkpoints c
        where c.session_key = p_session_key and c.tenant_id = p_tenant;
        while v_namespace is not null loop
            v_namespaces := v_namespaces || v_namespace;
            select min(c.namespace) into v_namespace
            from lockstitch.checkpoints c
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace > v_namespace;
        end loop;
    end if;
    return query
        select p_session_key, m.namespace, m.checkpoint_id, m.metadata, true, false
        from (
            select k.*, sum(coalesce(octet_length(k.metadata), 0)) over (order by k.checkpoint_id desc, k.namespace desc) as bytes
            from unnest(v_namespaces) as n (namespace)
            cross join lateral (
                select c.namespace, c.checkpoint_id, case when p_metadata_max is not null then c.metadata end as metadata
                from lockstitch.checkpoints c
                where c.session_key = p_session_key and c.tenant_id = p_tenant and c.namespace = n.namespace
                    and (p_before is null or c.checkpoint_id < p_before)
                    and (p_run_id is null or c.run_id = p_run_id)
                    and (p_cursor_id is null or (c.checkpoint_id, c.namespace) < (p_cursor_id, p_cursor_namespace))
                order by c.checkpoint_id desc
                limit p_limit
            ) as k
        ) as m
        where p_metadata_max is null or m.bytes - coalesce(octet_length(m.metadata), 0) < p_metadata_max
        order by m.checkpoint_id desc, m.namespace desc
        limit p_limit;
end
$$;

-- Checkpoints by their places, of any sessions of the tenant.
create function lockstitch.checkpoints_by_place_v1(
    p_tenant text, p_session_keys uuid[], p_namespaces text[], p_ids text[], p_bytes_max bigint
) returns table (
    session_id text, namespace text, checkpoint_id text, parent_id text, run_id text, format text, data bytea, metadata bytea,
    version bigint, create_time timestamptz, value_channels text[], value_versions text[], value_formats text[], value_datas bytea[],
    task_ids text[], task_paths text[], write_indexes integer[], write_channels text[], write_formats text[], write_datas bytea[],
    more_writes boolean
) language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select r.*
        from lockstitch.checkpoint_rows_v1(p_tenant, p_session_keys, p_namespaces, p_ids, p_bytes_max, null, null, null) as r;
end
$$;
