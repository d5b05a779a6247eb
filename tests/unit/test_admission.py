import pytest

from lockstitch_server.api.admission import Admission
from lockstitch_server.errors import Overloaded


def test_no_more_calls_are_let_in_than_are_answered_at_a_time() -> None:
    admission = Admission(2, 100)
    with admission.admitted(1):
        with admission.admitted(1), pytest.raises(Overloaded) as refused, admission.admitted(1):
            pass
        assert refused.value.retry_after is not None
        # One has gone.
        with admission.admitted(1):
            pass


def test_no_more_bytes_are_held_than_may_be_but_one_call_alone_is_let_in() -> None:
    admission = Admission(None, 100)
    with admission.admitted(101), pytest.raises(Overloaded), admission.admitted(1):
        pass
    with admission.admitted(60), admission.admitted(40), pytest.raises(Overloaded), admission.admitted(1):
        pass
    with admission.admitted(100):
        pass


def test_a_call_that_fails_is_answered_too() -> None:
    admission = Admission(1, 100)
    with pytest.raises(ZeroDivisionError), admission.admitted(100):
        raise ZeroDivisionError
    with admission.admitted(100):
        pass
