import inspect
import re
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from lockstitch_server.config import Settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTITCH_POSTGRES_BIN", raising=False)


def test_every_setting_says_what_it_does_and_its_default() -> None:
    source = "".join(map(inspect.getsource, (part for part in Settings.__mro__ if issubclass(part, BaseModel))))
    for name in Settings.model_fields:
        said = re.search(rf'\n    {name}: .*?\n    """(.*?)"""', source, re.DOTALL)
        assert said, f"{name} has no docstring"
        assert "Defaults to" in said[1], f"{name} does not say its default"


def test_settings_come_from_the_environment_and_are_beaten_by_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTITCH_WORKERS", "3")
    monkeypatch.setenv("LOCKSTITCH_LISTEN", "127.0.0.1:1")
    settings = Settings.model_validate({"listen": "127.0.0.1:2"})
    assert (settings.workers, settings.listen) == (3, "127.0.0.1:2")


@pytest.mark.parametrize(("text", "seconds"), [("0.25", 0.25), ("10", 10), ("PT3S", 3), ("1e-3", 0.001)])
def test_durations_are_seconds_or_iso(monkeypatch: pytest.MonkeyPatch, text: str, seconds: float) -> None:
    monkeypatch.setenv("LOCKSTITCH_POOL_WAIT", text)
    assert Settings().pool_wait == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("LOCKSTITCH_POOL_WAIT", "soon"),
        ("LOCKSTITCH_POOL_WAIT", "-1"),
        ("LOCKSTITCH_POOL_WAIT", "nan"),
        ("LOCKSTITCH_POOL_WAIT", "inf"),
        ("LOCKSTITCH_WORKERS", "0"),
        ("LOCKSTITCH_WORKERS", "many"),
        ("LOCKSTITCH_LOG_FORMAT", "xml"),
        ("LOCKSTITCH_CONTENT_BYTES_MAX", "99999999"),
    ],
)
def test_a_wrong_setting_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ValidationError):
        Settings()


def test_a_workers_orders_are_its_parents_settings() -> None:
    settings = Settings(data_dir=Path("x"), database_url="postgresql://a:b@c/d", unary_deadline=timedelta(seconds=1.5))
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


def test_passwords_do_not_show() -> None:
    shown = repr(Settings(database_url="postgresql://a:secret@c/d", migration_url="postgresql://a:secret@c/d"))
    assert "secret" not in shown
