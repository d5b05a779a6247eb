"""Runs the clients' test vectors with the Python client."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass

from factories import fresh
from lockstitch import Client, errors
from lockstitch.changes import new_request_id
from lockstitch.failures import CLASS_OF_CODE, CLASS_OF_REASON
from lockstitch.run_handle import RunHandle
from lockstitch.v1 import admin_service_pb2, checkpoint_service_pb2, run_service_pb2, session_service_pb2
from lockstitch.v1.subscription_pb2 import SubscribeRequest, SubscribeResponse
from support.patterns import at_path, filled, mismatch
from support.testbed import TESTDATA, RunningTestbed
from support.waiting import until, until_true

_STUBS = {
    "SessionService": "sessions",
    "RunService": "runs",
    "CheckpointService": "checkpoints",
    "AdminService": "admin",
}
_METHODS = {
    method.name: (_STUBS[service.name], GetMessageClass(method.input_type))
    for file in (admin_service_pb2, checkpoint_service_pb2, run_service_pb2, session_service_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
_FRAME_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Case:
    """One case of one file."""

    file: str
    name: str
    steps: list[dict[str, Any]]


def cases() -> list[Case]:
    """Read all files."""
    return [
        Case(path.stem, case["name"], case["steps"])
        for path in sorted(TESTDATA.glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
    ]


class VectorRun:
    """One case, played against a testbed."""

    def __init__(self, testbed: RunningTestbed, undo: AsyncExitStack) -> None:
        self._testbed = testbed
        self._undo = undo
        self._tenant = fresh("tenant")
        self._saved: dict[str, Any] = {}
        self._clients: dict[tuple[str, str], Client] = {}
        self._streams: dict[str, AsyncGenerator[SubscribeResponse, None]] = {}
        self._runs: dict[str, tuple[RunHandle, AsyncExitStack]] = {}
        self._second = ""

    async def play(self, steps: list[dict[str, Any]]) -> None:
        """Do the steps in order."""
        try:
            for number, step in enumerate(steps, 1):
                try:
                    await self._step(step)
                except Exception as error:
                    error.add_note(f"in step {number}: {json.dumps(step)[:500]}")
                    raise
        finally:
            await self._give_up()

    async def _step(self, step: dict[str, Any]) -> None:
        filled_in = filled(step, self._saved)
        verb = next(iter(step))
        answer = await (self._until(filled_in) if filled_in.get("until") else self._expected(filled_in, verb))
        for name, path in step.get("save", {}).items():
            self._saved[name] = at_path(answer, path)

    async def _until(self, step: dict[str, Any]) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []

        async def came_true() -> bool:
            try:
                answers.append(await self._expected(step, "call"))
            except (AssertionError, errors.LockstitchError):
                return False
            return True

        await until_true(came_true, "what the step expects")
        return answers[-1]

    async def _expected(self, step: dict[str, Any], verb: str) -> dict[str, Any]:
        if "error" not in step:
            answer: dict[str, Any] = await getattr(self, f"_do_{verb}")(step)
            pattern = step.get("answer", step.get("frame"))
            found = "" if pattern is None else mismatch(pattern, answer)
            assert not found, found
            return answer
        try:
            answer = await getattr(self, f"_do_{verb}")(step)
        except errors.LockstitchError as error:
            _check(step["error"], error)
            return {}
        raise AssertionError(f"no error, but {answer}")

    async def _do_call(self, step: dict[str, Any]) -> dict[str, Any]:
        place, made_of = _METHODS[step["call"]]
        request: Any = ParseDict(step["request"], made_of())
        if hasattr(request, "request_id") and not request.request_id:
            request.request_id = new_request_id()
        options: dict[str, Any] = {
            "timeout": timedelta(milliseconds=step["timeout_ms"]) if "timeout_ms" in step else None,
            "request_id": getattr(request, "request_id", ""),
        }

        def rpc(to: Any) -> Any:
            return getattr(getattr(to, place), step["call"])

        if "under" in step:
            run = self._runs[step["under"]][0]
            request.fence.CopyFrom(run._fence)
            answer = await run._call(rpc, request, **options)
        else:
            answer = await (await self._client(step))._transport.call(rpc, request, **options)
        return MessageToDict(answer)

    async def _do_testbed(self, step: dict[str, Any]) -> dict[str, Any]:
        # Runs are renewed on this loop meanwhile.
        answer = await asyncio.to_thread(self._testbed.command, step["testbed"], **step.get("with", {}))
        if step["testbed"] == "second_server":
            self._second = answer["target"]
        return answer

    async def _do_subscribe(self, step: dict[str, Any]) -> dict[str, Any]:
        request = ParseDict(step["request"], SubscribeRequest())
        options: dict[str, Any] = {}
        if request.HasField("heartbeat_interval"):
            options["heartbeat_interval"] = request.heartbeat_interval.ToTimedelta()
        self._streams[step["subscribe"]] = (
            (await self._client(step))
            .session(request.session_id)
            .frames(
                after_version=request.after_version, roles=request.roles, store_epoch=request.store_epoch, **options
            )
        )
        return {}

    async def _do_next(self, step: dict[str, Any]) -> dict[str, Any]:
        while True:
            frame = MessageToDict(await anext(self._streams[step["next"]]))
            ((kind, content),) = frame.items()
            if kind == step.get("kind"):
                return dict(content)
            assert kind != "commit", f"a commit that nobody asked for: {content}"

    async def _do_close(self, step: dict[str, Any]) -> dict[str, Any]:
        await self._streams.pop(step["close"]).aclose()
        return {}

    async def _do_run(self, step: dict[str, Any]) -> dict[str, Any]:
        stack = AsyncExitStack()
        session = (await self._client(step)).session(step["session_id"])
        run = await stack.enter_async_context(
            session.run(
                worker=step.get("worker", ""),
                lease=timedelta(milliseconds=step.get("lease_ms", 30_000)),
                on_busy=step.get("on_busy", "reject"),
                run_id=step.get("run_id", ""),
            )
        )
        self._runs[step["run"]] = (run, stack)
        return {"run": MessageToDict(run._lease.run)}

    async def _do_finish(self, step: dict[str, Any]) -> dict[str, Any]:
        run, _ = self._runs[step["finish"]]
        return MessageToDict(await run.finish(status=step.get("status", "succeeded")))

    async def _do_lost(self, step: dict[str, Any]) -> dict[str, Any]:
        run, _ = self._runs[step["lost"]]
        await until(lambda: run.is_lost, "the loss of the run")
        return {}

    async def _do_check_server(self, step: dict[str, Any]) -> dict[str, Any]:
        return MessageToDict(await (await self._client(step)).check_server())

    async def _client(self, step: Mapping[str, Any]) -> Client:
        who, way = step.get("as", "engine"), step.get("through", "direct")
        if (who, way) not in self._clients:
            client = Client(self._target(way), token=self._token(who))
            self._clients[who, way] = await self._undo.enter_async_context(client)
        return self._clients[who, way]

    def _target(self, way: str) -> str:
        named = {"direct": "target", "proxy": "proxy_target", "between": "between_target"}
        return self._second if way == "second" else str(self._testbed.targets[named[way]])

    def _token(self, who: str) -> str | None:
        role, _, user = who.partition(":")
        match role:
            case "nobody":
                return None
            case "forged":
                return "forged"
            case "expired":
                asked: dict[str, object] = {"user": "engine-1", "role": "engine", "ttl_seconds": -60}
            case _:
                asked = {"user": user or f"{role}-1", "role": role}
        return str(self._testbed.command("token", tenant=self._tenant, **asked)["token"])

    async def _give_up(self) -> None:
        for command in ("forgive", "restore", "forget_calls"):
            self._testbed.command(command)
        for stream in self._streams.values():
            await stream.aclose()
        for _, stack in self._runs.values():
            try:
                await stack.aclose()
            except errors.LockstitchError:
                continue  # a run that the case took from its holder


def _check(expected: dict[str, Any], error: errors.LockstitchError) -> None:
    if "type" in expected:
        assert type(error).__name__ == expected["type"], repr(error)
        return
    of_code = next(kind for code, kind in CLASS_OF_CODE.items() if code.name == expected["code"])
    assert type(error) is CLASS_OF_REASON.get(expected["reason"], of_code), repr(error)
    assert error.reason == expected["reason"]
    found = mismatch(expected["metadata"], error.metadata) if "metadata" in expected else ""
    found = found or mismatch(expected.get("request_id", error.request_id), error.request_id)
    assert not found, found
    if "fields" in expected:
        assert [violation.field for violation in error.field_violations] == expected["fields"]
    if "retry_after_ms" in expected:
        assert error.retry_after == timedelta(milliseconds=expected["retry_after_ms"])
