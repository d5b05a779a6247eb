"""A command that fails for a reason that is ours says where, and nothing of what it held in its hands."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from lockstitch_server import command_line
from lockstitch_server.config import Settings
from lockstitch_server.telemetry import configure_logging

SECRET = "select 'what a caller sent'"


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def _fails() -> None:
    raise ValueError(SECRET)


def test_it_is_a_line_of_the_log_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "cli", _fails)
    configure_logging(Settings(log_format="json"))
    with pytest.raises(SystemExit) as ended:
        command_line.run()
    assert ended.value.code == 1
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert json.loads(line)["error_kinds"] == ["ValueError"]
    assert "_fails" in json.loads(line)["error_at"][-1]
    assert SECRET not in said.err + said.out
