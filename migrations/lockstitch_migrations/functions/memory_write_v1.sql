-- What a change of memory comes to: which keys go, which come, and whether it is refused.
create type lockstitch.memory_plan_v1 as (
    refusal text,
    changed boolean,
    gone_keys bytea[],
    new_keys bytea[],
    new_values bytea[],
    bytes_delta integer
);

-- Thinks a change of memory through, under the session row's lock, and writes nothing. A null value deletes its key; the scope says
-- which keys that are not named go too: 0 none, 1 all, 2 all but the typed ones. A key that was read to be merged must still be at
-- the version it was read at (0: absent), else the caller reads again.
create function lockstitch.plan_memory_v1(
    p_tenant text, p_session_key uuid, p_run_id text, p_memory_bytes integer, p_keys bytea[], p_values bytea[], p_key_versions bigint[],
    p_scope smallint, p_bytes_max integer
) returns lockstitch.memory_plan_v1 language plpgsql as $$
declare
    v_plan lockstitch.memory_plan_v1;
    v_gone_bytes integer;
    v_new_bytes integer;
begin
    if exists (
        select
        from unnest(p_keys, p_key_versions) as c (memory_key, version)
        left join lockstitch.memory m
            on m.session_key = p_session_key and m.tenant_id = p_tenant and m.run_id = p_run_id and m.memory_key = c.memory_key
        where c.version is not null and c.version <> coalesce(m.version, 0)
    ) then
        v_plan.refusal := 'memory_key_moved';
        return v_plan;
    end if;

    select array_agg(m.memory_key), coalesce(sum(octet_length(m.memory_key) + octet_length(m.value)), 0)
    into v_plan.gone_keys, v_gone_bytes
    from lockstitch.memory m
    left join unnest(p_keys, p_values) as c (memory_key, value) on c.memory_key = m.memory_key
    where m.session_key = p_session_key and m.tenant_id = p_tenant and m.run_id = p_run_id
        and case
            when c.memory_key is not null then c.value is null or c.value <> m.value
            when p_scope = 1 then true
            when p_scope = 2 then m.memory_key not in (
                'goal', 'plan', 'completed', 'errors', 'important_files', 'next_action'
            )
            else false
        end;

    select array_agg(c.memory_key), array_agg(c.value), coalesce(sum(octet_length(c.memory_key) + octet_length(c.value)), 0)
    into v_plan.new_keys, v_plan.new_values, v_new_bytes
    from unnest(p_keys, p_values) as c (memory_key, value)
    left join lockstitch.memory m
        on m.session_key = p_session_key and m.tenant_id = p_tenant and m.run_id = p_run_id and m.memory_key = c.memory_key
    where c.value is not null and (m.value is null or m.value <> c.value);

    v_plan.changed := v_plan.gone_keys is not null or v_plan.new_keys is not null;
    v_plan.bytes_delta := v_new_bytes - v_gone_bytes;
    if v_plan.bytes_delta > 0 and p_memory_bytes + v_plan.bytes_delta > p_bytes_max then
        v_plan.refusal := 'memory_full';
    end if;
    return v_plan;
end
$$;

-- Carries a change of memory out: what goes moves to the history. An erasure then deletes every historic value of the keys that went
-- with their names, and from the log every change since that may have said it, whether it changed the key or only repeated what it was: one that names
-- the key, might spell it otherwise (by an escape), or, since typed keys are told by a number, any at all. Gives the version with which the
-- first of what was erased had come in.
create function lockstitch.write_memory_v1(
    p_tenant text, p_session_key uuid, p_run_id text, p_version bigint, p_plan lockstitch.memory_plan_v1, p_erase boolean
) returns bigint language plpgsql as $$
declare
    v_since bigint;
begin
    if p_plan.gone_keys is not null then
        with gone as (
            delete from lockstitch.memory m
            where m.session_key = p_session_key and m.tenant_id = p_tenant and m.run_id = p_run_id
                and m.memory_key = any(p_plan.gone_keys)
            returning m.version, m.memory_key, m.value
        )
        insert into lockstitch.memory_history (session_key, version, until_version, tenant_id, run_id, memory_key, value)
        select p_session_key, gone.version, p_version, p_tenant, p_run_id, gone.memory_key, gone.value
        from gone;
    end if;
    if p_erase then
        with erased as (
            update lockstitch.memory_history h set
                -- No key of a memory begins with this byte, and no other erasure has this version.
                memory_key = '\xff'::bytea || int8send(p_version) || int4send(r.place::integer),
                value = '',
                erased = true
            from (
                select g.memory_key, g.version, row_number() over (order by g.memory_key, g.version) as place
                from lockstitch.memory_history g
                where g.session_key = p_session_key and g.tenant_id = p_tenant and g.run_id = p_run_id
                    and g.memory_key = any(p_plan.gone_keys)
            ) as r
            where h.session_key = p_session_key and h.tenant_id = p_tenant and h.run_id = p_run_id and h.memory_key = r.memory_key
                and h.version = r.version
            returning r.memory_key, h.version
        ),
        said as (
            update lockstitch.commits c set memory_change = null, digest = '', erased = true
            from (select e.memory_key, min(e.version) as version from erased e group by e.memory_key) as k
            where c.session_key = p_session_key and c.tenant_id = p_tenant and c.version >= k.version and c.version < p_version
                and c.memory_change is not null and coalesce(c.memory_run_id, '') = p_run_id
                and (
                    position(k.memory_key in c.memory_change) > 0
                    or position('\x5c'::bytea in c.memory_change) > 0
                    or k.memory_key in ('goal', 'plan', 'completed', 'errors', 'important_files', 'next_action')
                )
        )
        select min(e.version) into v_since from erased e;
    end if;
    if p_plan.new_keys is not null then
        insert into lockstitch.memory (session_key, version, tenant_id, run_id, memory_key, value)
        select p_session_key, p_version, p_tenant, p_run_id, c.memory_key, c.value
        from unnest(p_plan.new_keys, p_plan.new_values) as c (memory_key, value);
    end if;
    return v_since;
end
$$;
