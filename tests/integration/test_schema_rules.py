"""The rules that let one schema serve one node or many, held against the migrations and what they made."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstitch_migrations import files
from lockstitch_server.store import queries
from support.databases import Database

CITUS = Path(__file__).parents[2] / "deploy" / "citus.sql"

OF_NO_SESSION = {"migrations", "store"}
"""Tables of the whole store: without a tenant, without session_key, and with nothing of anybody's."""

OF_SESSIONS = {
    "checkpoint_values",
    "checkpoint_writes",
    "checkpoints",
    "commits",
    "draft_steps",
    "drafts",
    "memory",
    "memory_history",
    "messages",
    "messages_history",
    "purged_sessions",
    "run_leases",
    "runs",
    "session_details",
    "session_details_history",
    "session_labels",
    "sessions",
    "sweeps",
    "tool_calls",
    "tool_calls_history",
}

INTERNAL = {
    "add_checkpoint_writes_v1",
    "change_refusal_v1",
    "checkpoint_rows_v1",
    "commit_details_v1",
    "copy_refusal_v1",
    "creation_refusal_v1",
    "draft_end_v1",
    "draft_step_time_v1",
    "drop_unshared_values_v1",
    "end_run_v1",
    "erase_messages_v1",
    "fence_refusal_v1",
    "fork_made_v1",
    "keep_tool_calls_v1",
    "lock_lease_v1",
    "lose_drafts_v1",
    "message_at_v1",
    "new_session_v1",
    "plan_ledger_v1",
    "plan_memory_v1",
    "purge_v1",
    "run_is_live_v1",
    "run_rows_v1",
    "sweep_by_v1",
    "take_messages_v1",
    "taken_message_id_v1",
    "tool_calls_with_bodies_v1",
    "visible_session_v1",
    "whole_versions_v1",
    "write_commit_v1",
    "write_first_details_v1",
    "write_ledger_v1",
    "write_memory_v1",
}
"""Called by functions that named the tenant, never by a statement of the server."""

FIRST_BY_ANOTHER = {
    "change_run_v1",
    "delete_checkpoints_v1",
    "open_draft_v1",
    "put_checkpoint_v1",
    "set_status_v1",
    "start_run_v1",
    "update_message_v1",
    "update_session_v1",
}
"""Their first statement calls one of BEGINNINGS, whose first statement names the tenant."""

BEGINNINGS = {"begin_change_v1", "begin_or_create_v1"}

FOR_MANY_TENANTS = {
    "add_draft_steps_v1": "p_tenants[i]",
    "commit_batch_v1": "p_tenants[i]",
    "renew_runs_v1": "p_tenants[i]",
    "session_versions_v1": "v_tenant",
}
"""Each names each tenant before it touches that tenant's rows."""

OF_EVERY_TENANT = {"sessions_to_sweep_v1"}
"""Reads what the background role sees of every tenant, and names none."""

OVER_SESSIONS = {
    "checkpoints_by_place_v1",
    "copy_checkpoints_v1",
    "count_sessions_of_user_v1",
    "count_sessions_v1",
    "fork_session_v1",
    "forks_of_erasure_v1",
    "list_checkpoint_places_v1",
    "list_sessions_v1",
    "sessions_of_user_v1",
}
"""Read rows of a tenant's sessions, not of one."""

OF_NO_ROWS = {
    "incomplete_message_v1",
    "minute_v1",
    "reaches_v1",
    "server_request_v1",
    "session_expired_v1",
    "session_shown_v1",
    "session_status_v1",
    "varint_v1",
}
"""Functions of their arguments."""

LOOKED_AT_FOR_ALL = {"sweeps": ["(r,t,{lockstitch_background},true,)"]}
"""Tables with a second policy: for whom, to do what, and of which rows. `r` is select."""


def migrations() -> Iterator[tuple[str, str]]:
    """Each migration's SQL, comments stripped."""
    for migration in files.migrations():
        yield migration.name, re.sub(r"--.*", "", migration.sql).lower()


async def test_every_table_is_one_of_a_session_or_of_the_store(database: Database) -> None:
    rows = await database.as_superuser(
        """
        select c.relname, array_agg(a.attname::text) as columns
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'lockstitch'::regnamespace and c.relkind in ('r', 'p')
        group by c.relname
        """
    )
    columns = {row["relname"]: set(row["columns"]) for row in rows}
    assert {name for name, has in columns.items() if {"session_key", "tenant_id"} <= has} == OF_SESSIONS
    assert {name for name, has in columns.items() if not {"session_key", "tenant_id"} & has} == OF_NO_SESSION
    assert len(columns) == len(OF_SESSIONS) + len(OF_NO_SESSION)


async def test_what_is_unique_in_a_sessions_table_is_so_within_its_session(database: Database) -> None:
    rows = await database.as_superuser(
        """
        select t.relname as table, i.indexrelid::regclass::text as index,
            exists (
                select from pg_attribute a
                where a.attrelid = t.oid and a.attnum = any(i.indkey) and a.attname = 'session_key'
            ) as holds
        from pg_index i
        join pg_class t on t.oid = i.indrelid
        where i.indisunique and t.relnamespace = 'lockstitch'::regnamespace
        """
    )
    assert {row["table"] for row in rows} == OF_SESSIONS | OF_NO_SESSION
    assert {row["table"] for row in rows if not row["holds"]} == OF_NO_SESSION


async def test_text_that_is_looked_up_is_compared_byte_by_byte(database: Database) -> None:
    rows = await database.as_superuser(
        """
        select distinct a.attrelid::regclass::text || '.' || a.attname as column, c.collname
        from pg_attribute a
        join pg_collation c on c.oid = a.attcollation
        left join pg_index i on i.indrelid = a.attrelid and a.attnum = any(i.indkey)
        where a.attrelid in (select oid from pg_class where relnamespace = 'lockstitch'::regnamespace and relkind = 'r')
            and a.attname <> 'name'
            and (i.indexrelid is not null or a.attname ~ '_id$|^agent$|^label_(key|value)$')
        """
    )
    assert len(rows) > len(OF_SESSIONS)
    assert {row["column"]: row["collname"] for row in rows if row["collname"] != "C"} == {}


async def test_every_table_of_tenants_has_the_wall_that_its_owner_meets_too(database: Database) -> None:
    rows = await database.as_superuser(
        """
        select c.relname, c.relrowsecurity, c.relforcerowsecurity,
            array(
                select row(
                    p.polcmd::text, p.polpermissive, p.polroles::regrole[]::text, pg_get_expr(p.polqual, p.polrelid),
                    pg_get_expr(p.polwithcheck, p.polrelid)
                )::text
                from pg_policy p
                where p.polrelid = c.oid
                order by p.polroles::text
            ) as policies
        from pg_class c
        where c.relnamespace = 'lockstitch'::regnamespace and c.relkind = 'r'
        """
    )
    wall = "NULLIF(current_setting('app.tenant'::text, true), ''::text)"
    for row in rows:
        if row["relname"] in OF_SESSIONS:
            assert row["relrowsecurity"], row
            assert row["relforcerowsecurity"], row
            policy, *others = row["policies"]
            assert others == LOOKED_AT_FOR_ALL.get(row["relname"], []), row["relname"]
            assert policy.startswith("(*,t,{-},"), policy
            assert f"tenant_id = {wall}" in policy.replace('""', '"').replace('COLLATE "C"', ""), policy
            assert policy.endswith(",)"), policy


async def test_every_function_on_tenant_rows_names_the_tenant_first(database: Database) -> None:
    rows = await database.as_superuser(
        """
        select p.proname, p.prosrc, l.lanname, p.prosecdef
        from pg_proc p
        join pg_language l on l.oid = p.prolang
        where p.pronamespace = 'lockstitch'::regnamespace
        """
    )
    sources = {row["proname"]: re.sub(r"--.*", "", row["prosrc"]) for row in rows}
    assert len(sources) == len(rows), "a function is there twice"
    assert not [row["proname"] for row in rows if row["prosecdef"]]
    first = {name: re.search(r"\bbegin\s+(.*?);", source, re.DOTALL) for name, source in sources.items()}
    names_it = {
        name
        for name, statement in first.items()
        if statement and statement[1] == "perform set_config('app.tenant', p_tenant, true)"
    }
    begun = "|".join(BEGINNINGS)
    begins = {
        name
        for name, statement in first.items()
        if statement and re.match(rf"select \* into \w+\s+from lockstitch\.({begun})\(\s*p_tenant,", statement[1])
    }
    assert begins == FIRST_BY_ANOTHER
    assert names_it >= BEGINNINGS
    assert set(sources) - names_it - begins == INTERNAL | set(FOR_MANY_TENANTS) | OF_EVERY_TENANT | OF_NO_ROWS
    for name in OF_NO_ROWS:
        assert not re.search(r"\b(from|update|into|delete)\s+lockstitch\.", sources[name])
    for name, tenant in FOR_MANY_TENANTS.items():
        touched = re.search(r"(\b(from|join|update|into)|:=)\s+lockstitch\.", sources[name])
        assert touched
        assert 0 < sources[name].find(f"set_config('app.tenant', {tenant}, true)") < touched.start(), name
    for name in OF_EVERY_TENANT:
        assert set(re.findall(r"\blockstitch\.(\w+)", sources[name])) == set(LOOKED_AT_FOR_ALL)


def test_the_server_calls_functions_that_name_the_tenant_and_touches_no_table_of_tenants() -> None:
    for name, text in queries.load().items():
        assert not set(re.findall(r"lockstitch\.(\w+)\(", text)) & (INTERNAL | OF_NO_ROWS), name
        assert set(re.findall(r"lockstitch\.(\w+)\b(?!\()", text)) <= OF_NO_SESSION, name


@pytest.mark.parametrize(
    "pattern",
    [
        r"\btrigger\b",
        r"\bsecurity\s+definer\b",
        r"\bmerge\s+into\b",
        r"\bpg_(try_)?advisory",
        r"\b(update|merge)\b[^;]*\bset\b[^;]*\b(now|clock_timestamp|statement_timestamp|gen_random_uuid)\(",
        r"\bctid\b",
        r"\bgenerated\s+(always|by\s+default)\s+as\s+identity\b|\bserial\b|\bnextval\b",
        r"\bnotify\b|\bpg_notify\b",
        r"\bjsonb?\b",
    ],
)
def test_migrations_hold_nothing_that_one_of_the_two_cannot_do(pattern: str) -> None:
    for name, sql in migrations():
        assert not re.search(pattern, sql), (name, re.search(pattern, sql))


async def test_there_are_no_triggers_and_no_identity_columns(database: Database) -> None:
    triggers = await database.as_superuser(
        """
        select tgname from pg_trigger
        where tgrelid in (select oid from pg_class where relnamespace = 'lockstitch'::regnamespace) and not tgisinternal
        """
    )
    identities = await database.as_superuser(
        """
        select attname
        from pg_attribute
        where attrelid in (select oid from pg_class where relnamespace = 'lockstitch'::regnamespace)
            and attidentity <> ''
        """
    )
    assert (triggers, identities) == ([], [])


async def test_no_index_is_on_what_every_append_changes(database: Database) -> None:
    rows = await database.as_superuser(
        """
        select distinct a.attname
        from pg_index i
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = 'lockstitch.sessions'::regclass
        """
    )
    # activity_minute changes once a minute at most; what a fork was made from never does.
    assert {row["attname"] for row in rows} == {
        "session_key",
        "tenant_id",
        "user_id",
        "activity_minute",
        "forked_from_key",
        "forked_from_version",
    }


def test_the_distribution_names_every_table_of_sessions_and_every_function_of_one() -> None:
    sql = re.sub(r"--.*", "", CITUS.read_text(encoding="utf-8"))
    distributed = re.findall(r"create_distributed_table\('lockstitch\.(\w+)', 'session_key'([^)]*)\)", sql)
    assert sorted(name for name, _ in distributed) == sorted(OF_SESSIONS)
    assert distributed[0] == ("sessions", "")
    assert {how for _, how in distributed[1:]} == {", colocate_with => 'lockstitch.sessions'"}

    _, of_sessions, internal = re.split(r"select create_distributed_function", sql)
    called = {name for text in queries.load().values() for name in re.findall(r"lockstitch\.(\w+)\(", text)}
    over_sessions = OVER_SESSIONS | set(FOR_MANY_TENANTS) | OF_EVERY_TENANT
    assert over_sessions <= called
    assert set(re.findall(r"'(\w+_v\d+)'", of_sessions)) == called - over_sessions
    assert set(re.findall(r"'(\w+_v\d+)'", internal)) == INTERNAL | OF_NO_ROWS | BEGINNINGS
    for statement in sql.split(";"):
        assert not statement.strip() or re.match(r"\s*select create_distributed_(table|function)\(", statement)
