"""Why a database could not be migrated."""


class MigrationError(Exception):
    """What is wrong, in one sentence for whoever migrates."""
