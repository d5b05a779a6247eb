"""JSON values that a file gave, looked at before they are believed."""
# ruff: noqa: TRY004 - a value of the wrong kind in a file is a bad value, not a bug

import json
from collections.abc import Mapping

from lockstitch.cli.output import compact

Object = Mapping[str, object]


def as_object(value: object, what: str) -> dict[str, object]:
    """A JSON object; ValueError names what is none."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no JSON object")
    return value


def as_list(value: object, what: str) -> list[object]:
    """A JSON array; ValueError names what is none."""
    if not isinstance(value, list):
        raise ValueError(f"{what} is no JSON array")
    return value


def as_text(value: object, what: str) -> str:
    """A JSON string; ValueError names what is none."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is no text")
    return value


def is_json(text: str) -> bool:
    """Whether the store takes a text as JSON: well-formed, no NaN, no lone surrogate, nested as deep as it may be."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        compact(value).encode()
    except (ValueError, RecursionError):
        return False
    return _depth(value) <= _DEPTH_MAX


_DEPTH_MAX = 512


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return depth


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
