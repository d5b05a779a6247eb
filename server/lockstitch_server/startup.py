"""The one error that ends a command before it serves."""


class StartupError(Exception):
    """Why a command cannot go on, in one sentence for its operator; the command line prints it and exits with 2."""
