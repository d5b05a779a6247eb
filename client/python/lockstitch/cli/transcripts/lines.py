"""Lines of a file of JSON lines, plain or gzipped, or of stdin: one at a time, with their numbers."""

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from lockstitch.cli.failures import EXIT_USAGE, Refused
from lockstitch.cli.transcripts.transcript import LineError, WrongFormat

STDIN = Path("-")
LINE_BYTES_MAX = 256 * 1024 * 1024
"""A longer line is no conversation, and would have to fit into memory."""

_GZIP = b"\x1f\x8b"
_ELSEWHERE = {b"PAR1": "Parquet", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstandard", b"SQLi": "SQLite"}
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """A line, and the JSON value that it holds."""

    number: int
    text: bytes
    value: object


class Lines:
    """Reads a file line by line."""

    def __init__(self, raw: BufferedReader, name: str) -> None:
        self.name = name
        self._raw = raw
        head = raw.peek(4)[:4]
        if head in _ELSEWHERE:
            raise Refused(f"{name} is a {_ELSEWHERE[head]} file, not JSON lines")
        self._stream: BinaryIO = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if head.startswith(_GZIP) else raw
        self._number = 0

    @property
    def is_pipe(self) -> bool:
        """Whether somebody else writes what is read, and may take their time."""
        return not self._raw.seekable()

    @property
    def bytes_read(self) -> int:
        """How far the file was read, compressed as it is."""
        return 0 if self.is_pipe else self._raw.tell()

    def read(self) -> Line | None:
        """The next line that holds anything; None at the end.

        Raises:
            LineError: It holds no JSON. The next line can be read.
            Refused: Nothing can be read any more.
        """
        while True:
            try:
                text = self._stream.readline(LINE_BYTES_MAX + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise Refused(f"{self.name} is a damaged gzip file, after line {self._number}: {error}") from error
            except OSError as error:
                raise Refused(f"{self.name} can't be read: {error.strerror}") from error
            if not text:
                return None
            self._number += 1
            if len(text) > LINE_BYTES_MAX:
                raise Refused(f"{self.name}, line {self._number} is longer than {LINE_BYTES_MAX // 1024**2} MiB")
            if self._number == 1:
                text = text.removeprefix(_BOM)
            if text.strip():
                return Line(self._number, text, self._value(text))

    def _value(self, text: bytes) -> object:
        try:
            return json.loads(text.decode(), parse_constant=_refuse_constant)
        except UnicodeDecodeError as error:
            raise self._no_json(f"it is not UTF-8 (byte {error.start + 1})") from error
        except RecursionError as error:
            raise self._no_json("it is nested too deeply") from error
        except json.JSONDecodeError as error:
            where = f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
            if self._number == 1 and text.strip() in {b"[", b"{"}:
                where = "it is a JSON document over many lines, such as `jq -c '.[]'` makes lines of"
            raise self._no_json(where) from error
        except ValueError as error:
            raise self._no_json(str(error)) from error

    def _no_json(self, why: str) -> LineError:
        kind = WrongFormat if self._number == 1 else LineError
        return kind(self._number, f"this is no JSON line: {why}")


@contextmanager
def opened(path: Path) -> Iterator[tuple[Lines, int]]:
    """The lines of a file, or of stdin, and the file's size; 0 where nobody knows it."""
    if path == STDIN:
        yield Lines(cast("BufferedReader", sys.stdin.buffer), "stdin"), 0
        return
    try:
        file = path.open("rb")
        size = path.stat().st_size
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}", exit_code=EXIT_USAGE) from error
    with file:
        try:
            yield Lines(file, str(path)), size
        except IsADirectoryError as error:
            raise Refused(f"{path} is a folder", exit_code=EXIT_USAGE) from error


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
