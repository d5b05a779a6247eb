"""The context of the next turn: the newest messages that a model may see, calls and results together."""

from dataclasses import dataclass

from lockstitch_server.errors import SessionNotFound
from lockstitch_server.model import Memory, MessageRole, Run, Session, SessionRef, ToolCall
from lockstitch_server.service import budget
from lockstitch_server.service.sessions import OPEN_TOOL_CALLS_MAX
from lockstitch_server.store.reader import Reader, SessionParts
from lockstitch_server.store.results import SessionView
from lockstitch_server.store.stored_messages import StoredMessages

MESSAGES_DEFAULT, MESSAGES_MAX = 200, 1000
_LOOKED_AT_MAX = 8 * MESSAGES_MAX
RECENT_TOOL_CALLS = 20
_TOKEN_BYTES = 4
_MESSAGE_TOKENS = 4
_ELIDED_BYTES = 512


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """The most that a context may hold; None where the caller set no bound."""

    messages: int
    bytes: int | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Context:
    """What an engine needs to go on, from one snapshot."""

    session: Session
    memory: Memory
    messages: StoredMessages
    elided: frozenset[int]
    """The seqs of messages that keep their calls and lose their bodies."""
    open_tool_calls: tuple[ToolCall, ...]
    recent_tool_calls: tuple[ToolCall, ...]
    last_run: Run | None
    truncated: bool


class Contexts:
    """Puts contexts together."""

    def __init__(self, reader: Reader) -> None:
        """The reader gives everything from one snapshot."""
        self._reader = reader

    async def get(self, ref: SessionRef, limits: ContextLimits) -> Context:
        """Give the context of a session's next turn."""
        most = looked_at = min(limits.messages or MESSAGES_DEFAULT, MESSAGES_MAX)
        while True:
            view = await self._view(ref, looked_at)
            units = _units(view)
            taken = _newest_units(view.messages, units, _room(view.memory, limits))
            all_taken = taken.units == len(units) and len(taken.places) < most
            if not all_taken or looked_at >= min(view.session.message_count, _LOOKED_AT_MAX):
                break
            # Results of older calls and of none were among the newest messages: there is room for more behind them.
            looked_at = min(4 * looked_at, _LOOKED_AT_MAX)
        whole = len(taken.places) == view.session.message_count and not taken.elided
        return Context(
            session=view.session,
            memory=view.memory,
            messages=view.messages.picked(taken.places),
            elided=frozenset(view.messages.seqs[place] for place in taken.elided),
            open_tool_calls=tuple(call for call in view.tool_calls if call.status.is_open),
            recent_tool_calls=tuple(call for call in view.tool_calls if not call.status.is_open),
            last_run=view.last_run,
            truncated=not whole,
        )

    async def _view(self, ref: SessionRef, messages: int) -> SessionView:
        view = await self._reader.get_session(
            ref,
            SessionParts(
                messages=messages,
                memory=True,
                open_calls=OPEN_TOOL_CALLS_MAX,
                ended_calls=RECENT_TOOL_CALLS,
                bytes_max=budget.ANSWER_BYTES,
                last_run=True,
            ),
        )
        if view is None:
            raise SessionNotFound
        return view


Unit = tuple[int, ...]
"""The places of a message, or of an assistant's calls with their stored results behind it in call order."""


def _units(view: SessionView) -> list[Unit]:
    """The messages as units, oldest first.

    A result stands behind its call, wherever it came in. One whose call is older than these messages, or that nobody
    asked for, belongs to none of them and is left out. So is what was erased: it has nothing for a model.
    """
    messages = view.messages
    results: dict[int, list[tuple[int, int]]] = {}
    asking: list[int] = []
    for place, (seq, role, erased) in enumerate(zip(messages.seqs, messages.roles, messages.erased, strict=True)):
        if erased:
            continue
        if role != MessageRole.TOOL:
            asking.append(place)
        elif (belongs := view.result_places.get(seq)) is not None:
            results.setdefault(belongs.message_seq, []).append((belongs.part_index, place))
    if not results:
        return [(place,) for place in asking]
    return [(place, *(result for _, result in sorted(results.get(messages.seqs[place], ())))) for place in asking]


@dataclass(slots=True)
class _Room:
    messages: int
    bytes: int
    tokens: int | None

    def holds(self, sizes: list[int]) -> bool:
        return (
            len(sizes) <= self.messages
            and sum(sizes) <= self.bytes
            and (self.tokens is None or _tokens(sizes) <= self.tokens)
        )

    def take(self, sizes: list[int]) -> None:
        self.messages -= len(sizes)
        self.bytes -= sum(sizes)
        if self.tokens is not None:
            self.tokens -= _tokens(sizes)


def _tokens(sizes: list[int]) -> int:
    """The documented estimate: 4 a message and one for 4 bytes of it, rounded up."""
    return sum(_MESSAGE_TOKENS + -(-size // _TOKEN_BYTES) for size in sizes)


def _room(memory: Memory, limits: ContextLimits) -> _Room:
    answer = budget.for_messages(memory, with_tool_calls=True)
    return _Room(
        messages=min(limits.messages or MESSAGES_DEFAULT, MESSAGES_MAX),
        bytes=answer if limits.bytes is None else min(limits.bytes, answer),
        tokens=limits.tokens,
    )


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a context takes: the places of its messages, those among them that are elided, and of how many units."""

    places: tuple[int, ...]
    elided: frozenset[int]
    units: int


def _newest_units(messages: StoredMessages, units: list[Unit], room: _Room) -> _Taken:
    """Take units from the newest on until one has no room.

    A unit that no room of this size could ever hold, for its bytes or tokens, is taken elided: the newest always, an
    older one where what is left of it has room. One that would have fitted an emptier room ends the context, so that
    nothing between two messages of it is missing.
    """
    everything = tuple(place for unit in units for place in unit)
    if messages.are_read and room.holds([messages.sizes[place] for place in everything]):
        return _Taken(everything, frozenset(), len(units))
    whole = _Room(room.messages, room.bytes, room.tokens)
    taken: list[Unit] = []
    elided: set[int] = set()
    for unit in reversed(units):
        sizes = [messages.sizes[place] for place in unit]
        if room.holds(sizes) and all(messages.bodies[place] is not None for place in unit):
            room.take(sizes)
            taken.append(unit)
            continue
        elided_sizes = [min(size, _ELIDED_BYTES) for size in sizes]
        too_large = len(unit) <= whole.messages and not whole.holds(sizes)
        if not too_large or messages.bodies[unit[0]] is None or len(unit) > room.messages:
            break
        if taken and not room.holds(elided_sizes):
            break
        room.take(elided_sizes)
        taken.append(unit)
        elided.update(unit)
    places = tuple(place for unit in reversed(taken) for place in unit)
    return _Taken(places, frozenset(elided), len(taken))
