"""AdminService: what operators ask of a server."""

from lockstitch.v1 import admin_service_pb2 as pb
from lockstitch.v1 import admin_service_pb2_grpc
from lockstitch_server import __version__
from lockstitch_server.api import checks
from lockstitch_server.api.interceptor import Context
from lockstitch_server.api.requests import REQUEST_TOOL_CALLS_MAX, Requests
from lockstitch_server.auth.policy import Claim
from lockstitch_server.model import Durability, StoreIdentity
from lockstitch_server.subscribe.epoch import StoreEpoch


class AdminServicer(admin_service_pb2_grpc.AdminServiceServicer):
    """Answers AdminService's calls."""

    def __init__(self, requests: Requests, identity: StoreIdentity, epoch: StoreEpoch, durability: Durability) -> None:
        """What is told was found out at the start, but for the epoch."""
        self._requests = requests
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
