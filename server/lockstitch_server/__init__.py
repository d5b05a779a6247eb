"""The lockstitch server: a durable session store for AI agents, on Postgres."""
