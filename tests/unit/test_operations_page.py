import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lockstitch_server import config
from lockstitch_server.config import Settings

PAGE = Path(__file__).parents[2] / "docs/operations.md"


def documented() -> Iterator[str]:
    """Each setting with its docstring, as one line of the page's list."""
    modules = map(ast.parse, (path.read_text() for path in sorted(Path(config.__file__).parent.glob("*.py"))))
    for topic in (node for module in modules for node in module.body if isinstance(node, ast.ClassDef)):
        for field, said in zip(topic.body, topic.body[1:], strict=False):
            match field, said:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ) if topic.name.endswith("Settings"):
                    yield f"- `LOCKSTITCH_{name.upper()}`: {' '.join(text.split())}"


def test_every_setting_has_a_docstring() -> None:
    assert len(list(documented())) == len(Settings.model_fields)


def test_the_operations_page_has_every_setting_as_it_is_documented_in_the_code() -> None:
    page = " ".join(PAGE.read_text().split())
    missing = [line for line in documented() if line not in page]
    assert missing == [], "put these into docs/operations.md:\n" + "\n".join(missing)


def test_the_operations_page_lists_no_setting_that_is_gone() -> None:
    listed = re.findall(r"^- `(LOCKSTITCH_\w+)`:", PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(f"LOCKSTITCH_{name.upper()}" for name in Settings.model_fields)
