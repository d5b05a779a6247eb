"""Rows that belong to nothing: there are no foreign keys, so tests look for what these would have refused."""

from collections.abc import Set as AbstractSet

from support.databases import Database

PARTS = """
    select c.relname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'session_key'
    where c.relnamespace = 'lockstitch'::regnamespace and c.relkind = 'r'
        and c.relname not in ('sessions', 'purged_sessions')
    order by 1
"""
# Each: rows that must not be there, of sessions that are.
AT_ODDS = {
    "sessions without details": """
        select from lockstitch.sessions s
        where not exists (select from lockstitch.session_details d where d.session_key = s.session_key)
    """,
    "sessions that were purged": """
        select from lockstitch.sessions s join lockstitch.purged_sessions g using (session_key)
    """,
    "commits that are missing or too many": """
        select from lockstitch.sessions s
        where (
            select array_agg(c.version order by c.version) from lockstitch.commits c where c.session_key = s.session_key
        ) is distinct from (select array_agg(n) from generate_series(1, s.version) as n)
    """,
    "steps without a draft": """
        select from lockstitch.draft_steps t
        where not exists (
            select from lockstitch.drafts d where d.session_key = t.session_key and d.request_hash = t.request_hash
        )
    """,
    "leases of a run that is not the active one": """
        select from lockstitch.run_leases l
        join lockstitch.sessions s using (session_key)
        left join lockstitch.runs r on r.session_key = l.session_key and r.fencing_token = l.fencing_token
        where r.run_id is distinct from s.active_run_id or r.status <> 1
    """,
    "active runs without a lease": """
        select from lockstitch.sessions s
        where s.active_run_id is not null
            and not exists (select from lockstitch.run_leases l where l.session_key = s.session_key)
    """,
    "runs that go on beside the active one": """
        select from lockstitch.runs r join lockstitch.sessions s using (session_key)
        where r.status = 1 and r.run_id is distinct from s.active_run_id
    """,
    "active runs, or drafts, of sessions that are not active": """
        select from lockstitch.sessions s
        where s.status <> 1
            and (
                s.active_run_id is not null
                or exists (select from lockstitch.drafts d where d.session_key = s.session_key)
            )
    """,
    "messages of a commit that is not there": """
        select from lockstitch.messages m
        where not exists (
            select from lockstitch.commits c where c.session_key = m.session_key and c.version = m.version
        )
    """,
    "tool calls of a message that is not there": """
        select from lockstitch.tool_calls t
        where t.message_seq is not null and not exists (
            select from lockstitch.messages m where m.session_key = t.session_key and m.seq = t.message_seq
        )
    """,
    "lives that nobody will look at": """
        select from lockstitch.sessions s
        where not exists (select from lockstitch.sweeps w where w.session_key = s.session_key)
            and (
                s.status = 1 and (s.expire_time is not null or s.idle_ttl is not null or s.active_run_id is not null)
                or s.status = 4
                or exists (select from lockstitch.drafts d where d.session_key = s.session_key)
            )
    """,
    "lives that are looked at too late": """
        select from lockstitch.sessions s
        join lockstitch.sweeps w using (session_key)
        left join lockstitch.run_leases l using (session_key)
        where w.sweep_after > least(
            case when s.status = 1 then s.expire_time end,
            case
                when s.status = 1 and s.idle_ttl is not null
                    then greatest(s.last_activity_time + s.idle_ttl, l.lease_expire_time)
            end,
            s.purge_time
        )
    """,
}


async def orphans(database: Database, *, but: AbstractSet[str] = frozenset()) -> list[str]:
    """Name what a database holds that belongs to nothing, or contradicts the rest; `but` are tables not to look at."""
    found = []
    for row in await database.as_superuser(PARTS):
        if row["relname"] in but:
            continue
        lost = f"select from lockstitch.{row['relname']} t where not exists (select from lockstitch.sessions s "
        lost += "where s.session_key = t.session_key and s.tenant_id = t.tenant_id)"
        if await database.as_superuser(lost):
            found.append(row["relname"])
    return found + [what for what, sql in AT_ODDS.items() if await database.as_superuser(sql)]
