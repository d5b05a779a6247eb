"""A run's holder as a process of its own: it writes under its fence, and says what became of each write.

`python -m support.holder TARGET TOKEN SESSION RUN TOKEN_OF_THE_FENCE`: "stored VERSION" a line, then "refused REASON".
"""

import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
from google.rpc import error_details_pb2, status_pb2

from lockstitch.v1.message_pb2 import ROLE_ASSISTANT, Message, Part
from lockstitch.v1.run_pb2 import Fence, Run
from lockstitch.v1.session_service_pb2 import AppendRequest
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub

CALL_SECONDS_MAX = 60


def start(target: str, token: str, run: Run) -> "subprocess.Popen[str]":
    """Start a holder of a run."""
    return subprocess.Popen(
        [sys.executable, "-m", "support.holder", target, token, run.session_id, run.run_id, str(run.fencing_token)],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )


def hold(target: str, token: str, session_id: str, fence: Fence) -> None:
    """Write until a write is refused."""
    with grpc.insecure_channel(target) as opened:
        channel: Any = opened
        sessions: Any = SessionServiceStub(channel)
        while True:
            message = Message(role=ROLE_ASSISTANT, parts=[Part(text="still at it")])
            request = AppendRequest(request_id=uuid4().hex, session_id=session_id, fence=fence, messages=[message])
            try:
                answer = sessions.Append(
                    request, metadata=[("authorization", f"Bearer {token}")], timeout=CALL_SECONDS_MAX
                )
            except grpc.RpcError as error:
                print("refused", _reason(error), flush=True)  # noqa: T201 - its way to speak
                return
            print("stored", answer.receipt.version, flush=True)  # noqa: T201


def _reason(error: Any) -> str:
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(details)
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return str(info.reason)


if __name__ == "__main__":
    hold(sys.argv[1], sys.argv[2], sys.argv[3], Fence(run_id=sys.argv[4], fencing_token=int(sys.argv[5])))
