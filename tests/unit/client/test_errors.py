import pickle
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest

import lockstitch
from lockstitch import Client, errors, user
from lockstitch.failures import CLASS_OF_CODE, CLASS_OF_REASON, error_of
from lockstitch.v1.error_reason_pb2 import ErrorReason

PROTO = Path(__file__).parents[3] / "protos/lockstitch/v1/error_reason.proto"
REASONS = [value for value in ErrorReason.values() if value != ErrorReason.ERROR_REASON_UNSPECIFIED]


def code_in_proto(reason: "ErrorReason.ValueType") -> str:
    found = re.search(rf"// ([A-Z_]+)\. .*\n(?:\s*// .*\n)*\s*{ErrorReason.Name(reason)} = ", PROTO.read_text())
    assert found
    return found[1]


@pytest.mark.parametrize("reason", REASONS, ids=ErrorReason.Name)
def test_every_reason_has_a_class_of_its_own_under_the_base_of_its_code(reason: "ErrorReason.ValueType") -> None:
    name = ErrorReason.Name(reason).removeprefix("ERROR_REASON_")
    kind = CLASS_OF_REASON[name]
    assert kind.code.name == code_in_proto(reason)
    assert issubclass(kind, CLASS_OF_CODE[kind.code])
    assert [other for other, same in CLASS_OF_REASON.items() if same is kind] == [name]


def test_every_code_but_ok_has_a_base() -> None:
    assert set(CLASS_OF_CODE) == set(grpc.StatusCode) - {grpc.StatusCode.OK}


def test_every_class_can_be_imported_from_the_package() -> None:
    named = {*CLASS_OF_REASON.values(), *CLASS_OF_CODE.values()}
    assert {kind.__name__ for kind in named} <= set(lockstitch.__all__)


async def test_a_version_conflict_has_its_numbers(scripted: Any, fail: Any) -> None:
    metadata = {"expected_version": "3", "current_version": "5", "memory_version": "4", "last_seq": "9"}
    scripted.will(fail(grpc.StatusCode.ABORTED, "VERSION_CONFLICT", metadata=metadata, text="Too late."))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(errors.VersionConflict) as caught:
            await client.session("s").append(messages=[user("hi")], expected_version=3)
    conflict = caught.value
    assert (conflict.expected_version, conflict.current_version) == (3, 5)
    assert (conflict.memory_version, conflict.last_seq) == (4, 9)
    assert (conflict.reason, conflict.code, conflict.message) == (
        "VERSION_CONFLICT",
        grpc.StatusCode.ABORTED,
        "Too late.",
    )
    assert conflict.request_id == scripted.requests[0].request_id
    assert isinstance(conflict, errors.Conflict)


async def test_refused_fields_are_named(scripted: Any, fail: Any) -> None:
    refused = {"messages[0].parts[0].json": "not JSON", "title": "too long"}
    scripted.will(fail(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", fields=refused))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(errors.InvalidField) as caught:
            await client.create(title="x")
    assert {one.field: one.description for one in caught.value.field_violations} == refused
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("reason", "domain"), [("FROM_THE_FUTURE", "lockstitch.dev"), ("SESSION_NOT_FOUND", "elsewhere.example"), ("", "")]
)
async def test_a_reason_that_is_not_known_gives_the_base_of_its_code(
    scripted: Any, fail: Any, reason: str, domain: str
) -> None:
    scripted.will(fail(grpc.StatusCode.NOT_FOUND, reason, domain=domain))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(errors.NotFound) as caught:
            await client.get("s")
    assert type(caught.value) is errors.NotFound
    assert caught.value.reason == (reason if domain == "lockstitch.dev" else "")


def test_details_that_nobody_can_read_leave_the_code() -> None:
    trailers = grpc.aio.Metadata(("grpc-status-details-bin", b"\xff\xff\xff"))
    failure = grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), trailers, "Broken.")
    error = error_of(failure)
    assert type(error) is errors.Internal
    assert (error.message, error.incident_id) == ("Broken.", "")


async def test_a_time_to_come_again_is_told(scripted: Any, fail: Any) -> None:
    scripted.will(fail(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retry_seconds=60))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(errors.Overloaded) as caught:
            await client.get("s")
    assert caught.value.retry_after == timedelta(seconds=60)


def test_an_error_crosses_processes_whole() -> None:
    error = errors.VersionConflict(
        "Too late.",
        reason="VERSION_CONFLICT",
        metadata={"current_version": "5"},
        field_violations=[errors.FieldViolation("a", "b")],
        retry_after=timedelta(seconds=1),
        request_id="r",
    )
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is errors.VersionConflict
    assert again.__dict__ == error.__dict__
    assert again.current_version == 5
