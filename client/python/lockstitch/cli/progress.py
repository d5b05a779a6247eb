"""How far a long command is, on stderr, where a person looks at it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from lockstitch.cli.output import console


class Told(Protocol):
    """Takes how far it is."""

    def __call__(self, done: int, what: str) -> None:
        """`done` of the total, and words for it."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Told]:
    """A bar, or a spinner where the total is 0; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield _nothing
        return
    known = (BarColumn(), TaskProgressColumn()) if total else (SpinnerColumn(),)
    columns = (TextColumn("{task.description}", markup=False), *known, TimeElapsedColumn())
    words = TextColumn("{task.fields[words]}", markup=False)
    with Progress(*columns, words, console=console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=total or None, words="")

        def told(done: int, what: str) -> None:
            bars.update(task, completed=done, words=what)

        yield told


def _nothing(done: int, what: str) -> None:
    """Nobody looks."""
