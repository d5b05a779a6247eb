"""The contract as a program: what every answer must be after the calls before it; written from the contract alone.

`store` has the order of checks, `requests` what a request claims and says, `session` what a commit does, `ledger`,
`memory`, `runs`, `drafts`, `checkpoints`, `forks` and `lifecycle` the rules of each, `commits` the log, `reads` what
reads give. What only the server decides, its clock and its ids, is taken from its answer (Given).
"""

from collections.abc import Sequence
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from lockstitch.v1.commit_pb2 import Commit


class Caller(NamedTuple):
    tenant: str
    subject: str
    role: str


SYSTEM = Caller("", "system", "system")
"""Who makes the server's own commits."""


class Given(NamedTuple):
    now: Timestamp
    session_id: str = ""
    run_id: str = ""
    message_ids: tuple[str, ...] = ()
    tool_call_ids: tuple[str, ...] = ()
    lease: Timestamp = Timestamp()  # until when a renewed lease is live
    activity: Timestamp = Timestamp()  # when a draft was opened
    servers: Sequence[Commit] = ()  # the server's own commits that came with it: their times and message ids
    store_epoch: str = ""

    def of_server(self, version: int) -> "Given":
        """What was given for one of the server's own commits."""
        made = next((commit for commit in self.servers if commit.version == version), Commit())
        return self._replace(now=made.commit_time, message_ids=tuple(m.message_id for m in made.messages))


class Refused(Exception):
    """An error answer; nothing is stored."""

    def __init__(self, reason: str, **metadata: object) -> None:
        super().__init__(reason, metadata)
        self.reason, self.metadata = reason, {name: str(value) for name, value in metadata.items()}
