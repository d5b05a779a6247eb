"""AdminService: what operators ask of a server."""

from lockstitch.v1 import admin_service_pb2 as pb
from lockstitch.v1 import admin_service_pb2_grpc
from lockstitch_server import __version__, ids
from lockstitch_server.api import checks
from lockstitch_server.api.guard import Context
from lockstitch_server.api.requests import REQUEST_TOOL_CALLS_MAX, Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.model import Durability, StoreIdentity
from lockstitch_server.service.erasure import Erasure
from lockstitch_server.subscribe.epoch import StoreEpoch


class AdminServicer(admin_service_pb2_grpc.AdminServiceServicer):
    """Answers AdminService's calls."""

    def __init__(
        self,
        requests: Requests,
        identity: StoreIdentity,
        epoch: StoreEpoch,
        durability: Durability,
        erasure: Erasure,
    ) -> None:
        """What is told was found out at the start, but for the epoch."""
        self._requests = requests
        self._erasure = erasure
        self._identity = identity
        self._epoch = epoch
        self._durability = durability

    async def GetServerInfo(self, request: pb.GetServerInfoRequest, context: Context) -> pb.GetServerInfoResponse:
        """See the proto."""
        self._requests.policy.require(self._requests.principal, Claim.READ_SERVER_INFO)
        settings = self._requests.settings
        response = pb.GetServerInfoResponse(
            version=__version__,
            schema=self._identity.schema,
            store_epoch=self._epoch.value,
            postgres_version=self._identity.postgres_version,
            limits=pb.Limits(
                content_bytes_max=settings.content_bytes_max,
                append_messages_max=settings.append_messages_max,
                id_characters_max=settings.id_characters_max,
                labels_max=settings.labels_max,
                memory_bytes_max=settings.memory_bytes_max,
                metadata_bytes_max=settings.metadata_bytes_max,
                session_messages_max=settings.session_messages_max,
                page_size_default=settings.page_size_default,
                page_size_max=settings.page_size_max,
                answer_bytes_max=settings.content_bytes_max,
                request_tool_calls_max=REQUEST_TOOL_CALLS_MAX,
            ),
            durability=pb.Durability(
                synchronous_commit=self._durability.synchronous_commit,
                fsync=self._durability.fsync,
                full_page_writes=self._durability.full_page_writes,
            ),
        )
        checks.to_duration(settings.unary_deadline, response.limits.unary_deadline)
        response.time.GetCurrentTime()
        return response

    async def PurgeSession(self, request: pb.PurgeSessionRequest, context: Context) -> pb.PurgeSessionResponse:
        """See the proto."""
        self._requests.policy.require(self._requests.principal, Claim.PURGE_SESSION)
        request_id = self._requests.request_id(request.request_id)
        ref = self._requests.ref(request.session_id)
        purge_time = await self._erasure.purge(ref, ids.request_id_hash(request_id), force=request.force)
        response = pb.PurgeSessionResponse()
        checks.to_timestamp(purge_time, response.purge_time)
        return response

    async def EraseUser(self, request: pb.EraseUserRequest, context: Context) -> pb.EraseUserResponse:
        """See the proto."""
        principal = self._requests.principal
        self._requests.policy.require(principal, Claim.ERASE_USER)
        if request.request_id:
            self._requests.request_id(request.request_id)
        most = self._requests.settings.id_characters_max
        user_id = checks.identifier(request.user_id, "user_id", most)
        request_hash = ids.request_id_hash(request.request_id or "server:erase")
        erased = await self._erasure.erase_user(principal, user_id, request_hash)
        return pb.EraseUserResponse(sessions_purged=erased.purged, sessions_remaining=erased.remaining)
