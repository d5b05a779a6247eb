"""Logging: a line an event on stderr, for people or for machines; never a token, content or SQL."""

import logging
import sys
from pathlib import Path
from traceback import extract_tb

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from lockstitch_server.config import Settings

FRAMES_MAX = 12


def configure_logging(settings: Settings) -> None:
    """Send our events and those of the libraries the same way.

    What is bound with `structlog.contextvars` stands on every line of the call that bound it.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        failure_without_values,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(settings)],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)


def failure_without_values(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Replace an exception by its kinds and places: its message may quote what a caller sent, or a statement."""
    info = event.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["error_kinds"] = [type(one).__name__ for one in _chain(error)]
        event["error_at"] = _places(error)
        for name in ("sqlstate", "constraint_name"):
            if (value := getattr(error, name, None)) is not None:
                event[name] = value
    return event


def _renderer(settings: Settings) -> Processor:
    console = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    if console:
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer()


def _chain(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _places(error: BaseException) -> list[str]:
    frames = extract_tb(error.__traceback__)[-FRAMES_MAX:]
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
