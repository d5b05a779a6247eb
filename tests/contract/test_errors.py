"""CONTRACT 16: every refusal is a status with one reason; nothing a caller sends is an incident."""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass
from grpc import aio

from factories import called, patched, said
from lockstitch.v1 import error_reason_pb2
from lockstitch.v1 import session_service_pb2 as pb
from lockstitch_server import errors
from lockstitch_server.api import failures
from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.model import CallerRole
from lockstitch_server.server_process import ServerProcess
from support.callers import Caller
from support.databases import Database
from support.every_change import EVERY, ready_for
from support.rpc import BUGS, MODULES, As, Create, Refusal, Rpc, field_refused, outcome, refusal, taken_apart

PROTO = Path(__file__).parents[2] / "protos/lockstitch/v1/error_reason.proto"
METHODS = {
    method.name: method
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
UNARY = [name for name, method in METHODS.items() if not (method.server_streaming or method.client_streaming)]


def _classes(kind: type[errors.LockstitchError] = errors.LockstitchError) -> Iterator[type[errors.LockstitchError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _classes(each)


def _documented() -> dict[str, str]:
    """Give each reason's comment."""
    found = re.findall(r"((?:  //[^\n]*\n)+)  ERROR_REASON_(\w+) = \d+;", PROTO.read_text(encoding="utf-8"))
    return {name: " ".join(line.strip("/ ") for line in comment.split("\n")) for comment, name in found}


REASONED = sorted((each for each in _classes() if each.reason), key=lambda each: each.reason)


@pytest.mark.parametrize("kind", REASONED, ids=[each.reason for each in REASONED])
def test_every_error_has_a_code_and_a_reason_with_an_example(kind: type[errors.LockstitchError]) -> None:
    code = next(code for parent, code in failures.CODES.items() if issubclass(kind, parent))
    comment = _documented()[kind.reason]
    assert comment.startswith(f"{code.name}. "), comment
    assert re.search(r'Example: "[^"]+"', comment), comment
    assert f"ERROR_REASON_{kind.reason}" in error_reason_pb2.ErrorReason.keys()  # noqa: SIM118 - it is no dict


def test_every_reason_has_one_class_and_every_kind_one_code() -> None:
    reasons = [each.reason for each in REASONED]
    assert len(set(reasons)) == len(reasons)
    assert set(reasons) == set(_documented()) - {"UNSPECIFIED"}
    assert set(failures.CODES) == set(errors.LockstitchError.__subclasses__())
    assert len(set(failures.CODES.values())) == len(failures.CODES)


@pytest.mark.parametrize(
    "body", [b"\xff", b"garbage", b"\x0a", b"\x0a\xff\xff\xff\xff\x0f", b"\x0b" * 5000, b"\x0a\x02\xff\xfe"]
)
@pytest.mark.parametrize("method", [name for name in UNARY if METHODS[name].input_type.fields])
async def test_bytes_that_are_no_request_are_refused(engine: Rpc, method: str, body: bytes) -> None:
    assert await field_refused(engine.send_bytes(method, body)) == "request"


@pytest.mark.parametrize("method", UNARY)
async def test_no_bytes_are_an_incident(engine: Rpc, create: Create, method: str) -> None:
    """Throw requests with changed bytes at every method; none may end as a bug, and the session stays readable."""
    session_id = await create(messages=[called("c")], memory={"goal": "g"})
    bodies = [_plain(method, session_id)]
    bodies += [EVERY[name].on(session_id).SerializeToString() for name in EVERY if name.split(",")[0] == method]
    draw = random.Random(method)
    for body in bodies:
        for _ in range(60):
            changed = bytearray(body)
            for _ in range(draw.randint(1, 4)):
                place = draw.randrange(len(changed) or 1)
                changed[place : place + draw.randint(0, 2)] = draw.randbytes(draw.randint(0, 3))
            assert await _code(engine.send_bytes(method, bytes(changed))) not in BUGS, bytes(changed)
    await engine.UndeleteSession(session_id=session_id)
    assert (await engine.GetContext(session_id=session_id)).session.session_id == session_id


async def _code(call: Awaitable[Any]) -> grpc.StatusCode:
    try:
        await call
    except aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def _plain(method: str, session_id: str) -> bytes:
    """Give a plain request for a method."""
    request: Any = GetMessageClass(METHODS[method].input_type)()
    if "session_id" in request.DESCRIPTOR.fields_by_name:
        request.session_id = session_id
    if "request_id" in request.DESCRIPTOR.fields_by_name:
        request.request_id = "r"
    data: bytes = request.SerializeToString()
    return data


@pytest.mark.parametrize("name", EVERY)
async def test_fields_with_values_at_the_edge_are_no_incident(engine: Rpc, create: Create, name: str) -> None:
    session_id = await ready_for(name, engine, create)
    for change in _at_the_edge(EVERY[name].on(session_id)):
        assert await _code(engine.send(change)) not in BUGS, change


def _at_the_edge(request: Any) -> Iterator[Any]:
    """Give the request with each of its top-level fields at an edge."""
    edges: dict[int, list[Any]] = {
        3: [-(2**63), -1, 0, 2**63 - 1],  # int64
        5: [-(2**31), -1, 2**31 - 1],  # int32
        9: ["", "\x00", "\U0001f600" * 200, "x" * 70_000, "{}", "null", "1e999"],  # string
        14: [-(2**31), -1, 0, 99, 2**31 - 1],  # enum
    }
    for field in request.DESCRIPTOR.fields:
        for value in edges.get(field.type, []) if not field.is_repeated else []:
            changed = type(request)()
            changed.CopyFrom(request)
            setattr(changed, field.name, value)
            yield changed


async def test_a_refusal_leaves_the_channel_and_the_session_as_they_were(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("x", message_id="m")])
    for number in range(20):
        for call in (
            engine.Append(session_id=session_id, messages=[said("x", message_id="m")]),
            engine.Append(session_id=session_id, expected_version=77, messages=[said("x")]),
            engine.CompleteToolCall(session_id=session_id, call_id="never"),
            engine.UpdateMemory(session_id=session_id, change=patched('{"goal":1}')),
            engine.send_bytes("Append", b"\xff"),
        ):
            await refusal(call)
        receipt = (await engine.Append(session_id=session_id, messages=[said("y")])).receipt
        assert (receipt.version, receipt.last_seq) == (number + 2, number + 2)


async def test_one_who_waits_too_long_for_a_connection_is_told_when_to_come_again(
    call_as: As, create: Create, shared_database: Database, start_server: Callable[..., ServerProcess]
) -> None:
    session_id = await create()
    narrow = start_server(shared_database, LOCKSTITCH_POOL_CONNECTIONS_MAX="1", LOCKSTITCH_POOL_WAIT="0.001")
    engine = call_as("e", "engine", to=narrow)
    request = pb.AppendRequest(session_id=session_id, messages=[said("x" * 500_000)])
    requests = [pb.AppendRequest(request_id=str(number)) for number in range(40)]
    for each in requests:
        each.MergeFrom(request)
    answers = await asyncio.gather(*(engine.caller.sessions.Append(each) for each in requests), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, aio.AioRpcError)]
    assert refused
    for error in refused:
        told = taken_apart(error)
        assert told.what == (grpc.StatusCode.UNAVAILABLE, "OVERLOADED")
        assert dict(error.trailing_metadata() or ())["grpc-retry-pushback-ms"] == "1"
    stored = (await engine.GetSession(session_id=session_id)).session.message_count
    assert stored == len(answers) - len(refused)


async def test_tokens_that_are_past_foreign_or_forged_are_told_apart(
    shared_servers: tuple[ServerProcess, ServerProcess], folder: Path
) -> None:
    server = shared_servers[0]
    ours, theirs = TokenSigner(keys.load_or_make(server.data_dir)), TokenSigner(keys.load_or_make(folder))
    who: dict[str, Any] = {"tenant": "t", "subject": "s", "role": CallerRole.ENGINE}
    good = ours.sign(**who, ttl=timedelta(hours=1))
    head, claims, signature = good.split(".")
    tokens = {
        ours.sign(**who, ttl=timedelta(minutes=-5)): "TOKEN_EXPIRED",
        theirs.sign(**who, ttl=timedelta(hours=1)): "TOKEN_INVALID",
        f"{head}.{claims}.": "TOKEN_INVALID",
        f"{head}.{claims}.{signature[::-1]}": "TOKEN_INVALID",
        good + "x" * 6_000: "TOKEN_INVALID",
        good: "",
    }
    for token, reason in tokens.items():
        async with Caller(server.target, token) as caller:
            told = await outcome(Rpc(caller).ListSessions())
            assert (told.reason if isinstance(told, Refusal) else "") == reason
            if reason:
                assert told.code == grpc.StatusCode.UNAUTHENTICATED
