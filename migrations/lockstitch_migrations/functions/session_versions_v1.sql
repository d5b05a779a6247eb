-- The versions of sessions of several tenants, and whether something is drafted in them, each read under its tenant's name, for streams
-- that look for what they missed.
create function lockstitch.session_versions_v1(p_tenants text[], p_session_keys uuid[])
returns table (session_key uuid, version bigint, is_drafting boolean) language plpgsql stable as $$
declare
    v_tenant text;
begin
    for v_tenant in select distinct t from unnest(p_tenants) as t loop
        perform set_config('app.tenant', v_tenant, true);
        return query
            select s.session_key, s.version,
                exists (
                    select from lockstitch.drafts d where d.session_key = s.session_key and d.tenant_id = v_tenant
                )
            from unnest(p_tenants, p_session_keys) as k (tenant_id, session_key)
            join lockstitch.sessions s on s.session_key = k.session_key
            where k.tenant_id = v_tenant and s.tenant_id = v_tenant;
    end loop;
end
$$;
