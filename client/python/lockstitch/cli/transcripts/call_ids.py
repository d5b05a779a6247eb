"""Tool calls of foreign transcripts, under ids that the ledger can tell apart."""

from itertools import count

ID_CHARACTERS_MAX = 128


class CallIds:
    """Gives calls and results the ids that they are stored under: their own, wherever the ledger takes it.

    A ledger knows one open call an id, and one result a call. Transcripts do worse: two calls of one message share an
    id, a call is never answered and its id used again, a result is told twice. Such a call, or result, gets an id made
    of its own; what it was called stays in the message's original.
    """

    def __init__(self) -> None:
        self._made: set[str] = set()
        self._open: set[str] = set()
        self._newest: dict[str, list[str]] = {}
        """By the transcript's id, the calls that the newest message with it made and nobody answered, in order."""
        self._message: set[str] = set()

    def begin_message(self) -> None:
        """Another message makes calls: results are its calls' from now on."""
        self._message = set()

    def of_call(self, given: str) -> str:
        """The id of a new call."""
        if given not in self._message:
            self._message.add(given)
            self._newest[given] = []
        own = given if is_id(given) else "call"
        stored = own if own not in self._open else self._fresh(own)
        self._made.add(stored)
        self._open.add(stored)
        self._newest[given].append(stored)
        return stored

    def of_result(self, given: str) -> tuple[str, bool]:
        """The id of the call that a result answers, and whether it is an orphan: one that answers none."""
        waiting = self._newest.get(given, [])
        if waiting:
            stored = waiting.pop(0)
            self._open.discard(stored)
            return stored, False
        if given in self._open:
            self._open.discard(given)
            return given, False
        if is_id(given) and given not in self._made:
            return given, True
        return self._fresh(given if is_id(given) else "call"), True

    def _fresh(self, given: str) -> str:
        for number in count(2):
            suffix = f"#{number}"
            made = given[: ID_CHARACTERS_MAX - len(suffix)] + suffix
            if made not in self._made:
                self._made.add(made)
                return made
        raise AssertionError  # count never ends


def is_id(value: object) -> bool:
    """Whether the store takes this as an id or a name."""
    return isinstance(value, str) and 1 <= len(value) <= ID_CHARACTERS_MAX and value.isprintable()
