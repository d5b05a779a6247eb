"""The line in which calls wait for the loop to take them over."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import grpc

from lockstitch_server.api.backlog import Backlog
from lockstitch_server.api.call import call_metadata

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class Line(grpc.GenericRpcHandler):
    """Finds the methods of all services by their names, so that their calls wait in one line.

    gRPC has a line for each method that is registered with it, and one for all others. Each line gives one call a turn
    of the loop, so a registered method's calls would overtake ours that counts them. Each line also costs every call:
    grpc.aio waits for all of them anew whenever one gave it a call. And what an interceptor costs is saved.
    """

    def __init__(self, backlog: Backlog, served: Callable[[str, Handler], Handler]) -> None:
        """Tell the backlog who is taken over; a method's handler becomes what is `served` in its place."""
        self._backlog = backlog
        self._served = served
        self._handlers: dict[str, Handler] = {}

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Do nothing: generated code adds its methods once more, by their names."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Handler]) -> None:
        """Take a service's methods, as generated code adds them to a server."""
        for name, handler in handlers.items():
            method = f"/{service}/{name}"
            self._handlers[method] = self._served(method, handler)

    def handler(self, method: str) -> Handler:
        """What is served as "/service/method", which may be registered to overtake."""
        return self._handlers[method]

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "Handler | None":
        """Find the handler of a call that the loop has taken over; None where there is no such method."""
        self._backlog.taken_over(handler_call_details.method)
        call_metadata.set(handler_call_details.invocation_metadata)
        return self._handlers.get(handler_call_details.method)
