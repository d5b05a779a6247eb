"""UpdateMemory."""

from dataclasses import replace

from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server.api import checks
from lockstitch_server.api.convert import memory
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.model import Change, Content, Method


def update_memory(request: pb.UpdateMemoryRequest, requests: Requests) -> tuple[Change, Content]:
    """UpdateMemory."""
    policy, principal = requests.policy, requests.principal
    policy.require(principal, Claim.WRITE_MEMORY)
    request_id = requests.request_id(request.request_id)
    ref = requests.ref(request.session_id)
    erase = request.erase_history
    run_id = checks.identifier(request.run_id, "run_id", requests.settings.id_characters_max, required=False)
    if request.change.WhichOneof("change") == "replace":
        request.change.replace.ClearField("version")
    requests.check_size(request, request.change.ByteSize())
    expected = request.expected_version if request.HasField("expected_version") else None
    expected_memory = request.expected_memory_version if request.HasField("expected_memory_version") else None
    change = requests.change(
        request,
        Method.UPDATE_MEMORY,
        ref,
        request_id,
        expected_version=expected,
        expected_memory_version=expected_memory,
        fence=requests.fence(request),
        force=request.force,
    )
    written = memory.change(request.change, "change", requests.settings.memory_bytes_max)
    return change, Content(memory=replace(written, run_id=run_id), erase=erase)
