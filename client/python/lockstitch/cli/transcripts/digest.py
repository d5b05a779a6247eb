"""What sessions hold, as a number that two stores can be compared by: ids, times and order do not matter."""

from hashlib import sha256
from typing import Protocol

from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.working_memory_pb2 import WorkingMemory

_BITS = 256
_OUTPUT_FIELDS = frozenset({"seq", "version", "create_time", "elided_bytes", "removed_version", "erased"})
_SERVER_MESSAGE = "msg_"


class Described(Protocol):
    """What a session says of itself, as a session has it and as a file opens one."""

    @property
    def agent(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def metadata_json(self) -> str: ...


class SessionDigest:
    """The digest of one session's content: its messages in order, its memory, labels and what it says of itself."""

    def __init__(self, session: Described, labels: dict[str, str], memory: WorkingMemory | None) -> None:
        self._hash = sha256()
        self.messages = 0
        for text in (session.agent, session.title, session.metadata_json):
            self._add(text.encode())
        for key, value in sorted(labels.items()):
            self._add(key.encode())
            self._add(value.encode())
        kept = WorkingMemory()
        kept.CopyFrom(memory or kept)
        kept.ClearField("version")
        self._add(b"memory")
        self._add(kept.SerializeToString(deterministic=True))

    def add(self, message: Message) -> None:
        """Take the next message in."""
        self.messages += 1
        self._add(as_sent(message).SerializeToString(deterministic=True))

    def _add(self, data: bytes) -> None:
        self._hash.update(len(data).to_bytes(8))
        self._hash.update(data)

    @property
    def number(self) -> int:
        """What a session adds to its store's digest."""
        return int.from_bytes(self._hash.digest())

    @property
    def text(self) -> str:
        """The digest of this session alone."""
        return self._hash.hexdigest()


class StoreDigest:
    """The digests of many sessions, in any order."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, session: SessionDigest) -> None:
        """Take a session in."""
        self._sum = (self._sum + session.number) % (1 << _BITS)

    @property
    def text(self) -> str:
        """The digest of them all."""
        return f"{self._sum:064x}"


def as_sent(message: Message) -> Message:
    """A stored message as a caller would send it: without what the server says of it."""
    if not message.message_id.startswith(_SERVER_MESSAGE) and not any(
        field.name in _OUTPUT_FIELDS for field, _ in message.ListFields()
    ):
        return message
    sent = Message()
    sent.CopyFrom(message)
    sent.ClearField("seq")
    sent.ClearField("version")
    sent.ClearField("create_time")
    sent.ClearField("elided_bytes")
    sent.ClearField("removed_version")
    sent.ClearField("erased")
    if sent.message_id.startswith(_SERVER_MESSAGE):
        sent.ClearField("message_id")
    return sent
