"""One run at a time; whoever lost it writes nothing more."""

import asyncio
from typing import Any

from google.protobuf.duration_pb2 import Duration
from grpc import aio

from lockstitch.v1.checkpoint_pb2 import Checkpoint, CheckpointWrite
from lockstitch.v1.checkpoint_service_pb2 import (
    DeleteCheckpointsRequest,
    PutCheckpointRequest,
    PutCheckpointWritesRequest,
)
from lockstitch.v1.run_pb2 import (
    RUN_STATUS_CANCELLED,
    RUN_STATUS_EXPIRED,
    RUN_STATUS_RUNNING,
    RUN_STATUS_SUCCEEDED,
    RUN_STATUS_SUPERSEDED,
    Fence,
    Run,
    RunEnd,
)
from lockstitch.v1.run_service_pb2 import (
    ON_BUSY_INTERRUPT,
    ON_BUSY_JOIN,
    CancelRunRequest,
    FinishRunRequest,
    GetRunRequest,
    RenewRunRequest,
    StartRunRequest,
)
from lockstitch.v1.session_service_pb2 import (
    AppendRequest,
    CloseSessionRequest,
    CompleteToolCallRequest,
    RemoveMessagesRequest,
    StreamDraftRequest,
    UpdateMemoryRequest,
    UpdateMessageRequest,
    UpdateToolCallRequest,
)
from lockstitch.v1.tool_call_pb2 import TOOL_CALL_STATUS_RUNNING, TOOL_CALL_STATUS_SUCCEEDED
from lockstitch.v1.working_memory_pb2 import MemoryChange, WorkingMemory
from lockstitch_conformance.contents import answered, calling, fence, patch, said
from lockstitch_conformance.refusals import refused, taken_apart
from lockstitch_conformance.suite import Broken, Category, holds, same
from lockstitch_conformance.world import World

CATEGORY = Category("fences", "one run at a time; whoever lost it writes nothing more")
STARTERS = 6
LOOK_AGAIN_SECONDS = 0.1
LOOKS_MAX = 100


async def _status(world: World, run: Run) -> Any:
    request = GetRunRequest(session_id=run.session_id, run_id=run.run_id)
    return (await world.engine(request)).run.status


async def _taken_over(world: World, session_id: str, lapsing: Run) -> Run:
    """Start a run as soon as another's lease has run out."""
    for _ in range(LOOKS_MAX):
        try:
            return await world.engine.run(session_id)
        except aio.AioRpcError as error:
            refusal = taken_apart(error)
            same((refusal.reason, refusal.metadata.get("run_id")), ("RUN_ACTIVE", lapsing.run_id), "the refusal")
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    raise Broken(f"a lease of a second had not run out after {LOOKS_MAX * LOOK_AGAIN_SECONDS:.0f} s")


@CATEGORY.promise("While a run is active another one is RUN_ACTIVE, which names it.")
async def one_at_a_time(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id, worker="w")
    same((run.status, run.worker), (RUN_STATUS_RUNNING, "w"), "status and worker")
    await refused(engine.run(session_id), "RUN_ACTIVE", run_id=run.run_id)
    same((await engine.get(session_id)).active_run_id, run.run_id, "the session's active run")


@CATEGORY.promise("Of any number that start at once exactly one gets the run.")
async def started_at_once(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    outcomes = await asyncio.gather(*(engine.run(session_id) for _ in range(STARTERS)), return_exceptions=True)
    won = [outcome for outcome in outcomes if isinstance(outcome, Run)]
    lost = [taken_apart(outcome).reason for outcome in outcomes if isinstance(outcome, aio.AioRpcError)]
    same((len(won), lost), (1, ["RUN_ACTIVE"] * (STARTERS - 1)), "who won, and how the others fared")


@CATEGORY.promise("The fencing token rises with every run of a session.")
async def tokens_rise(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    tokens = []
    for _ in range(3):
        run = await engine.run(session_id)
        tokens.append(run.fencing_token)
        await engine(FinishRunRequest(session_id=session_id, fence=fence(run), status=RUN_STATUS_SUCCEEDED))
    tokens.append((await engine.run(session_id)).fencing_token)
    tokens.append((await engine.run(session_id, on_busy=ON_BUSY_INTERRUPT)).fencing_token)
    holds(sorted(set(tokens)) == tokens, f"the tokens are {tokens}")


@CATEGORY.promise("JOIN gives the run that is active and its token, without a commit.")
async def joined(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    other = await engine.run(session_id, on_busy=ON_BUSY_JOIN)
    same((other.run_id, other.fencing_token), (run.run_id, run.fencing_token), "the joined run")
    same((await engine.get(session_id)).version, run.started_version, "the version")
    await engine.append(session_id, "a", fence=fence(other))


@CATEGORY.promise("INTERRUPT ends the run as SUPERSEDED in the commit that starts the next.")
async def superseded(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    taken = await engine.run(session_id, on_busy=ON_BUSY_INTERRUPT)
    old = (await engine(GetRunRequest(session_id=session_id, run_id=run.run_id))).run
    same((old.status, old.ended_version), (RUN_STATUS_SUPERSEDED, taken.started_version), "the old run's end")
    same(taken.started_version, run.started_version + 1, "the next run's version")


@CATEGORY.promise("An old token is RUN_FENCED for every call that has a fence, and nothing is stored.")
async def old_tokens_write_nothing(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(said("a", message_id="m1"), calling("c1"))
    old = fence(await engine.run(session_id))
    await engine.run(session_id, on_busy=ON_BUSY_INTERRUPT)
    before = await engine.get(session_id)
    for request in _under(session_id, old):
        await refused(engine(request), "RUN_FENCED", run_id=old.run_id)
    draft = StreamDraftRequest(request_id=world.fresh("d"), session_id=session_id, message=answered(), fence=old)
    await refused(engine.draft(draft), "RUN_FENCED", run_id=old.run_id)
    same(await engine.get(session_id), before, "the session")


def _under(session_id: str, old: Fence) -> list[Any]:
    """Every call that has a fence, with this one."""
    named: dict[str, Any] = {"session_id": session_id, "fence": old}
    checkpoint = Checkpoint(checkpoint_id="1", format="f", data=b"d")
    running, ended = TOOL_CALL_STATUS_RUNNING, TOOL_CALL_STATUS_SUCCEEDED
    return [
        AppendRequest(messages=[said("b")], **named),
        UpdateMemoryRequest(change=patch('{"goal":"g"}'), **named),
        UpdateToolCallRequest(call_id="c1", status=running, **named),
        CompleteToolCallRequest(call_id="c1", status=ended, result_json="1", **named),
        RemoveMessagesRequest(last=1, **named),
        UpdateMessageRequest(message_id="m1", message=said("b"), **named),
        PutCheckpointRequest(checkpoint=checkpoint, **named),
        PutCheckpointWritesRequest(checkpoint_id="1", writes=[CheckpointWrite(task_id="t", channel="c")], **named),
        DeleteCheckpointsRequest(all=True, **named),
        FinishRunRequest(status=RUN_STATUS_SUCCEEDED, **named),
        RenewRunRequest(**named),
    ]


@CATEGORY.promise("A token that was never granted, and a run that there is not, are refused as well.")
async def invented_fences(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    higher = Fence(run_id=run.run_id, fencing_token=run.fencing_token + 1)
    await refused(engine.append(session_id, "a", fence=higher), "RUN_FENCED")
    nobodys = Fence(run_id="nobody's", fencing_token=run.fencing_token)
    await refused(engine.append(session_id, "a", fence=nobodys), "RUN_NOT_FOUND")
    same(await engine.texts(session_id), [], "the messages")


@CATEGORY.promise("A lapsed lease allows a takeover, which ends the run as EXPIRED and fences it.")
async def taken_over(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    lapsing = await engine.run(session_id, lease=Duration(seconds=1))
    taken = await _taken_over(world, session_id, lapsing)
    holds(taken.fencing_token > lapsing.fencing_token, "the token did not rise")
    same(await _status(world, lapsing), RUN_STATUS_EXPIRED, "the old run's status")
    await refused(engine.append(session_id, "a", fence=fence(lapsing)), "RUN_FENCED")
    await engine.append(session_id, "b", fence=fence(taken))


@CATEGORY.promise("A lapsed lease refuses nobody by itself: until somebody takes over its holder writes and renews.")
async def lapsed_and_not_taken(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id, lease=Duration(seconds=1))
    for _ in range(LOOKS_MAX):
        if not (await engine.get(session_id)).active_run_id:
            break
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    await engine.append(session_id, "a", fence=fence(run))
    renewed = await engine(RenewRunRequest(session_id=session_id, fence=fence(run), lease=Duration(seconds=30)))
    same(renewed.run.status, RUN_STATUS_RUNNING, "the status")
    await refused(engine.run(session_id), "RUN_ACTIVE", run_id=run.run_id)


@CATEGORY.promise("Renewing moves the lease and makes no commit.")
async def renewal_is_no_commit(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id, lease=Duration(seconds=10))
    renewed = (await engine(RenewRunRequest(session_id=session_id, fence=fence(run), lease=Duration(seconds=600)))).run
    gained = renewed.lease_expire_time.ToNanoseconds() - run.lease_expire_time.ToNanoseconds()
    holds(gained > 500 * 10**9, f"the lease moved by {gained / 10**9:.1f} s")
    same((await engine.get(session_id)).version, run.started_version, "the version")


@CATEGORY.promise("What a run writes names it; without its fence no request can claim it.")
async def written_by_a_run(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    await engine.append(session_id, "a", fence=fence(run))
    await engine.append(session_id, said("b", run_id=run.run_id))
    same([message.run_id for message in await engine.messages(session_id)], [run.run_id, ""], "the run_ids")
    found = await engine.messages(session_id, run_id=run.run_id)
    same([message.parts[0].text for message in found], ["a"], "the run's messages")


@CATEGORY.promise("Others write beside a run, and break nothing of it.")
async def beside_a_run(world: World) -> None:
    engine = world.engine
    session_id = await engine.create(user_id=world.user_id)
    run = await engine.run(session_id)
    await world.user.append(session_id, "from a second tab")
    same((await engine.append(session_id, "a", fence=fence(run))).version, run.started_version + 2, "the version")


@CATEGORY.promise("A fence is a guard: under it a memory is replaced without a version.")
async def a_fence_is_a_guard(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    for goal in ("a", "b"):
        change = MemoryChange(replace=WorkingMemory(goal=goal))
        await engine(UpdateMemoryRequest(session_id=session_id, fence=fence(run), change=change))
    same((await engine.memory(session_id)).goal, "b", "the goal")


@CATEGORY.promise("A run ends with its last messages in one commit; after it its fence is RUN_ENDED.")
async def ended_with_its_messages(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    receipt = await engine.append(
        session_id, answered("done"), fence=fence(run), finish_run=RunEnd(status=RUN_STATUS_SUCCEEDED)
    )
    ended = (await engine(GetRunRequest(session_id=session_id, run_id=run.run_id))).run
    same((ended.status, ended.ended_version), (RUN_STATUS_SUCCEEDED, receipt.version), "the run's end")
    await refused(engine.append(session_id, "a", fence=fence(run)), "RUN_ENDED")
    await refused(engine(RenewRunRequest(session_id=session_id, fence=fence(run))), "RUN_ENDED")
    same((await engine.get(session_id)).active_run_id, "", "the session's active run")


@CATEGORY.promise("A run is asked to end, and hears of it when it renews; `now` ends and fences it at once.")
async def cancelled(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    await engine(CancelRunRequest(session_id=session_id, run_id=run.run_id))
    renewed = (await engine(RenewRunRequest(session_id=session_id, fence=fence(run)))).run
    same((renewed.cancel_requested, renewed.status), (True, RUN_STATUS_RUNNING), "cancel_requested and status")
    await engine(CancelRunRequest(session_id=session_id, run_id=run.run_id, now=True))
    same(await _status(world, run), RUN_STATUS_CANCELLED, "the status")
    await refused(engine.append(session_id, "a", fence=fence(run)), "RUN_FENCED")


@CATEGORY.promise("A run_id is used once in its session.")
async def run_ids_are_used_once(world: World) -> None:
    engine, run_id = world.engine, world.fresh("run")
    session_id = await engine.create()
    run = await engine.run(session_id, run_id=run_id)
    same(run.run_id, run_id, "the run_id")
    await engine(FinishRunRequest(session_id=session_id, fence=fence(run), status=RUN_STATUS_SUCCEEDED))
    await refused(engine.run(session_id, run_id=run_id), "RUN_ENDED")


@CATEGORY.promise("Closing by force ends the run in that commit, and fences it.")
async def closed_by_force(world: World) -> None:
    engine = world.engine
    session_id = await engine.create()
    run = await engine.run(session_id)
    await engine(CloseSessionRequest(session_id=session_id, force=True))
    same(await _status(world, run), RUN_STATUS_CANCELLED, "the status")
    await refused(engine(RenewRunRequest(session_id=session_id, fence=fence(run))), "RUN_FENCED")


@CATEGORY.promise("A lease is between a second and an hour.")
async def leases_have_limits(world: World) -> None:
    session_id = await world.engine.create()
    for seconds in (0.5, 3601.0, -1.0):
        lease = Duration(nanos=500_000_000) if seconds == 0.5 else Duration(seconds=int(seconds))
        await refused(world.engine(StartRunRequest(session_id=session_id, lease=lease)), "INVALID_FIELD", field="lease")
