"""From a session to the message list that a model takes."""

from collections.abc import Sequence
from typing import Literal

from lockstitch.context_formats import Json, anthropic, openai_chat
from lockstitch.context_history import Group, ModelMessage, ModelRole, groups, name_holes, newest_within
from lockstitch.context_state import state_text
from lockstitch.v1.message_pb2 import Part, ToolCallPart
from lockstitch.v1.session_service_pb2 import GetContextResponse

__all__ = ["ContextBuilder", "ModelMessage"]


class ContextBuilder:
    """Builds a model's message list from what ``session.context()`` gave. Calls nothing, stores nothing.

        context = await session.context()
        messages = ContextBuilder(context, instructions="You mend servers.", max_tokens=8_000).openai_chat()

    **Order.** First ``instructions``, as a message of their own. Then one message with the recorded state, if there is
    any: goal, plan, completed, next action, errors, important files, other keys of memory, recent tools with their
    outcomes, open tools. Then the history, oldest first.

    **State is data.** Its values are JSON inside a ``<session-state>`` block, under a sentence that says they are no
    instructions, and no value can end the block: what a user or a tool got into memory gains no voice of its own.
    Arguments are shown up to 200 characters, outcomes up to 400.

    **Pairs.** A result stands directly behind its call, in call order; a result that answers no call is left out. A
    call without a result that a later message follows gets one that says "No result recorded" (here only: it is never
    stored, and the real result takes its place when it comes). A call that waits for approval and the calls of the last
    message get none: :attr:`open_calls` has them, and providers want them answered before the next turn.

    **Budget.** With ``max_tokens`` the newest messages that fit are kept, a call and its results together or not at
    all, by the server's estimate: 4 + bytes / 4 a message, rounded up, plus what the instructions and the state take.
    The state takes at most half; lines that have no room are counted in its last line, goal and next action always
    stay. The newest group is always there: where it is too large alone, its calls stay and bodies give way to ``[1234
    bytes left out]``, results first. The same note stands where the server left bodies out.

    Args:
        context: What ``session.context()`` gave.
        max_tokens: The budget, by the estimate above; None for no bound beyond the server's.
        instructions: The application's own instructions; always kept, never cut.
        state_role: The role of the first two messages, ``"system"`` or ``"developer"``, as the model wants it.
    """

    def __init__(
        self,
        context: GetContextResponse,
        *,
        max_tokens: int | None = None,
        instructions: str = "",
        state_role: Literal["system", "developer"] = "system",
    ) -> None:
        head = _said(state_role, instructions)
        half = None if max_tokens is None else 2 * max_tokens
        head += _said(state_role, state_text(context, bytes_max=half))
        history = groups(context.messages)
        name_holes(history, (*context.open_tool_calls, *context.recent_tool_calls))
        kept = history
        if max_tokens is not None:
            kept = newest_within(history, max_tokens - sum(message.tokens for message in head))
        self._messages = (*head, *(message for group in kept for message in group.flat()))
        self._open_calls = _open_calls(kept)
        self._truncated = context.truncated or len(kept) < len(history)

    @property
    def messages(self) -> tuple[ModelMessage, ...]:
        """The list in no provider's format: roles, and parts as the wire has them."""
        return self._messages

    @property
    def open_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls in the list that have no result: to be run, or waiting for approval."""
        return self._open_calls

    @property
    def tokens(self) -> int:
        """The whole list by the server's estimate, 4 + bytes / 4 a message, rounded up. Not a tokenizer's count."""
        return sum(message.tokens for message in self._messages)

    @property
    def truncated(self) -> bool:
        """Whether older messages, or bodies of some, were left out, by the server or here."""
        return self._truncated

    def openai_chat(self) -> list[Json]:
        """The list for OpenAI's chat completions, and for the many services that take the same.

        Reasoning is left out. Images become ``image_url`` pieces, other blobs a note. Call ids stay the provider's own.

        Example:
            ``await openai.chat.completions.create(model=…, messages=ContextBuilder(context).openai_chat())``
        """
        return openai_chat(self._messages)

    def anthropic(self) -> Json:
        """``{"system": str, "messages": […]}`` for Anthropic's messages API.

        All instructions stand in ``system``, those within the history too. Turns alternate and begin with the user's;
        results come first in theirs. Call ids are made plain and unique where they are not. Reasoning is left out.

        Example:
            ``await anthropic.messages.create(model=…, max_tokens=1024, **ContextBuilder(context).anthropic())``
        """
        opening = "(Earlier messages are left out.)" if self._truncated else "(The conversation begins.)"
        return anthropic(self._messages, opening=opening)


def _said(role: ModelRole, text: str) -> list[ModelMessage]:
    return [ModelMessage(role, (Part(text=text),))] if text else []


def _open_calls(history: Sequence[Group]) -> tuple[ToolCallPart, ...]:
    return tuple(call for group in history for call in group.unanswered())
