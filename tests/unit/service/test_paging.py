"""Page tokens: one spelling each, and good for one list of one caller only."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstitch_server.errors import InvalidField, PageTokenInvalid
from lockstitch_server.service.paging import PageRequest, Paging

PROFILE = settings(max_examples=300, derandomize=True, deadline=None, database=None)
PAGING = Paging(b"s" * 32, default_size=50, max_size=1000, answer_bytes_max=1000)
numbers = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(codec="utf-8"), max_size=20)


def request(token: str = "", *, page_size: int = 0, bound_to: bytes = b"a list" * 6) -> PageRequest:
    return PageRequest(page_size=page_size, page_token=token, bound_to=bound_to)


@pytest.mark.parametrize(("asked", "given"), [(0, 50), (1, 1), (1000, 1000), (1001, 1000), (2**31 - 1, 1000)])
def test_a_page_has_the_size_that_the_contract_says(asked: int, given: int) -> None:
    assert PAGING.size(request(page_size=asked)) == given


def test_a_negative_page_size_is_refused() -> None:
    with pytest.raises(InvalidField) as caught:
        PAGING.size(request(page_size=-1))
    assert caught.value.field == "page_size"


def test_the_first_page_has_no_cursor() -> None:
    assert PAGING.cursor(request(), (int,)) is None


@PROFILE
@given(numbers, numbers, texts)
def test_a_token_gives_its_cursor_back(minute: int, microseconds: int, session_id: str) -> None:
    token = PAGING.token(request(), minute, microseconds, session_id)
    assert PAGING.cursor(request(token), (int, int, str)) == (minute, microseconds, session_id)


def test_any_server_of_the_store_takes_any_servers_token() -> None:
    other = Paging(b"s" * 32, default_size=5, max_size=10, answer_bytes_max=10)
    assert other.cursor(request(PAGING.token(request(), 7)), (int,)) == (7,)


@PROFILE
@given(numbers, st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_a_token_is_good_for_one_list_only(seq: int, bound_to: bytes, other: bytes) -> None:
    token = PAGING.token(request(bound_to=bound_to), seq)
    if bound_to == other:
        assert PAGING.cursor(request(token, bound_to=other), (int,)) == (seq,)
    else:
        with pytest.raises(PageTokenInvalid):
            PAGING.cursor(request(token, bound_to=other), (int,))


def test_a_token_of_another_store_is_refused() -> None:
    stranger = Paging(b"t" * 32, default_size=50, max_size=1000, answer_bytes_max=1000)
    with pytest.raises(PageTokenInvalid):
        PAGING.cursor(request(stranger.token(request(), 7)), (int,))


@PROFILE
@given(st.text(max_size=60))
def test_what_is_no_token_is_refused_and_breaks_nothing(token: str) -> None:
    if token:
        with pytest.raises(PageTokenInvalid):
            PAGING.cursor(request(token), (int,))


@PROFILE
@given(st.integers(0, 200), st.characters(codec="ascii"))
def test_a_token_has_one_spelling(at: int, other: str) -> None:
    token = PAGING.token(request(), 12_345, "text")
    changed = token[: at % len(token)] + other + token[at % len(token) + 1 :]
    if changed != token:
        with pytest.raises(PageTokenInvalid):
            PAGING.cursor(request(changed), (int, str))
    for longer in (token + "=", token + other, token + "\n", " " + token):
        with pytest.raises(PageTokenInvalid):
            PAGING.cursor(request(longer), (int, str))


def test_a_cursor_of_another_kind_is_refused() -> None:
    token = PAGING.token(request(), 7)
    with pytest.raises(PageTokenInvalid):
        PAGING.cursor(request(token), (str,))
    with pytest.raises(PageTokenInvalid):
        PAGING.cursor(request(token), (int, int))
