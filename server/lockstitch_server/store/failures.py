"""Which failures of the database mean what."""

import asyncio

import asyncpg

LOST = (
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleSessionTimeoutError,
)
"""The connection broke, or the database went away: a statement on it may or may not have been carried out."""

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
