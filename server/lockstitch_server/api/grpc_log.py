"""What gRPC itself logs, told as it is: a caller who went before the answer came is no error of the server's."""

import logging

_LOGGER = "grpc._cython.cygrpc"
_CALLER_GONE = "ExecuteBatchError raised in core by servicer method"
"""gRPC passes over it where it has noticed by then that the connection is lost, and calls it an error where not yet."""


def tell_lost_callers_quietly() -> None:
    """Have gRPC log an answer that found nobody as INFO, without a traceback. To call it again changes nothing."""
    logging.getLogger(_LOGGER).addFilter(_as_it_is)


def _as_it_is(record: logging.LogRecord) -> bool:
    if not str(record.msg).startswith(_CALLER_GONE):
        return True
    record.levelno, record.levelname, record.exc_info = logging.INFO, logging.getLevelName(logging.INFO), None
    return logging.getLogger(_LOGGER).isEnabledFor(logging.INFO)
