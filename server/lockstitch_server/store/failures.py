"""Which failures of the database mean what."""

import asyncpg


class ConnectionLost(Exception):
    """The connection broke, or the database went away: the statement may or may not have been carried out."""


LOST = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleSessionTimeoutError,
)
"""What a statement fails with when its connection is lost."""

TRY_AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""The statement was rolled back for a reason that passes."""

NO_ROOM = (
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""The statement was rolled back, or never begun, since the database could not do it now."""
