"""Reading HTTP/2 frames off a connection, as far as a proxy must to tell a reply from the rest."""

from collections.abc import Iterator

HEADERS = 1
_HEAD_BYTES = 9


class Frames:
    """Cuts one direction of a connection into whole frames, with nothing before the first."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Take what came, and give the frames that are whole by now: type, and all of its bytes."""
        self._rest += chunk
        while len(self._rest) >= _HEAD_BYTES:
            length = _HEAD_BYTES + int.from_bytes(self._rest[:3], "big")
            if len(self._rest) < length:
                return
            frame = bytes(self._rest[:length])
            del self._rest[:length]
            yield frame[3], frame
