import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from lockstitch_server import command_line
from lockstitch_server.config import Settings
from lockstitch_server.telemetry import configure_logging


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_ours_and_libraries_events_are_a_json_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(Settings(log_format="json"))
    with structlog.contextvars.bound_contextvars(method="Append"):
        structlog.get_logger().info("served", milliseconds=3)
        logging.getLogger("library").warning("odd %s", "thing")
        structlog.get_logger().debug("too small to mention")
    ours, theirs = logged(capsys)
    assert (ours["event"], ours["milliseconds"], ours["method"], ours["level"]) == ("served", 3, "Append", "info")
    assert (theirs["event"], theirs["method"], theirs["level"]) == ("odd thing", "Append", "warning")


def test_an_exception_is_logged_without_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(Settings(log_format="json"))
    try:
        int("what a caller sent")
    except ValueError:
        structlog.get_logger().exception("failed")
        logging.getLogger("library").exception("failed too")
    text = capsys.readouterr().err
    assert "what a caller sent" not in text
    for event in map(json.loads, text.splitlines()):
        assert event["error_kinds"] == ["ValueError"]
        assert "test_an_exception_is_logged_without_its_words" in event["error_at"][-1]


def test_people_get_words(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(Settings(log_format="console", log_level="debug"))
    structlog.get_logger().debug("hello")
    assert "hello" in capsys.readouterr().err


def test_a_command_that_fails_for_our_reason_says_where_and_not_what_it_held(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "select 'what a caller sent'"

    def fails() -> None:
        raise ValueError(secret)

    monkeypatch.setattr(command_line, "cli", fails)
    configure_logging(Settings(log_format="json"))
    with pytest.raises(SystemExit) as ended:
        command_line.run()
    assert ended.value.code == command_line.EXIT_FAILED
    said = capsys.readouterr()
    (line,) = map(json.loads, said.err.splitlines())
    assert line["error_kinds"] == ["ValueError"]
    assert line["error_at"][-1].endswith(" fails")
    assert secret not in said.err + said.out
