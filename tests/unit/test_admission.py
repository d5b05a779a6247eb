from contextlib import ExitStack
from datetime import timedelta

import pytest

from lockstitch_server.api.admission import Admission
from lockstitch_server.api.backlog import Backlog
from lockstitch_server.errors import Overloaded


class Clock:
    """Seconds that pass when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def admission(
    clock: Clock | None = None,
    *,
    backlog: Backlog | None = None,
    calls_max: int = 1000,
    calls_under_load: int = 1000,
    bytes_max: int = 100,
) -> Admission:
    return Admission(
        backlog or Backlog(line=8),
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
    with door.admitted(1), door.admitted(1), door.admitted(1), door.admitted(1):
        clock.now = 1.0
        with door.admitted(1):
            pass


def test_a_queue_that_stands_lets_in_no_more_than_keep_the_process_busy() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=2)
    with door.admitted(1), door.admitted(1):
        with door.admitted(1), door.admitted(1):
            clock.now = 1.1
            with pytest.raises(Overloaded), door.admitted(1):
                pass
        # Two have gone, and two are left.
        with pytest.raises(Overloaded), door.admitted(1):
            pass


def test_as_many_as_keep_the_process_busy_are_no_queue_however_long_they_stay() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=2)
    with door.admitted(1), door.admitted(1):
        for second in range(10):
            clock.now = float(second)
            with door.admitted(1):
                pass


def test_a_queue_that_was_worked_off_in_between_does_not_stand() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=2)
    with door.admitted(1):
        with door.admitted(1), door.admitted(1), door.admitted(1):
            clock.now = 0.9
        # What comes now is another burst.
        with door.admitted(1), door.admitted(1), door.admitted(1):
            clock.now = 1.1
            with door.admitted(1):
                pass


def test_load_is_over_when_those_who_are_here_and_those_who_come_again_would_be_no_queue() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=2)
    with door.admitted(1), door.admitted(1):
        with door.admitted(1), door.admitted(1):
            clock.now = 1.1
            for _ in range(2):
                with pytest.raises(Overloaded), door.admitted(1):
                    pass
        # Two are here, and two come again within a second.
        with pytest.raises(Overloaded), door.admitted(1):
            pass
        clock.now = 2.2
        with door.admitted(1):
            pass


def test_under_load_a_call_is_let_in_for_each_that_is_answered() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=3)
    with door.admitted(1), door.admitted(1):
        with door.admitted(1), door.admitted(1), door.admitted(1), door.admitted(1):
            clock.now = 1.1
            for _ in range(3):
                with pytest.raises(Overloaded), door.admitted(1):
                    pass
        for _ in range(2):
            with door.admitted(1), pytest.raises(Overloaded), door.admitted(1):
                pass


def test_a_line_stands_as_calls_do_that_are_being_answered() -> None:
    clock, backlog = Clock(), Backlog(line=8)
    door = admission(clock, backlog=backlog, calls_under_load=8)
    backlog.calls, backlog.stands_since = 16, 0.0
    with door.admitted(1):
        with door.admitted(1), door.admitted(1):
            clock.now = 1.1
            for _ in range(8):
                with pytest.raises(Overloaded), door.admitted(1):
                    pass
        assert backlog.calls == 8
        with pytest.raises(Overloaded), door.admitted(1):
            pass


def test_a_backlog_that_is_not_known_to_stand_is_a_burst_however_long_it_is() -> None:
    clock, backlog = Clock(), Backlog(line=8)
    door = admission(clock, backlog=backlog, calls_under_load=4)
    backlog.calls = 1000
    for second in range(10):
        clock.now = float(second)
        with door.admitted(1), door.admitted(1):
            pass


def test_a_queue_that_shrinks_is_a_burst_however_long_it_takes_to_be_worked_off() -> None:
    clock = Clock()
    door = admission(clock, calls_under_load=4)
    calls = [ExitStack() for _ in range(80)]
    for call in calls:
        call.enter_context(door.admitted(1))
    for left in (60, 45, 33):
        clock.now += 0.9
        while len(calls) > left:
            calls.pop().close()
        with door.admitted(1):
            pass
    clock.now += 1.1
    with pytest.raises(Overloaded), door.admitted(1):
        pass
    for call in calls:
        call.close()


def test_one_alone_is_let_in_however_long_the_backlog_is() -> None:
    clock, backlog = Clock(), Backlog(line=8)
    door = admission(clock, backlog=backlog, calls_under_load=32)
    backlog.calls, backlog.stands_since = 500, 0.0
    with door.admitted(1):
        clock.now = 1.1
        with pytest.raises(Overloaded), door.admitted(1):
            pass
    with door.admitted(1):
        pass


def test_who_was_turned_away_waits_no_more() -> None:
    clock, backlog = Clock(), Backlog(line=8)
    door = admission(clock, backlog=backlog, calls_under_load=32)
    backlog.calls, backlog.stands_since = 60, 0.0
    with door.admitted(1):
        clock.now = 1.1
        for _ in range(10):
            with pytest.raises(Overloaded), door.admitted(1):
                pass
        assert backlog.calls == 50


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


def wait_of(door: Admission) -> float:
    """The seconds that the next caller is told to wait; a place must be taken."""
    with pytest.raises(Overloaded) as refused, door.admitted(1):
        pass
    assert refused.value.retry_after is not None
    return refused.value.retry_after.total_seconds()


def test_the_more_come_in_vain_the_later_they_are_told_to_come_again() -> None:
    clock = Clock()
    door = admission(clock, calls_max=1)
    with door.admitted(1):
        for _ in range(100):
            assert 0.125 <= wait_of(door) <= 0.5
            assert clock.now == 0
        waits = []
        for second in range(1, 10):
            clock.now = float(second)
            waits = [wait_of(door) for _ in range(100)]
        assert all(1 <= wait <= 4 for wait in waits)


def test_a_crowd_is_told_at_once_to_come_again_late() -> None:
    clock, backlog = Clock(), Backlog(line=8)
    door = admission(clock, backlog=backlog, calls_under_load=8)
    backlog.calls, backlog.stands_since = 164, 0.0
    with door.admitted(1):
        clock.now = 1.1
        assert all(1 <= wait_of(door) <= 4 for _ in range(100))


def test_when_few_come_in_vain_they_are_told_to_come_again_soon() -> None:
    clock = Clock()
    door = admission(clock, calls_max=1)
    for second in range(40):
        clock.now = float(second)
        crowd = second < 10
        for _ in range(1 if crowd else 100):
            with door.admitted(1):
                pass
        with door.admitted(1):
            for _ in range(100 if crowd else 1):
                wait_of(door)
    with door.admitted(1):
        assert wait_of(door) <= 0.5
