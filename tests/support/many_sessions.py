"""A hundred thousand sessions, put there by SQL."""

from dataclasses import dataclass

import asyncpg

from support.databases import Database

TENANT, OTHER_TENANT = "t-big", "t-other"
BIG_USER = "u-0"
BIG_USER_SESSIONS = 10_000
SESSIONS = 80_000
OTHER_SESSIONS = 20_000
MINUTES = 60 * 24 * 60

# What a session is follows from its number n, so that a test can say what a list must hold:
# - its user: the first 10,000 are u-0's, the rest of 700 users';
# - its agent: rare for 1 in 1,000, coder for 1 in 10, else assistant;
# - its status: closed for 1 in 50; of the others 1 in 40 expired;
# - its last use: one of 86,400 minutes up to now, drawn by a step that is prime to them, so spread evenly;
# - its labels: env prod or dev, a team of 100, a ticket for each 20,000th.
SEED = """
insert into lockstitch.sessions (
    session_key, create_time, version, last_seq, memory_version, fencing_token, update_time, last_activity_time,
    message_count, memory_bytes, activity_minute, status, expire_time, idle_ttl, tenant_id, user_id, session_id, agent
)
select
    encode(
        substring(sha256(convert_to($1, 'UTF8') || '\\x00'::bytea || convert_to('s-' || n, 'UTF8')) for 16), 'hex'
    )::uuid,
    used.at - interval '1 hour', 1, 0, 0, 0, used.at, used.at, 0, 0,
    lockstitch.minute_v1(used.at),
    case when n % 50 = 7 then 2 else 1 end,
    case when n % 40 = 9 then now() - interval '1 minute' end,
    null, $1, case when n < 10000 then 'u-0' else 'u-' || 1 + n % 700 end, 's-' || n,
    case when n % 1000 = 3 then 'rare' when n % 10 = 4 then 'coder' else 'assistant' end
from generate_series(0, $2::bigint - 1) as n
cross join lateral (
    select $3::timestamptz - (n * 7919 % 86400) * interval '1 minute' - (n % 60) * interval '1 second'
) as used (at)
"""
DETAILS = """
insert into lockstitch.session_details (
    session_key, version, status, close_time, expire_time, tenant_id, title, close_reason, label_keys, label_values,
    metadata
)
select
    s.session_key, 1, s.status, case when s.status = 2 then s.update_time end, s.expire_time, s.tenant_id, 'a title',
    '', array['env', 'team'] || case when l.n % 20000 = 11 then '{ticket}'::text[] else '{}' end,
    array[case when l.n % 2 = 0 then 'prod' else 'dev' end, 'team-' || l.n % 100]
        || case when l.n % 20000 = 11 then '{T-1}'::text[] else '{}' end,
    ''
from lockstitch.sessions s
cross join lateral (select substring(s.session_id from 3)::bigint) as l (n)
where s.tenant_id = $1
"""
LABELS = """
insert into lockstitch.session_labels (session_key, tenant_id, label_key, label_value)
select d.session_key, d.tenant_id, l.label_key, l.label_value
from lockstitch.session_details d
cross join lateral unnest(d.label_keys, d.label_values) as l (label_key, label_value)
where d.tenant_id = $1
"""


@dataclass(frozen=True, slots=True)
class Seeded:
    """One session of those."""

    number: int
    user_id: str
    agent: str
    closed: bool
    expired: bool
    labels: dict[str, str]
    order: tuple[int, object, str]
    """Lists come newest first by this."""

    @property
    def session_id(self) -> str:
        return f"s-{self.number}"


async def seed(database: Database) -> None:
    """Put them there, and let the planner know of them."""
    connection = await asyncpg.connect(database.superuser_url)
    try:
        now = await connection.fetchval("select date_trunc('second', now())")
        for tenant, sessions in ((TENANT, SESSIONS), (OTHER_TENANT, OTHER_SESSIONS)):
            await connection.execute(SEED, tenant, sessions, now)
            await connection.execute(DETAILS, tenant)
            await connection.execute(LABELS, tenant)
        await connection.execute("vacuum analyze")
    finally:
        await connection.close()


async def seeded(database: Database, tenant: str = TENANT) -> list[Seeded]:
    """Give a tenant's sessions in the order of lists."""
    rows = await database.as_superuser(
        """
        select s.session_id, s.user_id, s.agent, s.status = 2 as closed, s.activity_minute, s.last_activity_time,
            s.status = 1 and s.expire_time <= now() as expired, d.label_keys, d.label_values
        from lockstitch.sessions s
        join lockstitch.session_details d using (session_key)
        where s.tenant_id = $1
        """,
        tenant,
    )
    found = [
        Seeded(
            number=int(row["session_id"].removeprefix("s-")),
            user_id=row["user_id"],
            agent=row["agent"],
            closed=row["closed"],
            expired=row["expired"],
            labels=dict(zip(row["label_keys"], row["label_values"], strict=True)),
            order=(row["activity_minute"], row["last_activity_time"], row["session_id"]),
        )
        for row in rows
    ]
    return sorted(found, key=lambda session: session.order, reverse=True)
