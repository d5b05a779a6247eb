"""Sessions by tenant, and the one order of checks that every change goes through."""

from copy import deepcopy
from typing import Any

from lockstitch.v1 import admin_service_pb2 as a
from lockstitch.v1 import checkpoint_service_pb2 as c
from lockstitch.v1 import run_service_pb2 as r
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch.v1.session_pb2 import SESSION_STATUS_ACTIVE, SESSION_STATUS_DELETED, Session
from model import Caller, Given, Refused, checkpoints, commits, drafts, forks, lifecycle, runs
from model.commits import Timeline
from model.requests import authorise, check_versions, content_of, content_of_draft
from model.session import State


class Store:
    def __init__(self) -> None:
        self.sessions: dict[tuple[str, str], Timeline] = {}
        self.made_ids: dict[tuple[str, str, str], str] = {}
        self.fork_ids: dict[tuple[str, str, str], str] = {}

    def find(self, caller: Caller, session_id: str) -> Timeline:
        found = self.sessions.get((caller.tenant, session_id))
        if found is None or (caller.role == "user" and found.states[-1].head.user_id != caller.subject):
            raise Refused("SESSION_NOT_FOUND")
        if found.is_purged:
            raise Refused("SESSION_NOT_FOUND")
        return found

    def change(self, caller: Caller, request: Any, given: Given, *, malformed: bool = False) -> Any:
        """Authorise, shape, replay, state, runs, versions, write."""
        authorise(caller, request)
        if malformed:
            raise Refused("INVALID_FIELD")
        checkpoints.check_shape(request)
        if isinstance(request, pb.ForkSessionRequest):
            return self.fork(caller, request, given)
        if isinstance(request, c.PutCheckpointWritesRequest):
            return self.put_writes(caller, request)
        if isinstance(request, r.RenewRunRequest):
            state = self.find(caller, request.session_id).states[-1]
            return r.RenewRunResponse(run=runs.renew(state, request.fence, given))
        timeline, creates = self._reach(caller, request, given), isinstance(request, pb.CreateSessionRequest)
        content = content_of(request, timeline.states[0].head.user_id)
        known = timeline.records.get(request.request_id)
        if creates and timeline.records:
            known = next(iter(timeline.records.values()))  # the id is the scope of a creation
        if known and known[0] != content:
            raise Refused("SESSION_EXISTS" if creates and request.session_id else "REQUEST_ID_REUSED")
        if known:
            return replayed(known[1])
        check(timeline.states[-1], request)
        source = self.undeleted(caller, request.session_id) if is_copy(request) else None
        states, answer = commits.commit(timeline, request, given, source)
        if states:
            timeline.add(caller, request, states)
            timeline.records[request.request_id] = content, answer
            self.sessions[caller.tenant, timeline.states[-1].head.session_id] = timeline
            if creates and not request.session_id:
                head = timeline.states[-1].head
                self.made_ids[caller.tenant, head.user_id, request.request_id] = head.session_id
        return answer

    def undeleted(self, caller: Caller, session_id: str) -> State:
        state = self.find(caller, session_id).states[-1]
        if state.head.status == SESSION_STATUS_DELETED:
            raise Refused("SESSION_NOT_FOUND")
        return state

    def put_writes(self, caller: Caller, request: c.PutCheckpointWritesRequest) -> c.PutCheckpointWritesResponse:
        """Makes no commit, and needs no checkpoint."""
        state = self.find(caller, request.session_id).states[-1]
        check(state, request)
        checkpoints.add_writes(state, (request.namespace, request.checkpoint_id), request.writes)
        return c.PutCheckpointWritesResponse()

    def fork(self, caller: Caller, request: pb.ForkSessionRequest, given: Given) -> pb.ForkSessionResponse:
        """A fork that was made is given again, whatever became of its source."""
        scope = caller.tenant, request.session_id, request.request_id
        session_id = request.new_session_id or self.fork_ids.get(scope, given.session_id)
        found, content = self.sessions.get((caller.tenant, session_id)), content_of(request, "")
        is_others = found is not None and caller.role == "user" and found.states[-1].head.user_id != caller.subject
        if found is not None and not found.is_purged and not is_others:
            known = next(iter(found.records.values()))
            if known[0] == content:
                again: pb.ForkSessionResponse = replayed(known[1])
                return again
        now = self.undeleted(caller, request.session_id)
        if found is not None and request.new_session_id:
            raise Refused("SESSION_EXISTS")
        if found is not None:
            raise Refused("SESSION_NOT_FOUND" if found.is_purged else "REQUEST_ID_REUSED")
        source = forks.source_of(self.sessions[caller.tenant, request.session_id].states, request)
        state = forks.copy_of(source, now, request, session_id, given)
        receipt = state.receipt(given.store_epoch, of_commit=False)
        answer = pb.ForkSessionResponse(session=state.head, receipt=receipt)
        timeline = Timeline(Session(session_id=session_id, tenant_id=caller.tenant, user_id=state.head.user_id))
        timeline.add(caller, request, [state])
        timeline.records[request.request_id] = content, answer
        self.sessions[caller.tenant, session_id] = timeline
        if not request.new_session_id:
            self.fork_ids[scope] = session_id
        return answer

    def draft(self, caller: Caller, steps: drafts.Steps, given: Given, *, finished: bool) -> pb.StreamDraftResponse:
        """A stream of steps, which ends as a commit unless it breaks off."""
        first, content = steps[0], content_of_draft(steps)
        authorise(caller, first)
        timeline = self.find(caller, first.session_id)
        state, known = timeline.states[-1], timeline.records.get(first.request_id)
        if known:
            if known[0] != content:
                raise Refused("REQUEST_ID_REUSED")
            again: pb.StreamDraftResponse = replayed(known[1])
            return again
        check(state, drafts.guard_of(first))
        draft = drafts.open_(state, first, given)
        drafts.write(draft, steps)
        if not finished:
            return pb.StreamDraftResponse()
        request = drafts.append_of(steps, draft)
        if not request.messages[0].parts:
            raise Refused("INVALID_FIELD")
        check(state, request)
        states, appended = commits.commit(timeline, request, given)
        answer = pb.StreamDraftResponse(receipt=appended.receipt)
        states[-1].present.drafts.pop(first.request_id)
        timeline.add(caller, request, states)
        timeline.records[first.request_id] = content, answer
        return answer

    def purge(self, caller: Caller, request: a.PurgeSessionRequest, given: Given) -> a.PurgeSessionResponse:
        """Deletes all content: nothing of the session is found again but the answer to the same request."""
        if caller.role != "admin":
            raise Refused("ROLE_NOT_ALLOWED")
        timeline = self.sessions.get((caller.tenant, request.session_id))
        if timeline and timeline.purged_by and timeline.purged_by[0] == request.request_id:
            return timeline.purged_by[1]
        state = self.find(caller, request.session_id).states[-1]
        if state.is_held and not request.force:
            raise runs.active(state)
        answer = a.PurgeSessionResponse(purge_time=given.now)
        self.sessions[caller.tenant, request.session_id].purged_by = request.request_id, answer
        return answer

    def _reach(self, caller: Caller, request: Any, given: Given) -> Timeline:
        """The session as far as the caller may reach it, or a new one for a request that creates."""
        new: Any = request if isinstance(request, pb.CreateSessionRequest) else None
        session_id = request.target_session_id if is_copy(request) else request.session_id
        if "create_if_missing" in request.DESCRIPTOR.fields_by_name and request.HasField("create_if_missing"):
            new = request.create_if_missing
        if new is None:
            return self.find(caller, session_id)
        user = caller.subject if caller.role == "user" else new.user_id
        if session_id.startswith("sess_"):
            self.find(caller, session_id)  # under the server's own ids nothing is created
        made = self.made_ids.get((caller.tenant, user, request.request_id), given.session_id)
        head = Session(session_id=session_id or made, tenant_id=caller.tenant, user_id=user, agent=new.agent)
        head.status = SESSION_STATUS_ACTIVE
        found = self.sessions.get((caller.tenant, head.session_id), Timeline(head))
        if found.is_purged:
            # Its id stays taken, which is all that a creator learns.
            own = isinstance(request, pb.CreateSessionRequest) and request.session_id
            raise Refused("SESSION_EXISTS" if own else "SESSION_NOT_FOUND")
        if user and found.states[-1].head.user_id != user:
            raise Refused("SESSION_EXISTS")
        return found


def check(state: State, request: Any) -> None:
    lifecycle.check(state, request)
    runs.check(state, request)
    check_versions(state, request)


def is_copy(request: Any) -> bool:
    """Whether it changes another session than the one it names first."""
    return isinstance(request, c.CopyCheckpointsRequest)


def replayed(answer: Any) -> Any:
    again = deepcopy(answer)
    again.receipt.replayed = True
    return again
