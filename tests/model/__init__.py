"""The contract as a program: what every answer must be after the calls before it; written from the contract alone.

`store` has the order of checks, `session` what a commit does, `ledger` and `memory` the rules of tool calls and of
working memory, `reads` what reads give. What only the server decides, its clock and its ids, is taken from its answer
(Given).
"""

from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp


class Caller(NamedTuple):
    tenant: str
    subject: str
    role: str


class Given(NamedTuple):
    now: Timestamp
    session_id: str
    message_ids: tuple[str, ...]
    tool_call_ids: tuple[str, ...]
    store_epoch: str


class Refused(Exception):
    """An error answer; nothing is stored."""

    def __init__(self, reason: str, **metadata: object) -> None:
        super().__init__(reason, metadata)
        self.reason, self.metadata = reason, {name: str(value) for name, value in metadata.items()}
