from datetime import timedelta

import pytest

from lockstitch_server.api.admission import Admission
from lockstitch_server.errors import Overloaded


class Clock:
    """Seconds that pass when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def admission(
    clock: Clock | None = None, *, calls_max: int = 1000, calls_under_load: int = 1000, bytes_max: int = 100
) -> Admission:
    return Admission(
        calls_max=calls_max,
        calls_under_load=calls_under_load,
        queue_max=timedelta(seconds=1),
        bytes_max=bytes_max,
        clock=clock or Clock(),
    )


def test_no_more_calls_are_let_in_than_may_be_answered_at_a_time() -> None:
    door = admission(calls_max=2)
    with door.admitted(1):
        with door.admitted(1), pytest.raises(Overloaded) as refused, door.admitted(1):
            pass
        assert refused.value.retry_after is not None
        # One has gone.
        with door.admitted(1):
            pass


def test_a_burst_is_let_in() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=2)
    with door.admitted(1), door.admitted(1), door.admitted(1):
        clock.now = 1.0
        with door.admitted(1):
            pass


def test_a_queue_that_stands_lets_in_no_more_than_keep_the_process_busy() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=2)
    with door.admitted(1):
        with door.admitted(1), door.admitted(1):
            clock.now = 1.1
            with pytest.raises(Overloaded), door.admitted(1):
                pass
        # It is half empty: what comes now may be a burst again.
        with door.admitted(1), door.admitted(1):
            clock.now = 2.1
            with door.admitted(1):
                pass
            clock.now = 2.3
            with pytest.raises(Overloaded), door.admitted(1):
                pass


def test_under_load_a_call_is_let_in_for_each_that_is_answered() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=3)
    with door.admitted(1), door.admitted(1):
        with door.admitted(1), door.admitted(1):
            clock.now = 1.1
        for _ in range(2):
            with door.admitted(1), pytest.raises(Overloaded), door.admitted(1):
                pass


def test_no_more_bytes_are_held_than_may_be_but_one_call_alone_is_let_in() -> None:
    door = admission()
    with door.admitted(101), pytest.raises(Overloaded), door.admitted(1):
        pass
    with door.admitted(60), door.admitted(40), pytest.raises(Overloaded), door.admitted(1):
        pass
    with door.admitted(100):
        pass


def test_a_call_that_fails_is_answered_too() -> None:
    door = admission(calls_max=1)
    with pytest.raises(ZeroDivisionError), door.admitted(100):
        raise ZeroDivisionError
    with door.admitted(100):
        pass
