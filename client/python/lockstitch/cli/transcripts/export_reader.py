"""Reads what an export wrote."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message as ProtoMessage

from lockstitch.cli.transcripts.batches import batches, calls_in
from lockstitch.cli.transcripts.digest import SessionDigest, as_sent
from lockstitch.cli.transcripts.export_format import FORMAT, VERSION
from lockstitch.cli.transcripts.json_values import as_list, as_object
from lockstitch.cli.transcripts.lines import Line, Lines
from lockstitch.cli.transcripts.transcript import (
    Batch,
    Defaults,
    LineError,
    Opening,
    Transcript,
    WrongFormat,
    request_id,
)
from lockstitch.v1.message_pb2 import Message, Role
from lockstitch.v1.session_pb2 import Session, SessionStatus
from lockstitch.v1.tool_call_pb2 import ToolCallChange
from lockstitch.v1.working_memory_pb2 import WorkingMemory

_SERVERS_OWN = "sess_"
_OVER = frozenset({SessionStatus.SESSION_STATUS_CLOSED, SessionStatus.SESSION_STATUS_EXPIRED})
_P = TypeVar("_P", bound=ProtoMessage)


@dataclass(frozen=True, slots=True)
class _Part:
    """One line, taken apart."""

    number: int
    session_id: str
    place: int
    record: dict[str, object]
    messages: list[Message]
    changes: list[tuple[int, ToolCallChange]]
    end: dict[str, object] | None


class ExportReader:
    """Gives the sessions of an export, one after the other."""

    def __init__(self, lines: Lines, defaults: Defaults) -> None:
        self._lines = lines
        self._defaults = defaults
        self._unfinished = ""
        """The session whose further parts belong to nobody: the one that was given last, or was broken."""

    def read(self) -> Transcript | None:
        """The next session; None at the end. Of a session in several parts, what is left unread is passed over."""
        while (line := self._lines.read()) is not None:
            part = _part(line)
            if part.place == 1:
                self._unfinished = "" if part.end else part.session_id
                return self._transcript(part)
            if part.session_id != self._unfinished:
                self._unfinished = part.session_id
                raise LineError(
                    part.number, f"part {part.place} of session {part.session_id!r} comes without those before it"
                )
            if part.end:
                self._unfinished = ""
        return None

    def _transcript(self, part: _Part) -> Transcript:
        session = _parsed(part.record.get("session"), Session(), part.number, "the session")
        memory = None
        if "memory" in part.record:
            memory = _parsed(part.record["memory"], WorkingMemory(), part.number, "the memory")
            memory.ClearField("version")
            memory.ClearField("erased")
        opening = self._opening(part.session_id, session, memory)
        digest = SessionDigest(session, dict(session.labels), memory)
        made = self._batches(part, digest)
        return Transcript(
            part.number,
            opening,
            iter(list(made)) if part.end else made,  # a broken line alone stores nothing
            is_whole=part.end is not None,
            closed=session.status in _OVER,
            close_reason=session.close_reason
            or ("expired" if session.status == SessionStatus.SESSION_STATUS_EXPIRED else ""),
        )

    def _opening(self, session_id: str, session: Session, memory: WorkingMemory | None) -> Opening:
        defaults = self._defaults
        return Opening(
            request_id=request_id(FORMAT, defaults.id_prefix, session.tenant_id, session_id),
            session_id="" if session_id.startswith(_SERVERS_OWN) else defaults.id_prefix + session_id,
            user_id=session.user_id if defaults.user is None else defaults.user,
            agent=defaults.agent or session.agent,
            title=session.title,
            labels=dict(session.labels),
            metadata_json=session.metadata_json,
            memory=memory,
            expire_time=_instant(session) if session.HasField("expire_time") else None,
            idle_ttl=session.idle_ttl.ToTimedelta() if session.HasField("idle_ttl") else None,
        )

    def _batches(self, first: _Part, digest: SessionDigest) -> Iterator[Batch]:
        known: set[str] = set()
        part = first
        while True:
            for message in part.messages:
                digest.add(message)
            if part.end:
                _check_end(part, part.end, digest)
            yield from _of_part(part, known)
            if part.end:
                return
            part = self._next_part(part)

    def _next_part(self, part: _Part) -> _Part:
        line = self._lines.read()
        if line is None:
            raise LineError(part.number, f"the file ends within session {part.session_id!r}, after part {part.place}")
        following = _part(line)
        if (following.session_id, following.place) != (part.session_id, part.place + 1):
            what = f"part {part.place + 1} of session {part.session_id!r} is missing"
            raise LineError(following.number, f"{what}: this is part {following.place} of {following.session_id!r}")
        if following.end:
            self._unfinished = ""
        return following


def _of_part(part: _Part, known: set[str]) -> Iterator[Batch]:
    """The batches of a line: cut where the ledger changed, so that changes come when they came."""
    done = 0
    for after in sorted({after for after, _ in part.changes}):
        cut = list(batches(_with_orphans(part.messages[done:after], known)))
        if not cut:
            cut = [Batch()]
        cut[-1].tool_calls.extend(change for at, change in part.changes if at == after)
        known.update(change.call_id for change in cut[-1].tool_calls if change.name)
        yield from cut
        done = after
    yield from batches(_with_orphans(part.messages[done:], known))


def _with_orphans(messages: Iterable[Message], known: set[str]) -> Iterator[tuple[Message, bool]]:
    for message in messages:
        if calls_in(message) and message.role != Role.ROLE_TOOL:
            known.update(part.tool_call.call_id for part in message.parts if part.HasField("tool_call"))
        yield message, message.role == Role.ROLE_TOOL and message.call_id not in known


def _part(line: Line) -> _Part:
    number, record = line.number, line.value
    if not isinstance(record, dict) or not str(record.get("format", "")).startswith("lockstitch/"):
        chat = isinstance(record, list) or (isinstance(record, dict) and "messages" in record)
        hint = ": is it a chat, for --format openai-chat or anthropic?" if chat else ""
        raise WrongFormat(number, f"this is no line of lockstitch's export{hint}")
    if record["format"] != VERSION:
        raise WrongFormat(number, f"this was written by a newer lockstitch, as {record['format']!r}")
    try:
        session_id, place = str(record["session_id"]), int(str(record["part"]))
        messages = as_list(record.get("messages", []), "messages")
        changes = [as_object(change, "a tool call") for change in as_list(record.get("tool_calls", []), "tool_calls")]
        end = as_object(record["end"], "the end") if "end" in record else None
        return _Part(
            number=number,
            session_id=session_id,
            place=place,
            record=record,
            messages=[
                as_sent(_parsed(item, Message(), number, f"message {at}")) for at, item in enumerate(messages, start=1)
            ],
            changes=[
                (int(str(change["after"])), _parsed(change["change"], ToolCallChange(), number, "a tool call"))
                for change in changes
            ],
            end=end,
        )
    except KeyError as error:
        raise LineError(number, f"it has no {error.args[0]}") from error
    except ValueError as error:
        raise LineError(number, str(error)) from error


def _parsed(value: object, into: _P, number: int, what: str) -> _P:
    try:
        return ParseDict(as_object(value, what), into)
    except (ParseError, ValueError) as error:
        raise LineError(number, f"{what} can't be read: {error}") from error


def _check_end(part: _Part, end: dict[str, object], digest: SessionDigest) -> None:
    told, found = (end.get("messages"), end.get("sha256")), (digest.messages, digest.text)
    if told != found:
        counts = (
            f"it has {found[0]} messages of {told[0]}, and its digest is {'' if told[1] == found[1] else 'not '}right"
        )
        raise LineError(part.number, f"session {part.session_id!r} is not what was exported: {counts}")


def _instant(session: Session) -> datetime:
    return session.expire_time.ToDatetime(UTC)
