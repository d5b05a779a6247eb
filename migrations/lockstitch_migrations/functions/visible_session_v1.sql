-- The version of a session that is there for the caller; null where none is. A deleted one is there where it is asked for, until its
-- content goes.
create function lockstitch.visible_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text, p_show_deleted boolean
) returns bigint language plpgsql stable as $$
begin
    return (
        select s.version
        from lockstitch.sessions s
        where s.session_key = p_session_key and s.tenant_id = p_tenant and s.session_id = p_session_id
            and (p_owner is null or s.user_id = p_owner)
            and (s.status <> 4 or (p_show_deleted and s.purge_time > clock_timestamp()))
    );
end
$$;
