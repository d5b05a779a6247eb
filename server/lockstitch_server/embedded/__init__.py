"""The Postgres that comes along: made in the data folder, started, watched and stopped by the server."""

from lockstitch_server.embedded.postgres import EmbeddedPostgres, running_urls

__all__ = ["EmbeddedPostgres", "running_urls"]
