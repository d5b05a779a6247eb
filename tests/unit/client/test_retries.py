import json
from datetime import timedelta
from itertools import islice
from typing import Any

import grpc
import pytest

from lockstitch import Client, retries, service_config, user
from lockstitch.errors import CommitOutcomeUnknown, DatabaseUnavailable, DeadlineExceeded, Overloaded, Unavailable
from lockstitch.types import Session
from lockstitch.v1 import session_service_pb2 as sessions
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
SOON = timedelta(milliseconds=600)


async def test_unavailable_is_retried_with_the_same_request(scripted: Any, fail: Any) -> None:
    scripted.will(fail(UNAVAILABLE, "COMMIT_OUTCOME_UNKNOWN"), fail(UNAVAILABLE, "DRAINING"))
    async with Client(scripted.target, token="t") as client:
        await client.session("s").append(messages=[user("hi")])
    assert len(scripted.requests) == 3
    assert scripted.requests[0] == scripted.requests[1] == scripted.requests[2]
    assert scripted.requests[0].request_id


async def test_two_changes_have_two_request_ids(scripted: Any) -> None:
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        await session.append(messages=[user("hi")])
        await session.append(messages=[user("hi")])
        await session.append(messages=[user("hi")], request_id="mine")
    first, second, third = (request.request_id for request in scripted.requests)
    assert first != second
    assert third == "mine"


async def test_only_one_layer_retries(scripted: Any, fail: Any) -> None:
    # Were gRPC's own retries on as well, each attempt of ours would be several.
    scripted.will(fail(UNAVAILABLE, "DRAINING"), fail(grpc.StatusCode.INTERNAL, "INTERNAL"))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(Exception, match="It failed"):
            await client.get("s")
    assert len(scripted.requests) == 2


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.ABORTED, grpc.StatusCode.INTERNAL, grpc.StatusCode.RESOURCE_EXHAUSTED]
)
async def test_nothing_else_is_retried(scripted: Any, fail: Any, code: grpc.StatusCode) -> None:
    scripted.will(fail(code))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(Exception, match="It failed"):
            await client.get("s")
    assert len(scripted.requests) == 1


async def test_the_last_failure_is_raised_when_the_time_is_up(scripted: Any, fail: Any) -> None:
    scripted.will(*(fail(UNAVAILABLE, "DATABASE_UNAVAILABLE") for _ in range(50)))
    async with Client(scripted.target, token="t", timeout=SOON) as client:
        with pytest.raises(DatabaseUnavailable):
            await client.get("s")
    assert 1 < len(scripted.requests) < 50


async def test_a_calls_own_timeout_wins(scripted: Any, fail: Any) -> None:
    scripted.will(*(fail(UNAVAILABLE, "DATABASE_UNAVAILABLE") for _ in range(50)))
    async with Client(scripted.target, token="t", timeout=timedelta(hours=1)) as client:
        with pytest.raises(DatabaseUnavailable):
            await client.get("s", timeout=SOON)


async def test_a_negative_pushback_forbids_a_retry(scripted: Any, fail: Any) -> None:
    scripted.will(fail(UNAVAILABLE, "OVERLOADED", pushback="-1"))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(Overloaded):
            await client.get("s")
    assert len(scripted.requests) == 1


async def test_a_pushback_sets_the_wait(scripted: Any, fail: Any) -> None:
    scripted.will(*(fail(UNAVAILABLE, "OVERLOADED", pushback="0") for _ in range(20)), sessions.GetSessionResponse())
    async with Client(scripted.target, token="t") as client:
        # Twenty waits of our own would take longer than this.
        await client.get("s", timeout=timedelta(seconds=5))
    assert len(scripted.requests) == 21


@pytest.mark.parametrize("asked", [{"pushback": "60000"}, {"retry_seconds": 60}])
async def test_a_wait_beyond_the_time_left_ends_the_call(scripted: Any, fail: Any, asked: dict[str, Any]) -> None:
    scripted.will(fail(UNAVAILABLE, "COMMIT_OUTCOME_UNKNOWN", **asked))
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(CommitOutcomeUnknown) as caught:
            await client.session("s").close()
    assert len(scripted.requests) == 1
    assert caught.value.request_id == scripted.requests[0].request_id


async def test_a_fresh_token_is_asked_for_at_every_attempt(scripted: Any, fail: Any) -> None:
    tokens = iter(["first", "second"])

    async def token() -> str:
        return next(tokens)

    scripted.will(fail(UNAVAILABLE, "DRAINING"))
    async with Client(scripted.target, token=token) as client:
        await client.get("s")
    assert scripted.tokens == ["Bearer first", "Bearer second"]


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with Client("127.0.0.1:1", token="t", timeout=SOON) as client:
        with pytest.raises(Unavailable) as caught:
            await client.get("s")
    assert caught.value.reason == ""


async def test_no_answer_in_time_is_a_timeout(scripted: Any) -> None:
    answered: list[bool] = []

    def late(context: grpc.ServicerContext) -> sessions.GetSessionResponse:
        answered.append(context.is_active())
        while context.is_active():  # the deadline ends it
            pass
        return sessions.GetSessionResponse()

    scripted.will(late)
    async with Client(scripted.target, token="t") as client:
        with pytest.raises(DeadlineExceeded) as caught:
            await client.get("s", timeout=SOON)
    assert isinstance(caught.value, TimeoutError)


def test_waits_grow_to_their_most_and_differ() -> None:
    first = list(islice(retries.waits(), 40))
    for attempt, wait in enumerate(first):
        middle = min(0.1 * 2**attempt, 1.0)
        assert middle * 0.8 <= wait <= middle * 1.2
    assert first != list(islice(retries.waits(), 40))


def test_retries_end_when_half_the_budget_is_gone_and_come_back_with_successes() -> None:
    budget = retries.RetryBudget()
    allowed = [budget.failed() for _ in range(600)]
    assert allowed.index(False) == 499
    for _ in range(1011):
        budget.succeeded()
    assert budget.failed()


async def test_the_service_config_makes_grpc_itself_retry(scripted: Any, fail: Any) -> None:
    scripted.will(fail(UNAVAILABLE, "DRAINING"), fail(UNAVAILABLE, "DRAINING"))
    scripted.will(sessions.GetSessionResponse(session=Session(session_id="s")))
    options = [("grpc.service_config", service_config.SERVICE_CONFIG)]
    async with grpc.aio.insecure_channel(scripted.target, options=options) as channel:
        response = await SessionServiceStub(channel).GetSession(sessions.GetSessionRequest(session_id="s"), timeout=20)
    assert response.session.session_id == "s"
    assert len(scripted.requests) == 3


def test_the_service_config_names_every_service_and_one_code() -> None:
    config = json.loads(service_config.SERVICE_CONFIG)
    method = config["methodConfig"][0]
    assert {name["service"] for name in method["name"]} == set(service_config.SERVICES)
    assert method["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert config["retryThrottling"] == {"maxTokens": 1000, "tokenRatio": 0.1}
