"""Sessions from the store into lines, in the memory of one request."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from hashlib import sha256

from lockstitch.cli.output import compact
from lockstitch.cli.transcripts.digest import SessionDigest, StoreDigest
from lockstitch.cli.transcripts.export_format import Parts, is_silent
from lockstitch.cli.transcripts.openai_chat import Chat, chat_message, frame_of
from lockstitch.session import SessionHandle
from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import GetSessionResponse
from lockstitch.v1.working_memory_pb2 import WorkingMemory

_PAGE = 1000


class Exporter:
    """Writes sessions, and counts and digests what it writes."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._hash = sha256()
        self.digest = StoreDigest()
        self.sessions = 0
        self.messages = 0
        self.bytes = 0
        self.changed: list[str] = []
        """Sessions whose messages were taken back while they were read."""

    @property
    def sha256(self) -> str:
        """Of all bytes that were written."""
        return self._hash.hexdigest()

    async def lines(self, session: SessionHandle) -> None:
        """Write a session in the format `lockstitch`."""
        found = await session.get(recent_messages=_PAGE, include_memory=True)
        calls = [
            call
            async for call in session.tool_calls(page_size=_PAGE)
            if is_silent(call) and call.requested_version <= found.session.version
        ]
        digest = _digest(found.session, found.memory)
        parts = Parts(found.session, found.memory, calls)
        async for message in self._messages(session, found, digest):
            if line := parts.add(message):
                self._put(_encoded(line) + b"\n")
        self._put(_encoded(parts.end(digest.text)) + b"\n")
        self._done(digest)

    async def chat(self, session: SessionHandle) -> None:
        """Write a session as a chat of OpenAI's: one line, which is never in memory as a whole."""
        found = await session.get(recent_messages=_PAGE, include_memory=True)
        digest = _digest(found.session, found.memory)
        before, after = _around(frame_of(found.session))
        self._put(before)
        separator = b""
        async for message in self._messages(session, found, digest):
            self._put(separator + _encoded(chat_message(message)))
            separator = b","
        self._put(after + b"\n")
        self._done(digest)

    async def _messages(
        self, session: SessionHandle, found: GetSessionResponse, digest: SessionDigest
    ) -> AsyncIterator[Message]:
        """The messages that the session had when it was found, but for erased ones: a fork has their places."""
        erased = 0
        async for message in self._stored(session, found):
            if message.erased:
                erased += 1
                continue
            digest.add(message)
            yield message
        if digest.messages + erased != found.session.message_count:
            self.changed.append(session.session_id)

    @staticmethod
    async def _stored(session: SessionHandle, found: GetSessionResponse) -> AsyncIterator[Message]:
        if len(found.messages) == found.session.message_count and not found.truncated:
            for message in found.messages:
                yield message
        else:
            found.ClearField("messages")
            async for message in session.messages(before_seq=found.session.last_seq + 1, page_size=_PAGE):
                yield message

    def _put(self, data: bytes) -> None:
        self._hash.update(data)
        self.bytes += len(data)
        self._write(data)

    def _done(self, digest: SessionDigest) -> None:
        self.sessions += 1
        self.messages += digest.messages
        self.digest.add(digest)


def _digest(session: Session, memory: WorkingMemory) -> SessionDigest:
    return SessionDigest(session, dict(session.labels), memory)


def _around(frame: Chat | None) -> tuple[bytes, bytes]:
    """What stands before and after a chat's messages."""
    if frame is None:
        return b"[", b"]"
    place = list(frame).index("messages")
    members = [compact(key).encode() + b":" + _encoded(value) for key, value in frame.items()]
    before, after = members[:place], members[place + 1 :]
    return b"{" + b"".join(member + b"," for member in before) + b'"messages":[', b"]" + b"".join(_led(after)) + b"}"


def _led(members: list[bytes]) -> Iterator[bytes]:
    return (b"," + member for member in members)


def _encoded(value: object) -> bytes:
    try:
        return compact(value).encode()
    except UnicodeEncodeError:  # an adapter's original may hold half a character; JSON has an escape for it
        return json.dumps(value, separators=(",", ":")).encode()
