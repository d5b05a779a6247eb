"""One conversation on its way into the store."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.tool_call_pb2 import ToolCallChange
from lockstitch.v1.working_memory_pb2 import WorkingMemory


class LineError(Exception):
    """A line of a file can't be taken. Others may be."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(f"line {number}: {sentence}")
        self.number = number


class WrongFormat(LineError):
    """A line is of another format than was said."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the command's flags say of conversations."""

    user: str | None
    """Whose they become, whatever the file says."""
    subject: str
    """Whose they become where nothing else says it: the token's."""
    agent: str
    id_prefix: str

    def owner(self, named: str) -> str:
        """Whose a conversation becomes that names this user."""
        return self.user if self.user is not None else named or self.subject


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is created as. The request_id is made of the file's content, so that a repeat finds it again."""

    request_id: str
    session_id: str = ""
    user_id: str = ""
    agent: str = ""
    title: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    metadata_json: str = ""
    memory: WorkingMemory | None = None
    expire_time: datetime | None = None
    idle_ttl: timedelta | None = None


@dataclass(slots=True)
class Batch:
    """What one request stores."""

    messages: list[Message] = field(default_factory=list)
    tool_calls: list[ToolCallChange] = field(default_factory=list)
    """Changes of the ledger that no message says."""
    has_orphans: bool = False
    """Whether a TOOL message among them answers a call that nobody made."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation, read from line `number` on."""

    number: int
    opening: Opening
    batches: Iterator[Batch]
    """May read on in the file, unless it is whole; may raise LineError."""
    is_whole: bool = True
    closed: bool = False
    """Whether it takes no more changes, and why: such a session is closed again."""
    close_reason: str = ""


def request_id(*identity: str) -> str:
    """The request_id of a creation, made of what makes a conversation this one and no other."""
    return "import:" + sha256("\0".join(identity).encode("utf-8", "surrogatepass")).hexdigest()[:32]
