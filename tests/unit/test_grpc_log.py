"""What gRPC calls an error, though a caller only hung up, is told as it is; its other errors stay what they are."""

import json
import logging
from collections.abc import Iterator
from typing import Any, Literal

import pytest
import structlog

from lockstitch_server.api.grpc_log import tell_lost_callers_quietly
from lockstitch_server.config import Settings
from lockstitch_server.telemetry import configure_logging

CALLER_GONE = "ExecuteBatchError raised in core by servicer method [%s]"


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root, of_grpc = logging.getLogger(), logging.getLogger("grpc._cython.cygrpc")
    handlers, level, filters = root.handlers[:], root.level, of_grpc.filters[:]
    yield
    root.handlers[:], of_grpc.filters[:] = handlers, filters
    root.setLevel(level)
    structlog.reset_defaults()


def logged(
    sentence: str, capsys: pytest.CaptureFixture[str], log_level: Literal["info", "error"] = "info"
) -> list[dict[str, Any]]:
    """What comes of an exception that gRPC logs with a sentence."""
    configure_logging(Settings(log_format="json", log_level=log_level))
    tell_lost_callers_quietly()
    log, method = logging.getLogger("grpc._cython.cygrpc"), "/lockstitch.v1.SessionService/Append"
    log.error(sentence, method, exc_info=ConnectionResetError())
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_an_answer_that_found_nobody_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = logged(CALLER_GONE, capsys)
    assert told["level"] == "info"
    assert "error_kinds" not in told


def test_any_other_failure_of_grpc_stays_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = logged("Unexpected error raised by servicer method [%s]", capsys)
    assert (told["level"], told["error_kinds"]) == ("error", ["ConnectionResetError"])


def test_whoever_logs_errors_alone_hears_nothing_of_lost_callers(capsys: pytest.CaptureFixture[str]) -> None:
    assert logged(CALLER_GONE, capsys, log_level="error") == []
