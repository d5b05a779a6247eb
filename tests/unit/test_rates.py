from datetime import timedelta

import pytest

from lockstitch_server.api.rates import Rates
from lockstitch_server.errors import RateLimited
from lockstitch_server.model import CallerRole, Principal


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def rates(clock: Clock, tenant: float | None = None, subject: float | None = None, burst: float = 2) -> Rates:
    return Rates(tenant_rate=tenant, subject_rate=subject, burst=timedelta(seconds=burst), now=clock)


def caller(tenant: str = "t", subject: str = "s") -> Principal:
    return Principal(tenant, subject, CallerRole.USER)


def taken(of: Rates, who: Principal, tries: int = 1000) -> int:
    """How many calls one may make at once."""
    for number in range(tries):
        try:
            of.take(who)
        except RateLimited:
            return number
    return tries


def test_without_a_rate_there_is_no_bound() -> None:
    assert taken(rates(Clock()), caller()) == 1000


def test_a_burst_is_what_a_rate_allows_in_its_time() -> None:
    clock = Clock()
    of = rates(clock, tenant=10)
    assert taken(of, caller()) == 20
    clock.now += 0.55
    assert taken(of, caller()) == 5
    clock.now += 3600
    assert taken(of, caller()) == 20


def test_a_burst_shorter_than_a_call_still_lets_one_through() -> None:
    clock = Clock()
    of = rates(clock, subject=0.5, burst=1)
    assert taken(of, caller()) == 1
    clock.now += 1.9
    assert taken(of, caller()) == 0
    clock.now += 0.1
    assert taken(of, caller()) == 1


def test_who_has_too_many_is_told_when_there_is_one_again() -> None:
    clock = Clock()
    of = rates(clock, tenant=4, burst=1)
    assert taken(of, caller()) == 4
    clock.now += 0.1
    with pytest.raises(RateLimited) as caught:
        of.take(caller())
    wait = caught.value.retry_after
    assert wait is not None
    assert wait == pytest.approx(timedelta(seconds=0.15), abs=timedelta(milliseconds=1))
    assert caught.value.metadata == {"limit": "4"}
    clock.now += wait.total_seconds() + 1e-6
    of.take(caller())


def test_tenants_are_counted_apart_and_subjects_within_them() -> None:
    of = rates(Clock(), tenant=10, subject=2)
    assert taken(of, caller("t1", "a")) == 4
    assert taken(of, caller("t1", "b")) == 4
    assert taken(of, caller("t2", "a")) == 4
    assert sum(taken(of, caller("t1", f"s{number}")) for number in range(10)) == 12


def test_the_memory_of_callers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockstitch_server.api.rates._IDLE_MAX", 3)
    of = rates(Clock(), subject=1)
    for number in range(10):
        of.take(caller(subject=f"s{number}"))
    assert of._subjects
    assert len(of._subjects._filled) == 3
