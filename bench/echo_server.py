"""The bare server that Append is compared with: the same request in, a ready receipt out, and nothing in between."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
import uvloop

from lockstitch.v1.commit_pb2 import CommitReceipt
from lockstitch.v1.session_service_pb2 import AppendResponse

READY = "echo ready on "
_SERVICE = "lockstitch.v1.SessionService"


def _ready_receipt() -> bytes:
    """An answer of the size that Append's has."""
    receipt = CommitReceipt(
        version=2000,
        first_seq=1999,
        last_seq=1999,
        message_ids=["msg_0123456789abcdef_1999"],
        memory_version=1,
        store_epoch="0123456789abcdef0123456789abcdef",
    )
    receipt.commit_time.GetCurrentTime()
    return AppendResponse(receipt=receipt).SerializeToString()


def _answering(answer: bytes) -> Callable[[bytes, "grpc.aio.ServicerContext[Any, Any]"], Awaitable[bytes]]:
    async def echo(_request: bytes, _context: "grpc.aio.ServicerContext[Any, Any]") -> bytes:
        return answer

    return echo


async def serve() -> None:
    """Serve until told to stop."""
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_answering(_ready_receipt()))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Append": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"{READY}127.0.0.1:{port}", flush=True)
    await stop.wait()
    await server.stop(grace=1)


if __name__ == "__main__":
    uvloop.run(serve())
