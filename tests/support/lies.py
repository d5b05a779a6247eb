"""Middlemen that each break one promise of a call, quietly."""

import json
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

from google.protobuf.field_mask_pb2 import FieldMask
from grpc import aio

from lockstitch.v1.message_pb2 import Message
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CompleteToolCallRequest,
    CompleteToolCallResponse,
    RestoreSessionRequest,
    UpdateSessionRequest,
)
from support.middleman import Middleman, Onward
from support.rpc import taken_apart

PAGES = ("messages", "commits", "sessions", "tool_calls", "memories", "runs")


class CommitsAgain(Middleman):
    """A change that is sent again is made again."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._seen: set[tuple[str, str]] = set()

    async def answer(self, request: Any, onward: Onward) -> Any:
        request_id = getattr(request, "request_id", "")
        key = (_session_of(request), request_id)
        if request_id and key in self._seen:
            request.request_id = uuid4().hex
        self._seen.add(key)
        return await onward(request)


class TakesAnyContent(Middleman):
    """A request_id that was used gives its first answer, whatever comes with it."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._given: dict[tuple[str, str], Any] = {}

    async def answer(self, request: Any, onward: Onward) -> Any:
        key = (_session_of(request), getattr(request, "request_id", ""))
        try:
            answer = await onward(request)
        except aio.AioRpcError as error:
            if taken_apart(error).reason == "REQUEST_ID_REUSED" and type(request) is AppendRequest:
                return self._given[key]
            raise
        self._given[key] = answer
        return answer


class SkipsAVersion(Middleman):
    """An append takes two versions."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        answer = await onward(request)
        if isinstance(request, AppendRequest) and not answer.receipt.replayed:
            session = Session(session_id=request.session_id, title=uuid4().hex)
            mask = FieldMask(paths=["title"])
            await onward(UpdateSessionRequest(session=session, update_mask=mask, request_id=uuid4().hex))
        return answer


class IgnoresVersions(Middleman):
    """expected_version is compared with nothing."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        if "messages" in request.DESCRIPTOR.fields_by_name and "fence" in request.DESCRIPTOR.fields_by_name:
            request.ClearField("expected_version")
        return await onward(request)


class IgnoresFences(Middleman):
    """An append under a lost run is an append."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        if isinstance(request, AppendRequest) and not request.HasField("finish_run"):
            request.ClearField("fence")
        return await onward(request)


class SwapsMessages(Middleman):
    """The last two messages of a batch are stored the other way round."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        if isinstance(request, AppendRequest) and len(request.messages) > 1:
            messages = list(request.messages)
            del request.messages[:]
            request.messages.extend([*messages[:-2], messages[-1], messages[-2]])
        return await onward(request)


class TrimsText(Middleman):
    """Blanks around a text are gone."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        for message in _messages(request):
            for part in message.parts:
                if part.HasField("text"):
                    part.text = part.text.strip(" ")
        return await onward(request)


class NormalisesText(Middleman):
    """Letters and their marks are composed."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        answer = await onward(request)
        for message in _messages(answer):
            for part in message.parts:
                if part.HasField("text"):
                    part.text = unicodedata.normalize("NFC", part.text)
        return answer


class ParsesJson(Middleman):
    """JSON is kept as what it means to one language."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        answer = await onward(request)
        for message in _messages(answer):
            for part in message.parts:
                if part.HasField("json"):
                    part.json = json.dumps(json.loads(part.json))
        return answer


class LetsStrangersRead(Middleman):
    """Whoever knows a session's id reads it."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._owners: dict[str, str] = {}

    async def answer(self, request: Any, onward: Onward) -> Any:
        try:
            answer = await onward(request)
        except aio.AioRpcError as error:
            owner = self._owners.get(_session_of(request))
            if owner and type(request).__name__ == "GetSessionRequest" and taken_apart(error).reason.endswith("FOUND"):
                return await onward(request, token=owner)
            raise
        if type(request).__name__ == "CreateSessionRequest":
            self._owners[answer.session.session_id] = onward.token
        return answer


class LetsUsersBeEngines(Middleman):
    """What a user may not do is done in the name of an engine."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._engine = ""

    async def answer(self, request: Any, onward: Onward) -> Any:
        if type(request).__name__ == "GetServerInfoRequest":
            self._engine = self._engine or onward.token
        try:
            return await onward(request)
        except aio.AioRpcError as error:
            if taken_apart(error).reason == "ROLE_NOT_ALLOWED" and isinstance(request, AppendRequest):
                return await onward(request, token=self._engine)
            raise


class WritesToClosedSessions(Middleman):
    """A closed session takes an append by being restored for it."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        try:
            return await onward(request)
        except aio.AioRpcError as error:
            if taken_apart(error).reason == "SESSION_CLOSED" and isinstance(request, AppendRequest):
                await onward(RestoreSessionRequest(session_id=request.session_id, request_id=uuid4().hex))
                return await onward(request)
            raise


class TellsNoReason(Middleman):
    """A refusal has a code and a text, and that is all."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        try:
            return await onward(request)
        except aio.AioRpcError as error:
            raise aio.AioRpcError(error.code(), aio.Metadata(), aio.Metadata(), error.details()) from None


class LivesInThePresent(Middleman):
    """at_version is not looked at."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        if type(request).__name__ in {"GetSessionRequest", "GetMemoryRequest"}:
            request.ClearField("at_version")
        return await onward(request)


class DropsTheLastOfAPage(Middleman):
    """A page that is not the last loses an item."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        answer = await onward(request)
        for name in PAGES:
            if getattr(answer, "next_page_token", "") and name in answer.DESCRIPTOR.fields_by_name:
                items = getattr(answer, name)
                del items[-1:]
        return answer


class KeepsTheFirstHalf(Middleman):
    """A text of more than a MiB is cut without a word."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        for message in _messages(request):
            for part in message.parts:
                part_text = part.text
                if len(part_text) > 2**20:
                    part.text = part_text[: 2**20]
        return await onward(request)


class ForgetsNulls(Middleman):
    """A null in a merge patch deletes nothing."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        if type(request).__name__ == "UpdateMemoryRequest" and request.change.merge_patch_json:
            with suppress(ValueError):
                patch = json.loads(request.change.merge_patch_json)
                request.change.merge_patch_json = json.dumps(_without_nulls(patch))
        return await onward(request)


class EndsCallsAgain(Middleman):
    """A second result is taken, and thrown away."""

    async def answer(self, request: Any, onward: Onward) -> Any:
        try:
            return await onward(request)
        except aio.AioRpcError as error:
            if taken_apart(error).reason == "TOOL_CALL_ENDED" and isinstance(request, CompleteToolCallRequest):
                return CompleteToolCallResponse()
            raise


class TiesForks(Middleman):
    """What is appended to a source reaches its forks."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._forks: dict[str, list[str]] = {}

    async def answer(self, request: Any, onward: Onward) -> Any:
        answer = await onward(request)
        if type(request).__name__ == "ForkSessionRequest":
            self._forks.setdefault(request.session_id, []).append(answer.session.session_id)
        if isinstance(request, AppendRequest):
            for fork in self._forks.get(request.session_id, ()):
                await onward(AppendRequest(session_id=fork, messages=request.messages, request_id=uuid4().hex))
        return answer


class TakesTheNewestPut(Middleman):
    """The latest checkpoint is the one that was put last, whatever its id."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self._put: dict[tuple[str, str], str] = {}

    async def answer(self, request: Any, onward: Onward) -> Any:
        if type(request).__name__ == "GetCheckpointRequest" and not request.checkpoint_id:
            request.checkpoint_id = self._put.get((request.session_id, request.namespace), "")
        answer = await onward(request)
        if type(request).__name__ == "PutCheckpointRequest":
            checkpoint = request.checkpoint
            self._put[request.session_id, checkpoint.namespace] = checkpoint.checkpoint_id
        return answer


def _session_of(request: Any) -> str:
    session = getattr(request, "session", None)
    return str(getattr(request, "session_id", "") or getattr(session, "session_id", ""))


def _messages(of: Any) -> Iterator[Message]:
    """Every message that a request or an answer has."""
    if "messages" in of.DESCRIPTOR.fields_by_name:
        yield from of.messages
    for commit in getattr(of, "commits", ()):
        yield from commit.messages


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(one) for key, one in value.items() if one is not None}
