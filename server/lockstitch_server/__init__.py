"""The lockstitch server: a durable session store for AI agents, on Postgres."""

from importlib.metadata import version

__version__ = version("lockstitch")
