-- When a draft was last written to.
create function lockstitch.draft_step_time_v1(p_draft lockstitch.drafts) returns timestamptz language sql stable as $$
    select greatest(
        p_draft.step_time,
        (
            select t.step_time
            from lockstitch.draft_steps t
            where t.session_key = p_draft.session_key and t.tenant_id = p_draft.tenant_id
                and t.request_hash = p_draft.request_hash
            order by t.start_offset desc
            limit 1
        )
    )
$$;

-- A length as the wire format of messages has it: seven bits a byte, the lowest first.
create function lockstitch.varint_v1(p_value bigint) returns bytea language plpgsql immutable as $$
declare
    v_bytes bytea := '';
begin
    while p_value > 127 loop
        v_bytes := v_bytes || set_byte('\x00'::bytea, 0, (p_value & 127)::integer | 128);
        p_value := p_value >> 7;
    end loop;
    return v_bytes || set_byte('\x00'::bytea, 0, p_value::integer);
end
$$;

-- The message that a draft is so far, as it is stored: all but its text, then a part (field 6) with the text (its field 1), then
-- incomplete (field 13).
create function lockstitch.incomplete_message_v1(p_header bytea, p_text bytea) returns bytea language sql immutable as $$
    select p_header || '\x32'::bytea || lockstitch.varint_v1(1 + octet_length(l.size) + octet_length(p_text)) || '\x0a'::bytea
        || l.size || p_text || '\x6801'::bytea
    from (select lockstitch.varint_v1(octet_length(p_text))) as l (size)
$$;

-- Stores what a session is drafting as incomplete messages, each in a commit of the server's own, and gives the session as it is then.
-- p_run_id: what was drafted under this run only. p_idle: only what nobody wrote to for so long. Not activity.
create function lockstitch.lose_drafts_v1(
    p_session lockstitch.sessions, p_now timestamptz, p_run_id text, p_idle interval
) returns lockstitch.sessions language plpgsql as $$
declare
    v_draft lockstitch.drafts%rowtype;
    v_text bytea;
    v_request uuid;
begin
    for v_draft in
        select * from lockstitch.drafts d
        where d.session_key = p_session.session_key and d.tenant_id = p_session.tenant_id
            and (p_run_id is null or d.run_id = p_run_id)
        order by d.request_hash
    loop
        continue when p_idle is not null and lockstitch.draft_step_time_v1(v_draft) + p_idle > p_now;
        -- From here on no server adds to it.
        delete from lockstitch.drafts d
        where d.session_key = v_draft.session_key and d.tenant_id = v_draft.tenant_id and d.request_hash = v_draft.request_hash;
        select string_agg(t.text, ''::bytea order by t.start_offset) into v_text
        from lockstitch.draft_steps t
        where t.session_key = v_draft.session_key and t.tenant_id = v_draft.tenant_id
            and t.request_hash = v_draft.request_hash;
        delete from lockstitch.draft_steps t
        where t.session_key = v_draft.session_key and t.tenant_id = v_draft.tenant_id
            and t.request_hash = v_draft.request_hash;
        continue when v_text is null;

        v_request := lockstitch.server_request_v1('draft/' || v_draft.draft_id);
        if exists (
            select from lockstitch.commits c
            where c.session_key = v_draft.session_key and c.tenant_id = v_draft.tenant_id and c.request_hash = v_request
        ) then
            v_request := lockstitch.server_request_v1('draft/' || v_draft.draft_id || '/' || p_session.version + 1);
        end if;
        p_session.last_seq := p_session.last_seq + 1;
        p_session.message_count := p_session.message_count + 1;
        insert into lockstitch.messages (session_key, seq, version, create_time, role, tenant_id, run_id, body)
        values (
            v_draft.session_key, p_session.last_seq, p_session.version + 1, p_now, v_draft.role, v_draft.tenant_id, v_draft.run_id,
            lockstitch.incomplete_message_v1(v_draft.header, v_text)
        );
        p_session := lockstitch.write_commit_v1(
            p_session, p_now, 19::smallint, v_request, '', 'system', 4::smallint, null, false, 1::smallint, v_draft.run_id, null,
            null, null
        );
    end loop;
    return p_session;
end
$$;

-- Opens a draft, or finds it as far as it is written. A request that was committed is 'replayed', whatever its digest was: what the
-- draft ends with is not known yet. Opening is activity, though no commit.
create function lockstitch.open_draft_v1(
    p_tenant text, p_session_key uuid, p_session_id text, p_owner text,
    p_method smallint, p_request uuid, p_expected_version bigint, p_expected_memory_version bigint, p_run_id text,
    p_fencing_token bigint, p_draft_id text, p_role smallint, p_header bytea, p_idle interval,
    out r_outcome text, out r_version bigint, out r_last_seq bigint, out r_memory_version bigint, out r_commit_time timestamptz,
    out r_offset bigint, out r_idle_ttl interval
) language plpgsql as $$
declare
    v_begun record;
    v_session lockstitch.sessions%rowtype;
    v_draft lockstitch.drafts%rowtype;
begin
    select * into v_begun
    from lockstitch.begin_change_v1(p_tenant, p_session_key, p_session_id, p_owner, p_method, p_request, null);
    v_session := v_begun.r_session;
    r_version := v_session.version;
    r_last_seq := v_session.last_seq;
    r_memory_version := v_session.memory_version;
    r_commit_time := v_session.update_time;
    r_idle_ttl := v_session.idle_ttl;
    r_outcome := v_begun.r_outcome;
    if r_outcome is null then
        r_outcome := lockstitch.change_refusal_v1(
            v_session, v_begun.r_now, p_run_id, p_fencing_token, p_expected_version
        );
    end if;
    if r_outcome is null and p_expected_memory_version <> v_session.memory_version then
        r_outcome := 'memory_conflict';
    end if;
    if r_outcome is not null then
        return;
    end if;

    select * into v_draft from lockstitch.drafts d
    where d.session_key = p_session_key and d.tenant_id = p_tenant and d.request_hash = p_request;
    if not found then
        insert into lockstitch.drafts (
            session_key, request_hash, step_time, role, tenant_id, draft_id, run_id, header
        ) values (
            p_session_key, p_request, v_begun.r_now, p_role, p_tenant, p_draft_id, p_run_id, p_header
        );
    elsif v_draft.header <> p_header or v_draft.role <> p_role then
        r_outcome := 'request_id_reused';
        return;
    else
        update lockstitch.drafts d set step_time = v_begun.r_now, run_id = p_run_id
        where d.session_key = p_session_key and d.tenant_id = p_tenant and d.request_hash = p_request;
    end if;
    r_offset := lockstitch.draft_end_v1(p_tenant, p_session_key, p_request);
    update lockstitch.sessions s set
        last_activity_time = v_begun.r_now,
        activity_minute = lockstitch.minute_v1(v_begun.r_now)
    where s.session_key = p_session_key and s.tenant_id = p_tenant;
    perform lockstitch.sweep_by_v1(p_tenant, p_session_key, v_begun.r_now + p_idle);
    r_outcome := 'open';
end
$$;

-- How many bytes of a draft's text are stored.
create function lockstitch.draft_end_v1(p_tenant text, p_session_key uuid, p_request uuid)
returns bigint language plpgsql volatile as $$
begin
    return coalesce(
        (
            select t.start_offset + octet_length(t.text)
            from lockstitch.draft_steps t
            where t.session_key = p_session_key and t.tenant_id = p_tenant and t.request_hash = p_request
            order by t.start_offset desc
            limit 1
        ),
        0
    );
end
$$;

-- Adds steps to drafts of any tenants, each under its tenant's name, and says of each how far its draft is stored then; null where the
-- draft is not there any more. What is stored already is passed over, and so is what lies beyond. An empty step says that somebody
-- is still there; a null one only looks. Items come in the order of their keys, so that two servers never wait for each other.
create function lockstitch.add_draft_steps_v1(
    p_tenants text[], p_session_keys uuid[], p_requests uuid[], p_offsets bigint[], p_texts bytea[]
) returns setof bigint language plpgsql as $$
declare
    v_end bigint;
    v_text bytea;
    v_now timestamptz := clock_timestamp();
begin
    for i in 1 .. cardinality(p_tenants) loop
        perform set_config('app.tenant', p_tenants[i], true);
        -- It may not be committed, and its steps deleted, before this step is among them.
        perform from lockstitch.drafts d
        where d.session_key = p_session_keys[i] and d.tenant_id = p_tenants[i] and d.request_hash = p_requests[i]
        for key share;
        if not found then
            return next null;
            continue;
        end if;
        if p_texts[i] = '' then
            update lockstitch.drafts d set step_time = v_now
            where d.session_key = p_session_keys[i] and d.tenant_id = p_tenants[i] and d.request_hash = p_requests[i];
        end if;
        v_end := lockstitch.draft_end_v1(p_tenants[i], p_session_keys[i], p_requests[i]);
        if p_offsets[i] <= v_end and p_offsets[i] + octet_length(p_texts[i]) > v_end then
            v_text := substring(p_texts[i] from (v_end - p_offsets[i] + 1)::integer);
            -- Two callers who say different things may meet within a character; what is stored stays readable text.
            for k in 0 .. least(2, octet_length(v_text) - 1) loop
                exit when get_byte(v_text, k) & 192 <> 128;
                v_text := set_byte(v_text, k, ascii('?'));
            end loop;
            insert into lockstitch.draft_steps (session_key, request_hash, start_offset, step_time, tenant_id, text)
            values (p_session_keys[i], p_requests[i], v_end, v_now, p_tenants[i], v_text)
            -- Another server added to it meanwhile.
            on conflict do nothing;
            v_end := lockstitch.draft_end_v1(p_tenants[i], p_session_keys[i], p_requests[i]);
        end if;
        return next v_end;
    end loop;
end
$$;

-- What a draft is so far.
create function lockstitch.get_draft_v1(
    p_tenant text, p_session_key uuid, p_request uuid, out header bytea, out text bytea
) returns setof record language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    return query
        select d.header,
            coalesce(
                (
                    select string_agg(t.text, ''::bytea order by t.start_offset)
                    from lockstitch.draft_steps t
                    where t.session_key = p_session_key and t.tenant_id = p_tenant and t.request_hash = p_request
                ),
                ''
            )
        from lockstitch.drafts d
        where d.session_key = p_session_key and d.tenant_id = p_tenant and d.request_hash = p_request;
end
$$;

-- The drafts of a session, each with what was added behind the offset that is known of it (p_requests and p_offsets), for streams. The
-- first row is the session's (request_hash null): its version. Where there is more text than p_bytes_max, not all of it is given, and
-- is_cut says so.
create function lockstitch.list_drafts_v1(
    p_tenant text, p_session_key uuid, p_requests uuid[], p_offsets bigint[], p_bytes_max bigint
) returns table (
    version bigint, request_hash uuid, draft_id text, role smallint, run_id text, known bigint, text bytea, is_cut boolean
) language plpgsql stable as $$
begin
    perform set_config('app.tenant', p_tenant, true);
    select s.version into version from lockstitch.sessions s where s.session_key = p_session_key and s.tenant_id = p_tenant;
    if not found then
        return;
    end if;
    return next;

    return query
        select null::bigint, d.request_hash, d.draft_id, d.role, d.run_id, coalesce(o.known, 0),
            coalesce(
                string_agg(
                    substring(t.text from greatest(o.known - t.start_offset, 0)::integer + 1), ''::bytea order by t.start_offset
                ) filter (where t.place = 1 or t.running <= p_bytes_max),
                ''
            ),
            coalesce(bool_or(t.place > 1 and t.running > p_bytes_max), false)
        from lockstitch.drafts d
        left join unnest(p_requests, p_offsets) as o (request_hash, known) on o.request_hash = d.request_hash
        left join (
            select n.request_hash, n.start_offset, n.text, sum(octet_length(n.text)) over by_place as running,
                row_number() over by_place as place
            from lockstitch.drafts r
            left join unnest(p_requests, p_offsets) as k (request_hash, known) on k.request_hash = r.request_hash
            join lockstitch.draft_steps n
                on n.session_key = p_session_key and n.tenant_id = p_tenant and n.request_hash = r.request_hash
            where r.session_key = p_session_key and r.tenant_id = p_tenant
                -- What is known may end within a step, where two servers added the same text in other pieces.
                and n.start_offset >= coalesce(
                    (
                        select max(b.start_offset)
                        from lockstitch.draft_steps b
                        where b.session_key = p_session_key and b.tenant_id = p_tenant and b.request_hash = r.request_hash
                            and b.start_offset <= k.known
                    ),
                    0
                )
                and n.start_offset + octet_length(n.text) > coalesce(k.known, 0)
            window by_place as (order by n.request_hash, n.start_offset)
        ) as t on t.request_hash = d.request_hash
        where d.session_key = p_session_key and d.tenant_id = p_tenant
        group by d.request_hash, d.draft_id, d.role, d.run_id, o.known;
end
$$;

-- Says that a session is in use, without a commit.
create function lockstitch.touch_session_v1(p_tenant text, p_session_key uuid) returns void language plpgsql as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform set_config('app.tenant', p_tenant, true);
    update lockstitch.sessions s set
        last_activity_time = v_now,
        activity_minute = lockstitch.minute_v1(v_now)
    where s.session_key = p_session_key and s.tenant_id = p_tenant and s.status = 1
        and not lockstitch.session_expired_v1(s, v_now);
end
$$;
