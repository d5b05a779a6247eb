"""What all changes of a session have in common: their id, their fence, and how far the handle has seen after them."""

import secrets

from lockstitch.reads import SessionReads
from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.run_pb2 import Fence


class SessionChanges(SessionReads):
    """The ground of every changing part of :class:`lockstitch.SessionHandle` and :class:`lockstitch.RunHandle`."""

    _fence: Fence | None = None
    """What goes with every change made under a run."""

    def _made(
        self, receipt: CommitReceipt, expected_version: int | None, expected_memory_version: int | None = None
    ) -> None:
        """Notes a change made here. It counts as seen only where nobody else's commit can lie before it unseen."""
        self.receipt = receipt
        known = self.version if expected_version is None else expected_version
        follows = receipt.version <= known + 1
        if follows:
            self.version = max(self.version, receipt.version)
        if receipt.memory_version == receipt.version and (follows or expected_memory_version is not None):
            self.memory_version = max(self.memory_version, receipt.memory_version)


def new_request_id() -> str:
    """An id that nobody used before: 128 random bits."""
    return secrets.token_hex(16)
