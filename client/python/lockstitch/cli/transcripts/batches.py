"""Messages in batches, each as much as one request takes."""

from collections.abc import Iterable, Iterator

from lockstitch.cli.transcripts.transcript import Batch
from lockstitch.v1.message_pb2 import Message, Role

# The contract's own limits, not what a server was told: another cut of the same file would be another import.
MESSAGES_MAX = 100
BYTES_MAX = 3 * 1024 * 1024
TOOL_CALLS_MAX = 1000
PARTS_MAX = 1000


def batches(messages: Iterable[tuple[Message, bool]]) -> Iterator[Batch]:
    """Cut messages, each with whether it is an orphan; one that is too large for company goes alone."""
    batch, size, calls = Batch(), 0, 0
    for message, is_orphan in messages:
        more, more_calls = message.ByteSize(), calls_in(message)
        full = len(batch.messages) == MESSAGES_MAX or size + more > BYTES_MAX or calls + more_calls > TOOL_CALLS_MAX
        if batch.messages and full:
            yield batch
            batch, size, calls = Batch(), 0, 0
        batch.messages.append(message)
        batch.has_orphans |= is_orphan
        size, calls = size + more, calls + more_calls
    if batch.messages:
        yield batch


def calls_in(message: Message) -> int:
    """How many entries of the ledger a message makes or ends."""
    if message.role == Role.ROLE_TOOL:
        return 1
    return sum(part.HasField("tool_call") for part in message.parts)


def checked(message: Message, what: str) -> Message:
    """The message, if the store takes it by its size; ValueError says what is too much.

    Told before anything of a conversation is sent, so that one which can't be stored whole is not stored in part.
    """
    if message.HasField("original") and _content_bytes(message) > BYTES_MAX:
        # The original has it all. Beside it, the normal form keeps what others read and leaves out what is bulky.
        kept = [part for part in message.parts if part.WhichOneof("content") not in {"blob", "json"}]
        del message.parts[:]
        message.parts.extend(kept)
    if _content_bytes(message) > BYTES_MAX:
        raise ValueError(f"{what} is larger than {BYTES_MAX // 1024**2} MiB")
    if len(message.parts) > PARTS_MAX:
        raise ValueError(f"{what} has more than {PARTS_MAX} pieces")
    return message


def _content_bytes(message: Message) -> int:
    """What a message says, without the envelope of its fields."""
    if message.ByteSize() <= BYTES_MAX:
        return message.ByteSize()
    total = len(message.metadata_json.encode()) + len(message.original.data)
    for part in message.parts:
        result = part.tool_result
        for text in (part.text, part.json, part.reasoning, part.tool_call.arguments_json, result.json, result.text):
            total += len(text.encode())
        total += len(part.blob.data)
    return total
