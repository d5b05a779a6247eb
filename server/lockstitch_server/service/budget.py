"""How much of an answer each of its parts may take, so that a default client always takes it."""

import orjson

from lockstitch_server.model import Memory
from lockstitch_server.store.stored_messages import StoredMessages

ANSWER_BYTES = 4 * 1024 * 1024 - 64 * 1024
"""The most bytes of any answer: what a client with default settings takes, less some room for the envelope."""

TOOL_CALLS_BYTES = 512 * 1024
"""Of these, what tool calls beside messages may take; what does not fit of their bodies is elided."""

SESSION_BYTES = 192 * 1024
"""Of these, what a session itself takes at most: metadata, labels, title; and the envelopes of messages and calls."""

MESSAGE_ENVELOPE_BYTES = 512
"""What a message takes beside its body: ids, seq, version, times."""


def memory_bytes(memory: Memory) -> int:
    """What working memory takes in an answer, at most. Keys grow where they are escaped."""
    return sum(len(orjson.dumps(key.decode())) + len(value) + 16 for key, value in memory.values.items())


def for_messages(memory: Memory | None, *, with_tool_calls: bool) -> int:
    """What is left for messages in an answer with a session, and with memory and tool calls where they are given."""
    room = ANSWER_BYTES - SESSION_BYTES
    if memory is not None:
        room -= memory_bytes(memory)
    if with_tool_calls:
        room -= TOOL_CALLS_BYTES
    return room


def newest_that_fit(messages: StoredMessages, room: int) -> tuple[StoredMessages, bool]:
    """The newest of these (oldest first) that fit, and whether they are but one that has to be elided to fit."""
    start = len(messages)
    for size, body in zip(reversed(messages.sizes), reversed(messages.bodies), strict=True):
        room -= size + MESSAGE_ENVELOPE_BYTES
        if room < 0 or body is None:
            break
        start -= 1
    if messages and start == len(messages):
        return messages[-1:], True
    return messages[start:], False
