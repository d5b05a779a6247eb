"""SessionService: each method converts, awaits once, converts."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1 import session_service_pb2_grpc, subscription_pb2, tool_call_pb2
from lockstitch_server.api import answers, reads, subscription_frames
from lockstitch_server.api.changes import append as append_changes
from lockstitch_server.api.changes import drafts as draft_changes
from lockstitch_server.api.changes import memory as memory_changes
from lockstitch_server.api.changes import messages as message_changes
from lockstitch_server.api.changes import sessions as session_changes
from lockstitch_server.api.changes import tool_calls as tool_call_changes
from lockstitch_server.api.convert import commits, memory, messages, sessions, tool_calls
from lockstitch_server.api.guard import Context
from lockstitch_server.api.requests import Requests, taken
from lockstitch_server.api.services import Services
from lockstitch_server.errors import Draining
from lockstitch_server.model import Receipt, SessionAction, ToolCall
from lockstitch_server.service import budget


class SessionServicer(session_service_pb2_grpc.SessionServiceServicer):
    """Answers SessionService's calls."""

    def __init__(self, requests: Requests, services: Services) -> None:
        """`requests` reads what calls have in common; `services` hold the rules."""
        self._requests = requests
        self._services = services

    @property
    def _epoch(self) -> str:
        return self._services.epoch.value

    async def _forks(self, receipt: Receipt, *, erased: bool) -> tuple[str, ...]:
        """The forks to name beside an erasure."""
        return await self._services.sessions.forks_of_erasure(receipt) if erased else ()

    async def CreateSession(self, request: pb.CreateSessionRequest, context: Context) -> pb.CreateSessionResponse:
        """See the proto."""
        change, new, content = await taken(session_changes.create_session, request, self._requests)
        session, receipt = await self._services.sessions.create(change, new, content)
        response = pb.CreateSessionResponse()
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def GetSession(self, request: pb.GetSessionRequest, context: Context) -> pb.GetSessionResponse:
        """See the proto."""
        ref, recent, at_version = reads.get_session(request, self._requests)
        answer = await self._services.sessions.get(
            ref,
            recent_messages=recent,
            include_memory=request.include_memory,
            include_open_tool_calls=request.include_open_tool_calls,
            at_version=at_version,
            show_deleted=request.show_deleted,
        )
        return answers.session(answer)

    async def ListSessions(self, request: pb.ListSessionsRequest, context: Context) -> pb.ListSessionsResponse:
        """See the proto."""
        asked = reads.list_sessions(request, self._requests)
        response = pb.ListSessionsResponse()
        if asked is not None:
            page = await self._services.sessions.list(*asked)
            response.next_page_token = page.next_page_token
            for session in page.items:
                sessions.fill(response.sessions.add(), session)
        return response

    async def Append(self, request: pb.AppendRequest, context: Context) -> pb.AppendResponse:
        """See the proto."""
        change, content, create = await taken(append_changes.append, request, self._requests)
        receipt = await self._services.appends.append(change, content, create)
        response = pb.AppendResponse()
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def UpdateMemory(self, request: pb.UpdateMemoryRequest, context: Context) -> pb.UpdateMemoryResponse:
        """See the proto."""
        erase = request.erase_history
        change, content = await taken(memory_changes.update_memory, request, self._requests)
        changed, receipt = await self._services.memories.update(change, content)
        forks = await self._forks(receipt, erased=erase)
        response = pb.UpdateMemoryResponse(forks=forks)
        memory.fill(response.memory, changed)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def GetMemory(self, request: pb.GetMemoryRequest, context: Context) -> pb.GetMemoryResponse:
        """See the proto."""
        found = await self._services.memories.get(*reads.get_memory(request, self._requests))
        response = pb.GetMemoryResponse()
        memory.fill(response.memory, found)
        return response

    async def ListMemoryVersions(
        self, request: pb.ListMemoryVersionsRequest, context: Context
    ) -> pb.ListMemoryVersionsResponse:
        """See the proto."""
        page = await self._services.memories.list_versions(*reads.list_memory_versions(request, self._requests))
        response = pb.ListMemoryVersionsResponse(next_page_token=page.next_page_token)
        for found in page.items:
            memory.fill(response.memories.add(), found)
        return response

    async def UpdateToolCall(self, request: pb.UpdateToolCallRequest, context: Context) -> pb.UpdateToolCallResponse:
        """See the proto."""
        change, content = tool_call_changes.update_tool_call(request, self._requests)
        tool_call, receipt = await self._services.tool_calls.change(change, content)
        response = pb.UpdateToolCallResponse()
        _fill_one(response.tool_call, tool_call)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def CompleteToolCall(
        self, request: pb.CompleteToolCallRequest, context: Context
    ) -> pb.CompleteToolCallResponse:
        """See the proto."""
        change, content = await taken(tool_call_changes.complete_tool_call, request, self._requests)
        tool_call, receipt = await self._services.tool_calls.change(change, content)
        response = pb.CompleteToolCallResponse()
        _fill_one(response.tool_call, tool_call)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def ListToolCalls(self, request: pb.ListToolCallsRequest, context: Context) -> pb.ListToolCallsResponse:
        """See the proto."""
        ref, page, statuses, name, run_id, digest = reads.list_tool_calls(request, self._requests)
        found = await self._services.tool_calls.list(
            ref, page, statuses=statuses, name=name, run_id=run_id, arguments_digest=digest
        )
        return answers.tool_call_page(found.items, found.next_page_token)

    async def ListMessages(self, request: pb.ListMessagesRequest, context: Context) -> pb.ListMessagesResponse:
        """See the proto."""
        ref, shown, page = reads.list_messages(request, self._requests)
        return answers.message_page(*await self._services.messages.list(ref, page, shown))

    async def RemoveMessages(self, request: pb.RemoveMessagesRequest, context: Context) -> pb.RemoveMessagesResponse:
        """See the proto."""
        erase = request.erase_history
        change, removal, content = await taken(message_changes.remove_messages, request, self._requests)
        removed, receipt = await self._services.messages.remove(change, removal, content)
        forks = await self._forks(receipt, erased=erase)
        response = pb.RemoveMessagesResponse(removed_count=removed.count, forks=forks)
        for message in removed.messages:
            messages.fill(response.removed.add(), message)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def UpdateMessage(self, request: pb.UpdateMessageRequest, context: Context) -> pb.UpdateMessageResponse:
        """See the proto."""
        erase = request.erase_history
        change, update = await taken(message_changes.update_message, request, self._requests)
        message, receipt = await self._services.messages.update(change, update)
        forks = await self._forks(receipt, erased=erase)
        response = pb.UpdateMessageResponse(forks=forks)
        messages.fill(response.message, message)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def ListCommits(self, request: pb.ListCommitsRequest, context: Context) -> pb.ListCommitsResponse:
        """See the proto."""
        ref, page, after_version, descending = reads.list_commits(request, self._requests)
        found = await self._services.commits.list(ref, page, after_version=after_version, descending=descending)
        response = pb.ListCommitsResponse(next_page_token=found.next_page_token)
        for commit in found.items:
            commits.fill(response.commits.add(), commit)
        return response

    async def Subscribe(
        self, request: subscription_pb2.SubscribeRequest, context: Context
    ) -> AsyncGenerator[subscription_pb2.SubscribeResponse, None]:
        """See the proto."""
        asked = reads.subscribe(request, self._requests)
        over = self._services.stream_limits.count(self._requests.principal)
        # A stream counts until its call is over: its end, too, waits for a reader that takes nothing.
        context.add_done_callback(cast("Any", lambda _: over()))
        epoch = self._epoch
        async with aclosing(self._services.streams.events(asked)) as events:
            async for event in events:
                yield subscription_frames.frame(event, asked.roles, epoch)
        raise Draining

    async def GetContext(self, request: pb.GetContextRequest, context: Context) -> pb.GetContextResponse:
        """See the proto."""
        ref, limits = reads.get_context(request, self._requests)
        return answers.context(await self._services.contexts.get(ref, limits))

    async def UpdateSession(self, request: pb.UpdateSessionRequest, context: Context) -> pb.UpdateSessionResponse:
        """See the proto."""
        erase = request.erase_history
        change, update, needs_guard = session_changes.update_session(request, self._requests)
        session, receipt = await self._services.sessions.update(change, update, needs_guard=needs_guard)
        forks = await self._forks(receipt, erased=erase)
        response = pb.UpdateSessionResponse(forks=forks)
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def CloseSession(self, request: pb.CloseSessionRequest, context: Context) -> pb.CloseSessionResponse:
        """See the proto."""
        change, reason = session_changes.close_session(request, self._requests)
        session, receipt = await self._services.sessions.set_status(change, SessionAction.CLOSE, close_reason=reason)
        response = pb.CloseSessionResponse()
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def RestoreSession(self, request: pb.RestoreSessionRequest, context: Context) -> pb.RestoreSessionResponse:
        """See the proto."""
        change, life = session_changes.restore_session(request, self._requests)
        session, receipt = await self._services.sessions.set_status(change, SessionAction.RESTORE, expiration=life)
        response = pb.RestoreSessionResponse()
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def ForkSession(self, request: pb.ForkSessionRequest, context: Context) -> pb.ForkSessionResponse:
        """See the proto."""
        session, receipt = await self._services.sessions.fork(*session_changes.fork_session(request, self._requests))
        response = pb.ForkSessionResponse()
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def StreamDraft(
        self, request_iterator: AsyncIterator[pb.StreamDraftRequest], context: Context
    ) -> pb.StreamDraftResponse:
        """See the proto."""
        drafted = draft_changes.DraftRequest(request_iterator, self._requests)
        change, new = await drafted.begin()
        receipt = await self._services.drafts.write(change, new, drafted.texts(), drafted.end)
        response = pb.StreamDraftResponse()
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def DeleteSession(self, request: pb.DeleteSessionRequest, context: Context) -> pb.DeleteSessionResponse:
        """See the proto."""
        change = session_changes.delete_session(request, self._requests)
        session, receipt = await self._services.sessions.set_status(change, SessionAction.DELETE)
        response = pb.DeleteSessionResponse()
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response

    async def UndeleteSession(self, request: pb.UndeleteSessionRequest, context: Context) -> pb.UndeleteSessionResponse:
        """See the proto."""
        change = session_changes.undelete_session(request, self._requests)
        session, receipt = await self._services.sessions.set_status(change, SessionAction.UNDELETE)
        response = pb.UndeleteSessionResponse()
        sessions.fill(response.session, session)
        sessions.fill_receipt(response.receipt, receipt, self._epoch)
        return response


def _fill_one(target: tool_call_pb2.ToolCall, tool_call: ToolCall) -> None:
    room = tool_calls.Room(budget.ANSWER_BYTES - budget.SESSION_BYTES)
    tool_calls.fill(target, tool_call, tool_calls.Bodies(), room)
