-- Whether a caller reaches a session of its tenant. p_owner is null for who reaches them all; a user whose it must be; or, behind
-- a first U+001F and between more of them, a user ('' for any) and the agents of which one must have it. No name holds that character.
create function lockstitch.reaches_v1(p_owner text, p_user_id text, p_agent text) returns boolean
language sql immutable parallel safe as $$
    select case
        when p_owner is null then true
        when left(p_owner, 1) <> chr(31) then p_user_id is not distinct from p_owner
        else coalesce(
            split_part(p_owner, chr(31), 2) in ('', p_user_id) and p_agent = any ((string_to_array(p_owner, chr(31)))[3:]), false
        )
    end
$$;

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
            and lockstitch.reaches_v1(p_owner, s.user_id, s.agent)
            and (s.status <> 4 or (p_show_deleted and s.purge_time > clock_timestamp()))
    );
end
$$;
