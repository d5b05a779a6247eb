"""Loads the named queries of sql/*.sql."""

import re
from importlib import resources

_NAME = re.compile(r"^-- name: ([a-z0-9_]+)$", re.MULTILINE)


def load() -> dict[str, str]:
    """Every query by its name, comments stripped."""
    queries: dict[str, str] = {}
    for file in sorted(resources.files(__package__).joinpath("sql").iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".sql"):
            continue
        parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            if name in queries:
                raise ValueError(f"query {name} stands twice")
            queries[name] = "\n".join(line for line in text.splitlines() if not line.startswith("--")).strip()
    return queries
