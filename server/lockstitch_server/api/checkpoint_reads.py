"""What CheckpointService's reads ask for."""

from lockstitch.v1 import checkpoint_service_pb2 as pb
from lockstitch_server.api import checks
from lockstitch_server.api.requests import Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.errors import InvalidField
from lockstitch_server.service import json_text
from lockstitch_server.service.checkpoints import CheckpointRequest, value_digests
from lockstitch_server.service.paging import PageRequest
from lockstitch_server.store.checkpoints import CheckpointFilter


def get_checkpoint(request: pb.GetCheckpointRequest, requests: Requests) -> CheckpointRequest:
    """GetCheckpoint."""
    requests.policy.require(requests.principal, Claim.USE_CHECKPOINTS)
    id_max = requests.settings.id_characters_max
    ref = requests.ref(request.session_id)
    writes_token, ancestors_token = request.writes_page_token, request.ancestors_page_token
    if writes_token and ancestors_token:
        raise InvalidField("writes_page_token", "has no place beside ancestors_page_token")
    ancestors = request.ancestors
    namespace = checks.identifier(request.namespace, "namespace", id_max, required=False)
    checkpoint_id = checks.identifier(request.checkpoint_id, "checkpoint_id", id_max, required=False)
    request.ClearField("writes_page_token")
    request.ClearField("ancestors_page_token")
    return CheckpointRequest(
        ref=ref,
        namespace=namespace,
        checkpoint_id=checkpoint_id,
        ancestors=ancestors,
        writes_page=requests.part(request, writes_token, "writes"),
        ancestors_page=requests.part(request, ancestors_token, "ancestors"),
    )


def list_checkpoints(
    request: pb.ListCheckpointsRequest, requests: Requests
) -> tuple[PageRequest, CheckpointFilter, dict[bytes, bytes]]:
    """ListCheckpoints: the page, what is shown, and which metadata it must have."""
    requests.policy.require(requests.principal, Claim.USE_CHECKPOINTS)
    id_max = requests.settings.id_characters_max
    metadata: dict[bytes, bytes] = {}
    if request.metadata_json:
        text = checks.json(request.metadata_json, "metadata_json", requests.settings.metadata_bytes_max)
        if json_text.members(text) is None:
            raise InvalidField("metadata_json", "is not a JSON object")
        metadata = value_digests(text)
    shown = CheckpointFilter(
        ref=requests.ref(request.session_id) if request.session_id else None,
        tenant_id=requests.principal.tenant_id,
        namespace=(
            checks.identifier(request.namespace, "namespace", id_max, required=False)
            if request.HasField("namespace")
            else None
        ),
        run_id=checks.identifier(request.run_id, "run_id", id_max, required=False) or None,
        before=checks.identifier(request.before, "before", id_max, required=False) or None,
        after=None,
    )
    return requests.page(request, request), shown, metadata
