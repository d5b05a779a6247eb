"""The only place with asyncpg and SQL: it reports what the database did, and decides nothing."""
