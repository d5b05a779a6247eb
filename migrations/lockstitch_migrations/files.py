"""The migrations as they lie in this package: `NNNN_{pre|post}_what.sql`, in the order of their numbers."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
NAME = re.compile(r"\d{4}_(pre|post)_[a-z0-9_]+\.sql")
INCLUDE = re.compile(r"^-- include: (functions/\w+\.sql)$", re.MULTILINE)
NO_TRANSACTION = re.compile(r"^-- no-transaction\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    """One file, with the functions it includes in their places."""

    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def in_transaction(self) -> bool:
        """False where the header says `-- no-transaction`: the file is then one statement that may be repeated."""
        return not NO_TRANSACTION.search(self.sql)


@cache
def migrations() -> tuple[Migration, ...]:
    """Read all migrations, oldest first."""
    files = sorted(path for path in FOLDER.glob("*.sql") if NAME.fullmatch(path.name))
    return tuple(Migration(path.stem, _expanded(path.read_text(encoding="utf-8"))) for path in files)


def expected_schema() -> str:
    """Name the newest migration, which is what this release calls its schema."""
    return migrations()[-1].name


def _expanded(sql: str) -> str:
    return INCLUDE.sub(lambda match: (FOLDER / match[1]).read_text(encoding="utf-8"), sql)
