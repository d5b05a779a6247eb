-- Commits new details of a session, under its row's lock, and gives the session as it is then: the former ones move to the history. An
-- erasure then clears there, in every row, the fields that this commit replaces. Not activity: last_activity_time stays.
create function lockstitch.commit_details_v1(
    p_session lockstitch.sessions, p_details lockstitch.session_details, p_now timestamptz, p_method smallint, p_request uuid,
    p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text, p_run_id text, p_changed_run_id text,
    p_changed_calls bigint[], p_erase boolean
) returns lockstitch.sessions language plpgsql as $$
declare
    v_former lockstitch.session_details_history%rowtype;
    v_title boolean;
    v_labels boolean;
    v_metadata boolean;
begin
    p_session.status := p_details.status;
    p_session.expire_time := p_details.expire_time;
    p_session.idle_ttl := p_details.idle_ttl;
    p_session.purge_time := p_details.purge_time;
    p_session := lockstitch.write_commit_v1(
        p_session, p_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent, false, 0::smallint, p_run_id,
        p_changed_run_id, null, p_changed_calls
    );

    insert into lockstitch.session_details_history as h (
        session_key, version, until_version, status, close_time, expire_time, idle_ttl, delete_time, purge_time,
        status_before_delete, tenant_id, title, close_reason, label_keys, label_values, metadata
    )
    select d.session_key, d.version, p_session.version, d.status, d.close_time, d.expire_time, d.idle_ttl, d.delete_time, d.purge_time,
        d.status_before_delete, d.tenant_id, d.title, d.close_reason, d.label_keys, d.label_values, d.metadata
    from lockstitch.session_details d
    where d.session_key = p_session.session_key and d.tenant_id = p_session.tenant_id
    returning h.* into v_former;

    update lockstitch.session_details d set
        version = p_session.version,
        status = p_details.status,
        close_time = p_details.close_time,
        close_reason = p_details.close_reason,
        expire_time = p_details.expire_time,
        idle_ttl = p_details.idle_ttl,
        delete_time = p_details.delete_time,
        purge_time = p_details.purge_time,
        status_before_delete = p_details.status_before_delete,
        title = p_details.title,
        label_keys = p_details.label_keys,
        label_values = p_details.label_values,
        metadata = p_details.metadata
    where d.session_key = p_session.session_key and d.tenant_id = p_session.tenant_id;

    perform lockstitch.sweep_by_v1(
        p_session.tenant_id, p_session.session_key,
        case p_session.status
            when 1 then least(p_session.expire_time, p_session.last_activity_time + p_session.idle_ttl)
            when 4 then p_session.purge_time
        end
    );

    if p_erase then
        v_title := v_former.title <> p_details.title;
        v_labels := (v_former.label_keys, v_former.label_values) is distinct from (p_details.label_keys, p_details.label_values);
        v_metadata := v_former.metadata <> p_details.metadata;
        with erased as (
            update lockstitch.session_details_history h set
                title = case when v_title then '' else h.title end,
                label_keys = case when v_labels then '{}' else h.label_keys end,
                label_values = case when v_labels then '{}' else h.label_values end,
                metadata = case when v_metadata then '' else h.metadata end
            where h.session_key = p_session.session_key and h.tenant_id = p_session.tenant_id
                and (
                    (v_title and h.title <> '')
                    or (v_labels and h.label_keys <> '{}')
                    or (v_metadata and h.metadata <> '')
                )
            returning h.version
        )
        update lockstitch.commits c set
            digest = case when c.version = p_session.version then c.digest else '' end,
            erased = c.version <> p_session.version,
            erased_since = case when c.version = p_session.version then e.since else c.erased_since end
        from (
            select n.version, min(n.version) over () as since from erased n
            union all
            select p_session.version, min(n.version) from erased n
        ) as e
        where c.session_key = p_session.session_key and c.tenant_id = p_session.tenant_id and c.version = e.version;
    end if;
    return p_session;
end
$$;

-- Changes a session's title, labels, metadata or life, each where its p_set_ is true, in one commit.
create function lockstitch.update_session_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_digest bytea, p_subject text, p_principal_role smallint, p_traceparent text,
    p_expected_version bigint, p_run_id text, p_fencing_token bigint, p_force boolean, p_needs_guard boolean,
    p_set_title boolean, p_title text, p_set_labels boolean, p_label_keys text[], p_label_values text[],
    p_set_metadata boolean, p_metadata bytea, p_set_expire_time boolean, p_expire_time timestamptz,
    p_set_idle_ttl boolean, p_idle_ttl interval, p_erase boolean,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_former lockstitch.session_details%rowtype;
    v_details lockstitch.session_details%rowtype;
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, p_digest);
    v_session := v_begun.r_session;
    r_outcome := v_begun.r_outcome;
    if r_outcome is null then
        r_outcome := lockstitch.change_refusal_v1(
            v_session, v_begun.r_now, p_run_id, p_fencing_token, p_expected_version
        );
    end if;
    if r_outcome is null then
        if p_needs_guard and p_expected_version is null and p_run_id is null and not p_force then
            r_outcome := 'update_version_required';
        elsif p_set_expire_time and p_expire_time <= v_begun.r_now then
            r_outcome := 'expire_time_passed';
        end if;
    end if;

    if r_outcome is null then
        select * into v_former from lockstitch.session_details d
        where d.session_key = p_session_key and d.tenant_id = p_tenant;
        v_details := v_former;
        if p_set_title then
            v_details.title := p_title;
        end if;
        if p_set_labels then
            v_details.label_keys := p_label_keys;
            v_details.label_values := p_label_values;
        end if;
        if p_set_metadata then
            v_details.metadata := p_metadata;
        end if;
        if p_set_expire_time then
            v_details.expire_time := p_expire_time;
        end if;
        if p_set_idle_ttl then
            v_details.idle_ttl := p_idle_ttl;
        end if;
        if v_details is not distinct from v_former then
            r_outcome := 'unchanged';
        else
            v_session := lockstitch.commit_details_v1(
                v_session, v_details, v_begun.r_now, p_method, p_request, p_digest, p_subject, p_principal_role, p_traceparent,
                p_run_id, null, null, p_erase
            );
            if p_set_labels then
                delete from lockstitch.session_labels l where l.session_key = p_session_key and l.tenant_id = p_tenant;
                insert into lockstitch.session_labels (session_key, tenant_id, label_key, label_value)
                select p_session_key, p_tenant, l.label_key, l.label_value
                from unnest(p_label_keys, p_label_values) as l (label_key, label_value);
            end if;
            r_outcome := 'committed';
        end if;
    elsif r_outcome = 'replayed' then
        v_session.version := (v_begun.r_commit).version;
        v_session.last_seq := (v_begun.r_commit).last_seq;
        v_session.memory_version := (v_begun.r_commit).memory_version;
        v_session.update_time := (v_begun.r_commit).commit_time;
    end if;
    r_version := v_session.version;
    r_commit_time := v_session.update_time;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
end
$$;
