"""JSON texts: what is taken, what is kept byte for byte, and that large and deep ones cost in proportion."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lockstitch_server.service import json_text
from support import json_reference

settings.register_profile("json", max_examples=200, derandomize=True, deadline=None, database=None)
PROFILE = settings.get_profile("json")
BLANKS = st.text(" \t\r\n", max_size=2)
NUMBERS = st.sampled_from(
    ("0", "-0", "-0.0", "1.0", "1e3", "1E+3", "10e-2", "12345678901234567890", "1e999", "-1e999", "0.1e400", "9" * 400)
)
CHARACTERS = st.sampled_from(
    (
        "a",
        '\\"',
        "\\\\",
        "\\/",
        "\\b",
        "\\u0000",
        "\\u00fc",
        "\\ud83d\\ude00",
        "ü",
        "\U0001f600",
        " ",
        "{",
        "]",
        ":",
        ",",
        "1",
    )
)
STRINGS = st.lists(CHARACTERS, max_size=4).map(lambda characters: '"' + "".join(characters) + '"')
KEYS = st.sampled_from(('"a"', '"b"', '"\\u0061"', '""', '"ü"', '"a b"'))


def padded(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda before, text, after: before + text + after, BLANKS, inner, BLANKS)


def containers(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.builds(lambda key, value: f"{key}:{value}", padded(KEYS), padded(values))
    return st.one_of(
        st.lists(padded(values), max_size=3).map(lambda items: "[" + ",".join(items) + "]"),
        st.lists(members, max_size=4).map(lambda items: "{" + ",".join(items) + "}"),
        st.lists(members, max_size=4).map(lambda items: "{" + ",".join(items) + "}"),
    )


LEAVES = st.one_of(NUMBERS, STRINGS, st.sampled_from(("true", "false", "null", "[ ]", "{ }")))
VALUES = padded(st.recursive(LEAVES, containers, max_leaves=8))
MARKS = ("1e999", "\n", "\x00", "\ufeff", "-1", "1.5", "\u00a0", "'a'", "//", "\x7f", *'{}[]:,"-+.eE019 ')
WORDS = ("null", "tru", "NaN", "Infinity", "-Infinity")
TEXTS = ('"a"', '"\\ud800"', '"\\udc00\\ud800"', '"\\x"', '"\x01"', '"\\u12"')
TOKENS = st.sampled_from((*MARKS, *WORDS, *TEXTS))
SOUP = st.lists(TOKENS, max_size=8).map("".join)


def refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def is_json(text: str) -> bool:
    """By the standard library, which takes NaN and lone surrogates unless told not to."""
    try:
        value = json.loads(text, parse_constant=refuse, parse_int=str, parse_float=str)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return depth(value) <= 512


def depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, list | dict)]:
        deepest += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def is_taken(text: str) -> bool:
    try:
        json_text.check(text.encode())
    except json_text.JsonError:
        return False
    return True


@PROFILE
@given(VALUES)
def test_json_is_taken(text: str) -> None:
    assert is_taken(text)
    assert is_json(text)


@settings(PROFILE, max_examples=600)
@given(st.one_of(SOUP, SOUP.map(lambda soup: f"[1e999,{soup}]"), SOUP.map(lambda soup: f'{{"a":{soup}}}')))
@example("[1e999,--1]")
@example("[1e999,01]")
@example("1e9991e999")
@example("[1e999,1.51.5]")
@example('[1e999,"\\ud800"]')
def test_what_is_taken_is_json_and_nothing_else(text: str) -> None:
    assert is_taken(text) == is_json(text)


@PROFILE
@given(VALUES, st.integers(0, 40), st.sampled_from(('"', "\\", "{", "]", ",", "-", "0", "\ud7ff", "e", "")))
def test_a_slip_of_the_pen_is_judged_likewise(text: str, at: int, slip: str) -> None:
    text = text[:at] + slip + text[at + 1 :]
    assert is_taken(text) == is_json(text)


@pytest.mark.parametrize(("nested", "taken"), [(512, True), (513, False), (100_000, False)])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"[":', "}]")])
def test_nesting_is_bounded(opening: str, closing: str, nested: int, *, taken: bool) -> None:
    levels = nested // len([mark for mark in closing if mark in "]}"])
    assert is_taken(opening * levels + "1" + closing * levels) == (taken or levels * len(closing) <= 512)


@PROFILE
@given(VALUES)
def test_members_put_together_are_the_text(text: str) -> None:
    found = json_text.members(text.encode())

    expected = json_reference.members(text)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert [(m.key.decode(), m.value.decode(), m.text.decode()) for m in found] == expected
        assert text.strip(" \t\r\n")[1:-1] == ",".join(m.text.decode() for m in found) or not found
        assert [m.is_null for m in found] == [value == "null" for _, value, _ in expected]


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396, section 2, word for word, on parsed values."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = merged(target.get(name), value)
    return target


def parsed(text: str) -> Any:
    return json.loads(text, parse_int=lambda number: f"#{number}", parse_float=lambda number: f"#{number}")


@settings(PROFILE, max_examples=600)
@given(st.none() | VALUES, VALUES)
def test_a_merge_is_that_of_the_rfc(target: str | None, patch: str) -> None:
    result = json_text.merge(None if target is None else target.encode(), patch.encode()).decode()

    assert is_json(result)
    assert parsed(result) == merged(None if target is None else parsed(target), parsed(patch))
    assert result == json_reference.merge(target, patch)


@PROFILE
@given(VALUES.filter(lambda text: json_reference.members(text) is not None), padded(KEYS), VALUES)
def test_a_merge_keeps_every_byte_that_it_does_not_name(target: str, key: str, value: str) -> None:
    result = json_text.merge(target.encode(), f"{{{key}:{value}}}".encode()).decode()

    kept = [whole for name, _, whole in json_reference.members(target) or () if name != json.loads(key)]
    assert [whole for name, _, whole in json_reference.members(result) or () if name != json.loads(key)] == kept


@PROFILE
@given(VALUES)
def test_a_merge_that_changes_nothing_changes_no_byte(target: str) -> None:
    assert json_text.merge(target.encode(), b"{}").decode() == (
        target if json_reference.members(target) is not None else "{}"
    )


@PROFILE
@given(VALUES.filter(lambda text: "null" not in text))
def test_a_new_value_without_null_is_kept_byte_for_byte(patch: str) -> None:
    assert json_text.merge(None, patch.encode()).decode() == patch


class Number(str):
    """A number by its text: 1.0 is not 1."""

    __slots__ = ()


def canonical(value: Any) -> Any:
    """What equal digests stand for: keys sorted (stably), strings by what they say, numbers by their text."""
    if isinstance(value, tuple):
        members = sorted(((key, canonical(member)) for key, member in value), key=lambda member: member[0])
        return ("object", tuple(members))
    if isinstance(value, list):
        return ("array", tuple(canonical(item) for item in value))
    return (type(value).__name__, value)


def read(text: str) -> Any:
    return canonical(json.loads(text, object_pairs_hook=tuple, parse_int=Number, parse_float=Number))


@settings(PROFILE, max_examples=600)
@given(VALUES, VALUES)
@example('{"a":1,"b":[]}', ' {"b" : [ ], "\\u0061":1}')
@example("1", '"1"')
@example("1.0", "1")
@example("[]", "{}")
@example('["a","b"]', '["a\\",\\"b"]')
def test_digests_are_equal_iff_keys_sorted_and_blanks_gone_the_texts_are(first: str, second: str) -> None:
    same = json_text.canonical_digest(first.encode()) == json_text.canonical_digest(second.encode())
    assert same == (read(first) == read(second))


@PROFILE
@given(VALUES)
def test_a_digest_is_that_of_the_documented_text(text: str) -> None:
    assert f"sha256:{json_text.canonical_digest(text.encode()).hex()}" == json_reference.digest(text)


def chain(levels: int, leaf: bytes) -> bytes:
    return b'{"a": ' * levels + leaf + b"}" * levels


LARGE = b'"' + b"x" * 100_000 + b'"'
WIDE = b"{" + b",".join(b'"%d": {"n": [%d]}' % (number, number) for number in range(1_000)) + b"}"
ADVERSARIES = {
    "a large value deep down": chain(500, LARGE),
    "many members deep down": chain(500, WIDE),
    "many members": WIDE,
    "one key over and over": b"{" + b",".join([b'"a":{"b":1}'] * 5_000) + b"}",
    "blanks": b'{"a":' + b" " * 100_000 + b"1 }",
    "quotes": b'{"a":"' + b'\\"' * 50_000 + b'"}',
    "backslashes": b'{"a":"' + b"\\\\" * 50_000 + b'"}',
    "empty objects": b"[" + b",".join([b"{}"] * 20_000) + b"]",
}


@pytest.mark.parametrize("text", ADVERSARIES.values(), ids=ADVERSARIES)
@pytest.mark.parametrize(
    "work",
    [
        json_text.check,
        json_text.members,
        lambda text: json_text.merge(text, text),
        lambda text: json_text.merge(None, text),
        lambda text: json_text.merge(text, chain(400, b"null")),
        lambda text: json_text.merge(text, chain(400, b"0")),
        lambda text: json_text.merge(chain(400, b"0"), text),
    ],
    ids=["check", "members", "merge with itself", "merge into nothing", "delete", "replace", "merge into a chain"],
)
def test_memory_grows_with_the_text_and_not_with_its_depth(work: Callable[[bytes], object], text: bytes) -> None:
    tracemalloc.start()
    try:
        work(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    members = text.count(b":") + text.count(b",")
    assert peak < 20 * len(text) + 2000 * (members + 1000)
