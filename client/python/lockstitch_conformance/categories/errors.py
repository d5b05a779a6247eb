"""Errors are data, told in a fixed order."""

from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from lockstitch.v1.checkpoint_service_pb2 import GetCheckpointRequest
from lockstitch.v1.message_pb2 import ROLE_USER, Message, Part
from lockstitch.v1.run_service_pb2 import GetRunRequest, StartRunRequest
from lockstitch.v1.session_pb2 import Session
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CompleteToolCallRequest,
    CreateSessionRequest,
    GetSessionRequest,
    ListMessagesRequest,
    RemoveMessagesRequest,
    UpdateMemoryRequest,
    UpdateMessageRequest,
    UpdateSessionRequest,
    UpdateToolCallRequest,
)
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_SUCCEEDED
from lockstitch.v1.working_memory_pb2 import MemoryChange
from lockstitch_conformance.contents import calling, gave, patch, said
from lockstitch_conformance.refusals import DETAILS_BYTES_MAX, refused
from lockstitch_conformance.suite import Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("errors", "errors are data, told in a fixed order")


@CATEGORY.promise("What is missing is told by its kind: session, message, run, tool call, checkpoint.")
async def what_is_missing(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    ended = TOOL_CALL_STATUS_SUCCEEDED
    requests: dict[str, Any] = {
        "SESSION_NOT_FOUND": GetSessionRequest(session_id=world.fresh("s")),
        "MESSAGE_NOT_FOUND": UpdateMessageRequest(session_id=session_id, message_id="none", message=said("x")),
        "RUN_NOT_FOUND": GetRunRequest(session_id=session_id, run_id="none"),
        "TOOL_CALL_NOT_FOUND": CompleteToolCallRequest(
            session_id=session_id, call_id="none", status=ended, result_json="1"
        ),
        "CHECKPOINT_NOT_FOUND": GetCheckpointRequest(session_id=session_id, checkpoint_id="none"),
    }
    for reason, request in requests.items():
        await refused(engine(request), reason)


@CATEGORY.promise("A field that is refused is named by its path.")
async def paths_of_fields(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    no_part, no_role = Message(role=ROLE_USER, parts=[Part()]), Message(parts=[Part(text="x")])
    paths: dict[str, list[str | Message]] = {
        "messages[1].parts[0]": ["x", no_part],
        "messages[0].role": [no_role],
        "messages[2].metadata_json": ["x", "x", said("x", metadata_json="{")],
        "messages[0].parts[0].tool_call.call_id": [calling("")],
        "messages[0].call_id": [gave("")],
    }
    for field, messages in paths.items():
        await refused(engine.append(session_id, *messages), "INVALID_FIELD", field=field)
    same((await engine.get(session_id)).version, 1, "the version")


@CATEGORY.promise("What a change needs and has not is INVALID_FIELD.")
async def required_fields(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(calling("c1"))
    requests: list[Any] = [
        AppendRequest(session_id=session_id),
        AppendRequest(messages=[said("x")]),
        UpdateMemoryRequest(session_id=session_id),
        UpdateMemoryRequest(session_id=session_id, change=MemoryChange()),
        UpdateSessionRequest(session=Session(session_id=session_id, title="x")),
        UpdateSessionRequest(session=Session(session_id=session_id), update_mask=FieldMask(paths=["version"])),
        UpdateToolCallRequest(session_id=session_id, status=TOOL_CALL_STATUS_SUCCEEDED),
        RemoveMessagesRequest(session_id=session_id),
        UpdateMessageRequest(session_id=session_id, message=said("x")),
        GetSessionRequest(),
    ]
    for request in requests:
        refusal = await refused(engine(request), "INVALID_FIELD")
        holds(refusal.fields, f"no field is named for {type(request).__name__}")
    same((await engine.get(session_id)).version, 1, "the version")


@CATEGORY.promise("Numbers out of range and values that nobody defined are refused, and are nobody's bug.")
async def nonsense(world: World) -> None:
    engine = world.engine
    session_id = await engine.create("x")
    requests: list[Any] = [
        AppendRequest(session_id=session_id, messages=[said("x")], expected_version=-1),
        AppendRequest(session_id=session_id, messages=[Message(role=99, parts=[Part(text="x")])]),  # type: ignore[arg-type]
        RemoveMessagesRequest(session_id=session_id, last=-1),
        RemoveMessagesRequest(session_id=session_id, from_seq=-(2**63)),
        ListMessagesRequest(session_id=session_id, after_seq=-1),
        GetSessionRequest(session_id=session_id, recent_messages=-1),
        GetSessionRequest(session_id=session_id, at_version=-(2**63)),
        StartRunRequest(session_id=session_id, on_busy=77),  # type: ignore[arg-type]
        CreateSessionRequest(labels={"": "x"}),
    ]
    for request in requests:
        await refused(engine(request), "INVALID_FIELD")


@CATEGORY.promise("Who calls is asked before what is called: a call without a token learns nothing of its request.")
async def authenticated_first(world: World) -> None:
    nobody = world.bearing("")
    await refused(nobody(AppendRequest()), "TOKEN_MISSING")
    await refused(nobody(GetSessionRequest(session_id="x" * 1000)), "TOKEN_MISSING")


@CATEGORY.promise("Shape comes before existence, existence before state, state before versions.")
async def in_a_fixed_order(world: World) -> None:
    engine, nowhere = world.engine, world.fresh("s")
    bad = said("x", metadata_json="{")
    await refused(engine.append(nowhere, bad, expected_version=9), "INVALID_FIELD")
    await refused(engine.append(nowhere, "x", expected_version=9), "SESSION_NOT_FOUND")
    session_id = await engine.create()
    await engine(CloseSessionRequest(session_id=session_id))
    await refused(engine.append(session_id, bad), "INVALID_FIELD")
    await refused(engine.append(session_id, "x", expected_version=9), "SESSION_CLOSED")


@CATEGORY.promise("Role comes before shape.")
async def role_before_shape(world: World) -> None:
    session_id = await world.user.create()
    wrong = UpdateMemoryRequest(session_id=session_id, change=patch("{"))
    await refused(world.user(wrong), "ROLE_NOT_ALLOWED")


@CATEGORY.promise("Details stay below 4 KiB, whatever the request is made of.")
async def small_details(world: World) -> None:
    long = "é" * world.limits.id_characters_max
    refusal = await refused(world.engine.get(long), "SESSION_NOT_FOUND")
    holds(len(refusal.details) < DETAILS_BYTES_MAX, "the details are large")
    longer = "x" * 100_000
    await refused(world.engine.get(longer), "INVALID_FIELD", field="session_id")


@CATEGORY.promise("A refusal has nothing of what was sent.")
async def nothing_of_the_content(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    refusals = [
        await refused(engine.append(session_id, "secret words", expected_version=9), "VERSION_CONFLICT"),
        await refused(engine.append(session_id, said("x", metadata_json='"secret words')), "INVALID_FIELD"),
    ]
    for refusal in refusals:
        holds(b"secret" not in refusal.details, f"{refusal.reason} has content")
