"""The doorway of a server, which is closed before the server stops."""

import asyncio
from datetime import timedelta
from time import monotonic

from lockstitch_server.errors import Draining

_LOOK_SECONDS = 0.01
_QUIET_LOOKS = 5
_LOOKS_MAX = 100
_SECONDS_MAX = 3.0
_COME_AGAIN = timedelta(milliseconds=250)


class Doorway:
    """Turns calls away when the server is about to stop.

    gRPC's own stop cancels the calls that it has received and not handed over yet, and those that are on their way:
    CANCELLED, which nobody retries. So they are turned away first, with a status that is retried and the time to do it,
    and the server is stopped when no more come; what is inside is finished during that stop.
    """

    def __init__(self) -> None:
        """It is open."""
        self._is_closed = False
        self._turned_away = 0

    def enter(self) -> None:
        """Let a call in; raises Draining where it may not."""
        if self._is_closed:
            self._turned_away += 1
            raise Draining(retry_after=_COME_AGAIN)

    async def close(self) -> None:
        """Let nobody in any more, and wait until nobody comes; seconds at most, as some come whatever is told."""
        self._is_closed = True
        quiet, ends = 0, monotonic() + _SECONDS_MAX
        for _ in range(_LOOKS_MAX):
            before = self._turned_away
            await asyncio.sleep(_LOOK_SECONDS)
            # Looks are counted, not seconds: where the loop lags, calls wait in it that nobody has seen.
            quiet = quiet + 1 if self._turned_away == before else 0
            if quiet == _QUIET_LOOKS or monotonic() > ends:
                return
