"""Ids that are functions of what they name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstitch_server import ids

PROFILE = settings(max_examples=300, derandomize=True, deadline=None, database=None)
KEY = ids.session_key("tenant", "session")
OTHER = ids.session_key("tenant", "another")
printable = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=30)


def test_they_are_the_same_in_every_release() -> None:
    """Stored rows, and ids that callers keep, stand on them."""
    assert KEY.hex == "ae1de39d715532cfdef6dbb4efd759b1"
    assert ids.server_session_id("tenant", "user", "request") == "sess_312dc2df897bd350d27ce0d62a88cbc1"
    assert ids.message_id(KEY, 7) == "msg_ae1de39d715532cf_7"
    assert ids.tool_call_id(KEY, 3, 0) == "call_ae1de39d715532cf_3_0"
    assert ids.request_id_hash("request").hex == "1f58b9145b24d108d7ac38887338b3ea"


@PROFILE
@given(printable, printable, printable, printable)
def test_sessions_of_two_tenants_never_share_a_key(tenant: str, session: str, tenant_2: str, session_2: str) -> None:
    same = (tenant, session) == (tenant_2, session_2)
    assert (ids.session_key(tenant, session) == ids.session_key(tenant_2, session_2)) == same


@PROFILE
@given(st.tuples(printable, printable, printable), st.tuples(printable, printable, printable))
def test_a_servers_session_id_is_its_tenants_users_and_requests(
    first: tuple[str, str, str], second: tuple[str, str, str]
) -> None:
    assert (ids.server_session_id(*first) == ids.server_session_id(*second)) == (first == second)
    assert ids.is_server_session_id(ids.server_session_id(*first))
    assert len(ids.server_session_id(*first)) <= 128


@PROFILE
@given(st.integers(1, 2**53), st.integers(0, 10**8))
def test_a_servers_id_gives_back_what_it_was_made_of(number: int, position: int) -> None:
    assert ids.parse_tool_call_id(KEY, ids.tool_call_id(KEY, number, position)) == (number, position)
    assert ids.parse_message_id(KEY, ids.message_id(KEY, number)) == number
    assert ids.is_server_message_id(ids.message_id(KEY, number))


def test_an_id_of_another_session_is_none_of_this_one() -> None:
    assert ids.parse_tool_call_id(KEY, ids.tool_call_id(OTHER, 1, 0)) is None
    assert ids.parse_message_id(KEY, ids.message_id(OTHER, 1)) is None


@pytest.mark.parametrize(
    "tail",
    ["01_0", "0_0", "-1_0", "1_00", "1_-1", "1_", "_0", "1", "1_0_0", "1_0\n", " 1_0", "\u0661_0", "9" * 19 + "_0"],
)
def test_an_id_has_one_spelling(tail: str) -> None:
    assert ids.parse_tool_call_id(KEY, f"call_{KEY.hex[:16]}_{tail}") is None
    assert ids.parse_tool_call_id(KEY, f"CALL_{KEY.hex[:16]}_1_0") is None
    assert ids.parse_tool_call_id(KEY, f"call_{KEY.hex[:16].upper()}_1_0") is None or KEY.hex[:16].isdigit()


@PROFILE
@given(st.text(max_size=40))
def test_what_is_no_id_is_found_to_be_none(text: str) -> None:
    assert ids.parse_tool_call_id(KEY, text) is None
    assert ids.parse_message_id(KEY, text) is None
