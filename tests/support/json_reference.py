"""What JSON texts are to become: cut, merged (RFC 7396) and digested, with what is not touched kept byte for byte."""

import json
from hashlib import sha256

_READER = json.JSONDecoder()


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _behind_blanks(text: str, at: int) -> int:
    return next(place for place in range(at, len(text)) if text[place] not in " \t\r\n")


def members(text: str) -> list[tuple[str, str, str]] | None:
    """Cut an object into (key, value's text, member's text with its blanks); None for what is no object."""
    at = _behind_blanks(text, 0)
    found: list[tuple[str, str, str]] = []
    while text[at] in "{,":
        start, at = at + 1, _behind_blanks(text, at + 1)
        if text[at] == "}":
            break
        key, at = _READER.raw_decode(text, at)
        value_at = _behind_blanks(text, _behind_blanks(text, at) + 1)
        _, end = _READER.raw_decode(text, value_at)
        at = _behind_blanks(text, end)
        found.append((key, text[value_at:end], text[start:at]))
    return found if found or text[at] == "}" else None


def merge(target: str | None, patch: str) -> str:
    """A member that changes stays in its place, a new one goes to the end; a key named twice counts as its last.

    A new value that holds no null to be merged away is taken as it is.
    """
    changes, old = members(patch), members(target) if target is not None else None
    if changes is None or (old is None and not _deletes(patch)):
        return patch
    texts = [(key, whole) for key, _, whole in old or ()]
    before = {key: value for key, value, _ in old or ()}
    for key, value in {key: value for key, value, _ in changes}.items():
        places = [place for place, (name, _) in enumerate(texts) if name == key]
        new = None if value == "null" else merge(before.get(key), value)
        if (new is None and not places) or (new == before.get(key) and len(places) == 1):
            continue
        member = [] if new is None else [(key, f"{dumps(key)}:{new}")]
        last = places[-1] if places else len(texts)
        texts = [entry for entry in texts[:last] if entry[0] != key] + member + texts[last + 1 :]
    if target is not None and old is not None and texts == [(key, whole) for key, _, whole in old]:
        return target
    return "{" + ",".join(whole for _, whole in texts) + "}"


def _deletes(patch: str) -> bool:
    return patch == "null" or any(_deletes(value) for _, value, _ in members(patch) or ())


class _Number(str):
    """A number, by its text."""

    __slots__ = ()


def _canonical(value: object) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{dumps(key)}:{_canonical(member)}" for key, member in sorted(value, key=_key)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return str(value) if isinstance(value, _Number) else dumps(value)


def _key(member: tuple[str, object]) -> str:
    return member[0]


def digest(text: str) -> str:
    """Of arguments: keys sorted, blanks gone, the text of numbers kept."""
    value = json.loads(text, object_pairs_hook=tuple, parse_int=_Number, parse_float=_Number)
    return f"sha256:{sha256(_canonical(value).encode()).hexdigest()[:32]}"
