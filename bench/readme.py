"""Fills the README's table from RESULTS.json: what people use today and lockstitch, as measured together."""

import json
from pathlib import Path
from typing import Any

from peer_ratios import TITLE
from results import ROOT, Table

BEGIN, END = "<!-- filled by bench/readme.py -->", "<!-- to here -->"
README = ROOT / "README.md"


def filled(page: str, results: dict[str, Any]) -> str:
    """The page with the table of these results."""
    table = next(one for one in results["tables"] if one["title"] == TITLE)
    lines = Table(TITLE, tuple(table["header"]), tuple(map(tuple, table["rows"]))).lines()
    source = (
        f"Measured by `make bench` at {results['commit']}, all on one Postgres, on {results['machine']}.\n"
        "[RESULTS.md](bench/RESULTS.md) has the rest of it, [NOTES.md](bench/NOTES.md) how to read it."
    )
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", *lines, "", source, f"{END}{after}"])


if __name__ == "__main__":
    results = json.loads(Path(__file__).with_name("RESULTS.json").read_text())
    README.write_text(filled(README.read_text(), results))
