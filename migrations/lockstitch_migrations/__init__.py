"""The database schema of lockstitch: plain SQL files, and the runner that applies them."""

from lockstitch_migrations.errors import MigrationError
from lockstitch_migrations.files import expected_schema
from lockstitch_migrations.roles import grant_app
from lockstitch_migrations.runner import migrate, new_store_epoch, pending

__all__ = ["MigrationError", "expected_schema", "grant_app", "migrate", "new_store_epoch", "pending"]
