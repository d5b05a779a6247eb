"""The composition root: everything is built here, once, and nothing else builds anything."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from lockstitch_migrations import expected_schema
from lockstitch_server import failpoints
from lockstitch_server.api.server import serving
from lockstitch_server.api.services import Services
from lockstitch_server.auth.identity import Identity
from lockstitch_server.bus import Bus
from lockstitch_server.config import Settings
from lockstitch_server.model import Durability, StoreIdentity
from lockstitch_server.service.append import Appends
from lockstitch_server.service.checkpoints import Checkpoints
from lockstitch_server.service.commits import Commits
from lockstitch_server.service.context import Contexts
from lockstitch_server.service.draft_writing import DraftWriting
from lockstitch_server.service.drafts import Drafts
from lockstitch_server.service.erasure import Erasure
from lockstitch_server.service.memory import Memories
from lockstitch_server.service.messages import Messages
from lockstitch_server.service.paging import Paging
from lockstitch_server.service.quotas import Quotas
from lockstitch_server.service.runs import Runs
from lockstitch_server.service.sessions import Sessions
from lockstitch_server.service.sweeping import Sweeper
from lockstitch_server.service.tool_calls import ToolCalls
from lockstitch_server.startup import StartupError
from lockstitch_server.stopping import Stopping
from lockstitch_server.store.background import Background
from lockstitch_server.store.changing import Statements
from lockstitch_server.store.checkpoints import CheckpointStore
from lockstitch_server.store.commit_arguments import Limits
from lockstitch_server.store.drafts import DraftStore
from lockstitch_server.store.group_commit import GroupCommit
from lockstitch_server.store.inspection import Inspection, inspect
from lockstitch_server.store.log import Log
from lockstitch_server.store.notifications import PostgresBus
from lockstitch_server.store.pool import APP_ROLE, BACKGROUND_ROLE, Pool
from lockstitch_server.store.reader import Reader
from lockstitch_server.store.reading import Reading
from lockstitch_server.store.runs import RunStore
from lockstitch_server.store.writer import Writer
from lockstitch_server.subscribe.epoch import StoreEpoch
from lockstitch_server.subscribe.hub import Hub
from lockstitch_server.subscribe.limits import StreamLimits
from lockstitch_server.subscribe.stream import Streams
from lockstitch_server.subscribe.wake_ups import WakeUps

_POSTGRES_NUMBER_MIN = 150_000
WARM_CONNECTIONS = 4
"""So many connections are open before the first call comes: a burst on a server that never had one finds them."""
_BACKGROUND_WAIT = timedelta(seconds=30)
_BACKGROUND_STATEMENT_TIMEOUT = timedelta(minutes=2)
"""Purging the largest session takes seconds."""
_ERASURE_TIME_MAX = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that takes calls."""

    port: int


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """A database that may be served from."""

    login: str
    postgres_version: str
    schema: str
    synchronous_commit: bool
    fsync: bool
    full_page_writes: bool


async def check_database(database_url: str, settings: Settings) -> DatabaseReport:
    """Raise StartupError unless the database may be served from: the app's role, this release's schema, durable."""
    found = await inspect(database_url)
    if found.postgres_number < _POSTGRES_NUMBER_MIN:
        raise StartupError(f"the database is Postgres {found.postgres_version}; lockstitch needs 15 or newer")
    _check_role(found)
    _check_schema(found)
    _check_durability(found, settings)
    return DatabaseReport(
        login=found.login,
        postgres_version=found.postgres_version,
        schema=expected_schema(),
        synchronous_commit=found.synchronous_commit,
        fsync=found.fsync,
        full_page_writes=found.full_page_writes,
    )


def _check_role(found: Inspection) -> None:
    if found.reaches_all:
        raise StartupError(
            f"the role {found.login} is a superuser or bypasses row-level security, "
            f"so tenants would not be walled off: serve as a member of {APP_ROLE}"
        )
    if found.owns:
        raise StartupError(
            f"the role {found.login} owns the tables, so it could take the tenants' wall down: "
            f"serve as another role that is a member of {APP_ROLE}"
        )


def _check_schema(found: Inspection) -> None:
    mend = "run `lockstitch-server migrate`"
    if not found.may_be_app:
        raise StartupError(
            f"the role {found.login} is not a member of {APP_ROLE}: {mend} with this database URL, which grants it"
        )
    if found.migrations is None:
        raise StartupError(f"the database has no lockstitch schema: {mend}")
    newest = found.migrations[-1] if found.migrations else "none"
    if expected_schema() not in found.migrations:
        raise StartupError(f"the schema is at {newest}, and this release needs {expected_schema()}: {mend}")
    # What is added before a release's servers start is safe under the last one; what is dropped after is not.
    if any("_post_" in name for name in found.migrations if name > expected_schema()):
        raise StartupError(
            f"the schema is at {newest}, which is newer than this release ({expected_schema()}): "
            "run the release that made it; `lockstitch-server migrate` only goes forward"
        )


def _check_durability(found: Inspection, settings: Settings) -> None:
    switches = {
        "synchronous_commit": found.synchronous_commit,
        "fsync": found.fsync,
        "full_page_writes": found.full_page_writes,
    }
    off = [name for name, on in switches.items() if not on]
    if off and not settings.allow_unsafe_durability:
        raise StartupError(
            f"{' and '.join(off)} is off in this database, so an acknowledged commit could be lost: "
            "turn it on, or allow it with LOCKSTITCH_ALLOW_UNSAFE_DURABILITY=true"
        )


@asynccontextmanager
async def running_server(
    settings: Settings, database_url: str, identity: Identity, *, listen: str, reuse_port: bool = False
) -> AsyncIterator[RunningServer]:
    """Serve until the context ends; then take no new calls, let running ones finish, and close the pool."""
    failpoints.obey(settings.failpoints)
    report = await check_database(database_url, settings)
    stopping = Stopping(settings.shutdown_grace)
    pool = Pool(
        database_url,
        connections_max=max(1, settings.pool_connections_max - 1),
        wait=settings.pool_wait,
        queue_max=settings.pool_queue_max,
        statement_timeout=settings.statement_timeout,
    )
    background_pool = Pool(
        database_url,
        connections_max=1,
        wait=_BACKGROUND_WAIT,
        statement_timeout=_BACKGROUND_STATEMENT_TIMEOUT,
        role=BACKGROUND_ROLE,
    )
    statements = Statements(pool)
    limits = Limits(settings.session_messages_max, settings.memory_bytes_max)
    group = GroupCommit(statements, limits, wait=settings.pool_wait, queue_max=settings.pool_queue_max)
    durability = Durability(
        synchronous_commit=report.synchronous_commit,
        fsync=report.fsync,
        full_page_writes=report.full_page_writes,
    )
    try:
        reading = Reading(pool)
        reader, log = Reader(reading), Log(reading)
        store = await reader.store_identity()
        await pool.warm_up(WARM_CONNECTIONS)
        bus = PostgresBus(database_url) if settings.nats_url is None else _nats_bus(settings.nats_url, store)
        epoch = StoreEpoch(store.store_epoch)
        draft_store = DraftStore(statements, reading, idle=settings.draft_idle)
        hub = Hub(
            log,
            reader,
            draft_store,
            WakeUps(bus),
            epoch,
            poll_interval=settings.subscription_poll_interval,
            page_commits_max=settings.subscription_page_commits_max,
            window_commits_max=settings.subscription_window_commits_max,
        )
        writer = Writer(statements, limits, group=group if settings.group_commit else None, committed=hub.committed)
        runs = RunStore(statements, reading, run_grace=settings.run_grace, committed=hub.committed)
        checkpoints = CheckpointStore(
            statements, reading, bytes_max=settings.content_bytes_max, committed=hub.committed
        )
        background = Background(
            Statements(background_pool),
            run_grace=settings.run_grace,
            draft_idle=settings.draft_idle,
            committed=hub.committed,
        )
        writing = DraftWriting(draft_store, hub.drafted)
        quotas = Quotas(
            background,
            tenant_max=settings.tenant_sessions_max,
            user_max=settings.user_sessions_max,
            interval=settings.quota_interval,
        )
        services = _services(
            settings,
            store,
            epoch,
            writer=writer,
            reader=reader,
            log=log,
            runs=runs,
            checkpoints=checkpoints,
            draft_store=draft_store,
            writing=writing,
            background=background,
            quotas=quotas,
            hub=hub,
        )

        def drain() -> None:
            stopping.begin()
            hub.drain()
            services.drafts.drain()

        sweeper = Sweeper(background, interval=settings.sweep_interval, share=settings.sweep_share)
        async with (
            hub.running(),
            writing.running(),
            sweeper.running(),
            quotas.running(),
            serving(
                settings, services, durability, identity, listen=listen, reuse_port=reuse_port, drain=drain
            ) as port,
        ):
            # What the start made stays: looking through it for garbage would stop all calls for some 40 ms each time.
            gc.collect()
            gc.freeze()
            yield RunningServer(port=port)
    finally:
        # Together, since appends that stand in line end when the pool does.
        await asyncio.gather(group.close(), background_pool.close(), pool.close())
        stopping.end()


def _nats_bus(url: str, identity: StoreIdentity) -> Bus:
    try:
        from lockstitch_server.subscribe.nats_bus import NatsBus  # noqa: PLC0415 - its library is an extra
    except ImportError as error:
        raise StartupError("wake-ups by NATS need its client: pip install 'lockstitch[nats]'") from error
    return NatsBus(url, identity.store_epoch)


def _services(
    settings: Settings,
    identity: StoreIdentity,
    epoch: StoreEpoch,
    *,
    writer: Writer,
    reader: Reader,
    log: Log,
    runs: RunStore,
    checkpoints: CheckpointStore,
    draft_store: DraftStore,
    writing: DraftWriting,
    background: Background,
    quotas: Quotas,
    hub: Hub,
) -> Services:
    paging = Paging(
        identity.page_token_secret,
        default_size=settings.page_size_default,
        max_size=settings.page_size_max,
        answer_bytes_max=settings.content_bytes_max,
    )
    memories = Memories(writer, reader, paging)
    return Services(
        identity=identity,
        sessions=Sessions(writer, reader, paging, quotas, purge_after=settings.purge_after),
        appends=Appends(writer, memories, quotas),
        memories=memories,
        tool_calls=ToolCalls(writer, reader, paging),
        messages=Messages(writer, reader, paging),
        runs=Runs(runs, paging),
        checkpoints=Checkpoints(checkpoints, paging, quotas),
        drafts=Drafts(draft_store, writing, writer, memories, text_bytes_max=settings.content_bytes_max),
        erasure=Erasure(background, time_max=_ERASURE_TIME_MAX),
        commits=Commits(log, paging),
        contexts=Contexts(reader),
        epoch=epoch,
        streams=Streams(hub, reader, epoch),
        stream_limits=StreamLimits(
            user_max=settings.user_streams_max,
            tenant_max=settings.tenant_streams_max,
            process_max=settings.streams_max,
        ),
    )
