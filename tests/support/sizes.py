"""What a client with default channel options takes."""

from typing import Any

from google.protobuf.message import Message

KIB = 1024
MIB = 1024 * KIB
ANSWER_BYTES_MAX = 4 * MIB - 64 * KIB
CONTENT_BYTES_MAX = 3 * MIB


def fits(answer: Any) -> Any:
    """Give an answer back that is as small as every answer must be."""
    assert isinstance(answer, Message)
    assert answer.ByteSize() <= ANSWER_BYTES_MAX, f"{answer.DESCRIPTOR.name} has {answer.ByteSize()} bytes"
    return answer
