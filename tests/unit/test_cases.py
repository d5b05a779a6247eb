"""The cases from public bug reports are tests: each is found by its number."""

import ast
import re
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "contract" / "cases"
CASES = {
    "A01": "two writers interleave one session",
    "A02": "a clock's step makes a session look stale",
    "A03": "the retry of a request that had landed",
    "A04": "equal timestamps",
    "A05": "events lost across a restart",
    "A06": "a cursor skips a commit that comes late",
    "A07": "a reader that stops reading eats memory",
    "A08": "a session is busy for ever after a crash",
    "A09": "a crash between a call and its result",
    "A10": "a repair removes a call that waits for approval",
    "A11": "a window cuts through calls and their results",
    "A12": "a provider uses a call id again",
    "A13": "NUL in text",
    "A14": "a lone surrogate poisons later reads",
    "A15": "large integers lose digits",
    "A16": "the database reorders keys",
    "A17": "a page is larger than a default client takes",
    "A18": "another owner's session is named",
    "A19": "a list is slow where there are many sessions",
    "A20": "pages with doubles and holes while writes go on",
    "A21": "what is deleted is left elsewhere",
    "A22": "housekeeping keeps sessions alive",
    "A23": "concurrent edits of different keys of memory",
    "A24": "several processes make the schema at once",
    "A25": "cancelled calls leak transactions",
}


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\bA\d\d\b", text))


def _tests_by_case() -> dict[str, list[str]]:
    """The tests of each case: of the files whose docstring begins with its number, those that are not skipped."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in FOLDER.glob("test_*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        docstring = ast.get_docstring(module) or ""
        assert re.match(r"Cases? A\d\d\b", docstring), f"{path.name} does not say which case it is"
        tests = [
            node.name
            for node in module.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
            if not any("skip" in ast.unparse(mark) for mark in node.decorator_list)
        ]
        for number in _numbers(docstring.split(":")[0]):
            found[number] += tests
    return found


def test_every_case_has_tests_on_real_servers() -> None:
    found = _tests_by_case()
    assert found.keys() == CASES.keys()
    assert not [number for number, tests in found.items() if not tests]


def test_a_file_is_named_after_the_cases_that_its_docstring_begins_with() -> None:
    for path in FOLDER.glob("test_*.py"):
        begins = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split(":")[0]
        assert {f"A{number}" for number in re.findall(r"_a(\d\d)(?=_)", path.name)} == _numbers(begins), path.name
