"""The formats that can be imported, by name."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from lockstitch.cli.transcripts import anthropic, export_format, openai_chat
from lockstitch.cli.transcripts.export_reader import ExportReader
from lockstitch.cli.transcripts.lines import Line, Lines
from lockstitch.cli.transcripts.transcript import Defaults, Transcript


class Format(StrEnum):
    """What a file's lines are."""

    LOCKSTITCH = export_format.FORMAT
    OPENAI_CHAT = openai_chat.FORMAT
    ANTHROPIC = anthropic.FORMAT


class Reader(Protocol):
    """Gives the conversations of a file, one after the other."""

    def read(self) -> Transcript | None:
        """The next conversation; None at the end.

        Raises:
            LineError: A line can't be taken. The next one may be.
        """


class LineReader:
    """A reader of formats that have a conversation a line."""

    def __init__(self, lines: Lines, defaults: Defaults, transcript: Callable[[Line, Defaults], Transcript]) -> None:
        self._lines = lines
        self._defaults = defaults
        self._transcript = transcript

    def read(self) -> Transcript | None:
        """The next line's conversation."""
        line = self._lines.read()
        return None if line is None else self._transcript(line, self._defaults)


def reader(form: Format, lines: Lines, defaults: Defaults) -> Reader:
    """The reader of a format."""
    match form:
        case Format.LOCKSTITCH:
            return ExportReader(lines, defaults)
        case Format.OPENAI_CHAT:
            return LineReader(lines, defaults, openai_chat.transcript)
        case Format.ANTHROPIC:
            return LineReader(lines, defaults, anthropic.transcript)
