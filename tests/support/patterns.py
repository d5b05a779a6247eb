"""The values of the clients' test vectors: what stands for something else, and what an answer matches."""

from collections.abc import Mapping
from typing import Any

DEFAULTS: tuple[object, ...] = (None, 0, "0", "", False, [], {})


def filled(value: Any, saved: Mapping[str, Any]) -> Any:
    """Put in what stands for something else."""
    if isinstance(value, list):
        return [filled(item, saved) for item in value]
    if not isinstance(value, dict):
        return value
    if "$saved" in value:
        return saved[value["$saved"]]
    if "$text" in value:
        return value["$text"] * value["times"]
    return {key: filled(item, saved) for key, item in value.items()}


def mismatch(pattern: Any, given: Any, at: str = "") -> str:
    """Say where an answer is not as a pattern (filled in) has it; empty where it matches."""
    if isinstance(pattern, dict) and any(key.startswith("$") for key in pattern):
        return "" if _is(pattern, given) else f"{at}: {_short(given)} is not {pattern}"
    if isinstance(pattern, dict) and pattern and isinstance(given, dict):
        found = (mismatch(value, given.get(key), f"{at}.{key}") for key, value in pattern.items())
        return next(filter(None, found), "")
    if isinstance(pattern, list) and pattern and isinstance(given, list):
        if len(pattern) != len(given):
            return f"{at}: {len(given)} items, not {len(pattern)}"
        found = (
            mismatch(one, other, f"{at}[{place}]")
            for place, (one, other) in enumerate(zip(pattern, given, strict=True))
        )
        return next(filter(None, found), "")
    if _is_default(pattern) and _is_default(given):
        return ""
    return (
        "" if pattern == given and type(pattern) is type(given) else f"{at}: {_short(given)} is not {_short(pattern)}"
    )


def at_path(value: Any, path: str) -> Any:
    """Give what lies at a path of keys and indexes."""
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _is(pattern: Mapping[str, Any], given: Any) -> bool:
    if "$exactly" in pattern:
        return bool(given is not None and given == pattern["$exactly"])
    if "$any" in pattern:
        return not _is_default(given)
    if "$length" in pattern:
        size = len(given.encode()) if isinstance(given, str) else len(given or [])
        return bool(size == pattern["$length"])
    number = float(given or 0)
    return bool(pattern.get("$at_least", number) <= number <= pattern.get("$at_most", number))


def _is_default(value: Any) -> bool:
    return any(value == default and type(value) is type(default) for default in DEFAULTS)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
