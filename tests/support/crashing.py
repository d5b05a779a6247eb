"""Two servers of which one is killed now and then, and callers who ask again until they are answered."""

from collections.abc import Callable
from threading import Timer
from typing import Any

import grpc

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.server_process import ServerProcess
from model import Caller
from support.lockstep import Answer, Error, Lockstep, error_of
from support.waiting import until_blocking

ATTEMPT_SECONDS_MAX = 5.0
ANSWERED_SECONDS_MAX = 60.0
_COMES_AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
Start = Callable[[], tuple[ServerProcess, Any]]


class AnswerLost(Exception):
    """The server was killed before its answer arrived."""


class CrashingPair:
    """Two servers; one that was killed is started anew before another one is."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._servers = [start(), start()]
        self._turn = 0

    def next(self) -> tuple[ServerProcess, Any]:
        self._turn = 1 - self._turn
        return self._servers[self._turn]

    def mend(self) -> None:
        """Have both servers run."""
        self._servers = [
            (server, methods) if server.process.poll() is None else self._start() for server, methods in self._servers
        ]


class Crashing(Lockstep):
    """As Lockstep, but the server that is called may be killed meanwhile; then the call is made again."""

    def __init__(self, pair: CrashingPair) -> None:
        super().__init__([])
        self._pair = pair
        self._kills = False
        self._kills_after: float | None = None
        self._attempts = 0

    def kill_at_next_call(self, after: float | None) -> None:
        """Kill the server that is called next: so many seconds after the call began, or, None, behind its work."""
        self._pair.mend()
        self._kills, self._kills_after = True, after

    def call(self, caller: Caller, send: Callable[[Any, dict[str, Any]], Answer]) -> Answer | Error:
        answers: list[Answer | Error] = []
        self._attempts = 0

        def is_answered() -> bool:
            self._attempts += 1
            try:
                answers.append(self._attempt(caller, send))
            except AnswerLost:
                return False
            except grpc.RpcError as error:
                if error.code() in _COMES_AGAIN:
                    return False
                answers.append(error_of(error))
            return True

        until_blocking(is_answered, "an answer", ANSWERED_SECONDS_MAX)
        return answers[0]

    def _attempt(self, caller: Caller, send: Callable[[Any, dict[str, Any]], Answer]) -> Answer:
        server, methods = self._pair.next()
        each = {"metadata": self.headers(server, caller), "timeout": ATTEMPT_SECONDS_MAX}
        if not self._kills:
            return send(methods, each)
        self._kills, after = False, self._kills_after
        killer = Timer(after or 0, server.process.kill)
        if after is not None:
            killer.start()
        try:
            answer = send(methods, each)
        finally:
            if after is None:
                killer.start()
            killer.join()
            server.process.wait()
            self.reached["kills"] += 1
        if after is None:
            raise AnswerLost
        return answer

    def first_answer(self, caller: Caller, request: Any, real: Answer | Error) -> Answer | Error:
        """A success whose answer was lost says that it is a replay, but to nobody who knew it."""
        receipt = getattr(real, "receipt", None)
        if self._attempts == 1 or receipt is None or not receipt.replayed:
            return real
        session_id, creates = request.session_id, isinstance(real, pb.CreateSessionResponse)
        if isinstance(real, pb.CreateSessionResponse):
            session_id = real.session.session_id
        timeline = self.model.sessions.get((caller.tenant, session_id))
        if timeline is None or not (creates or request.request_id in timeline.records):
            receipt.replayed = False
            self.reached["an answer was lost, not its commit"] += 1
        return real
