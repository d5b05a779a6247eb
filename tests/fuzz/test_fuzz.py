"""Whatever is sent, the answer is an answer: never a bug's, never a crash; and what was accepted comes back exactly.

LOCKSTITCH_FUZZ_SECONDS says for how long: 20 by default, 300 in `make fuzz`.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from factories import called, fresh, said
from lockstitch.v1.message_pb2 import ROLE_TOOL
from lockstitch_server.server_process import ServerProcess
from support.fuzzed import POOL_SIZE, POOLS, damaged, requests
from support.matrix import RPCS, request_of
from support.rpc import BUGS, taken_apart

SECONDS = float(os.environ.get("LOCKSTITCH_FUZZ_SECONDS", "20"))
BATCH = 60
BATCHES_MIN = 10
"""On a machine that is busy with other things too, so that enough is drawn to say something."""

CALL_SECONDS = 15
ROLES = ("engine", "engine", "admin", "user")
pytestmark = pytest.mark.timeout(SECONDS + 160)


class Wire:
    """Calls on one channel that take whatever they are given."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.channel = grpc.insecure_channel(server.target)
        self.tenant = fresh("tenant")

    def token(self, role: str) -> str:
        return f"Bearer {self.server.token(tenant=self.tenant, user='u1', role=role)}"

    def send(self, rpc: str, bodies: list[bytes], authorization: str) -> bytes | grpc.StatusCode:
        """Give the answer, a stream's first; or the code of a refusal, which must be a whole one."""
        method: Any = RPCS[rpc]
        kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
        call = getattr(self.channel, kind)(f"/{method.containing_service.full_name}/{rpc}")
        given_bodies = iter(bodies) if method.client_streaming else bodies[0]
        try:
            answer = call(given_bodies, metadata=[("authorization", authorization)], timeout=CALL_SECONDS)
            if not method.server_streaming:
                return bytes(answer)
            first = bytes(next(answer))
            answer.cancel()
        except grpc.RpcError as error:
            return self._told(error, rpc, bodies)
        return first

    def _told(self, error: Any, rpc: str, bodies: list[bytes]) -> grpc.StatusCode:
        told = f"{rpc}: {error.code()} {error.details()}: {bodies!r}"
        assert error.code() not in BUGS, told
        assert error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED, told
        code: grpc.StatusCode = taken_apart(error).code
        return code

    def ask(self, rpc: str, **fields: Any) -> Any:
        """Give the answer of a call of an engine that must succeed."""
        body = request_of(rpc, **fields).SerializeToString()
        answer = self.send(rpc, [body], self.token("engine"))
        assert isinstance(answer, bytes), (rpc, fields, answer)
        return answer_of(rpc, answer)

    def fill_pools(self) -> None:
        """Make sessions, of which one is in a run, and put the names of what they hold into the pools."""
        names: dict[str, list[str]] = {"user_id": ["u1", "u2"], "session_id": [], "page_token": [], "run_id": []}
        names |= {"message_id": [], "tool_call_id": [], "call_id": ["c1", "c2"]}
        for _ in range(3):
            session_id = fresh("session")
            messages = [said("hello"), called("c1", "c2"), said("there", message_id="mine")]
            receipt = self.ask("CreateSession", session_id=session_id, user_id="u1", messages=messages).receipt
            names["session_id"].append(session_id)
            names["message_id"] += receipt.message_ids
            names["tool_call_id"] += receipt.tool_call_ids
            names["run_id"].append(self.ask("StartRun", session_id=session_id).run.run_id)
            names["page_token"].append(self.ask("ListMessages", session_id=session_id, page_size=1).next_page_token)
        for name, known in names.items():
            POOLS[name] = [known[place % len(known)] for place in range(POOL_SIZE)]


def answer_of(rpc: str, answer: bytes) -> Any:
    return GetMessageClass(RPCS[rpc].output_type).FromString(answer)


@pytest.fixture(scope="module")
def wire(server: ServerProcess) -> Iterator[Wire]:
    made = Wire(server)
    yield made
    made.ask("GetServerInfo")
    assert server.process.poll() is None
    made.channel.close()


def in_batches(
    share: float,
    wire: Wire,
    check: Callable[..., None],
    *strategies: st.SearchStrategy[Any],
    enough: Callable[[], bool] = lambda: True,
) -> int:
    """Draw for a share of the time, each batch on sessions of its own; say how many were drawn.

    On a slow machine that is as few as chance likes, so a test says what is `enough`; ten times the least is, anyway.
    """
    drawn, ends = 0, time.monotonic() + share * SECONDS

    def goes_on() -> bool:
        least = BATCHES_MIN * BATCH
        return time.monotonic() < ends or drawn < least or (drawn < 10 * least and not enough())

    while goes_on():
        wire.fill_pools()

        @seed(drawn)
        @settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            # What is found is told as it was sent: the sessions that it met can't be met again.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.tuples(*strategies))
        def batch(arguments: tuple[Any, ...]) -> None:
            if goes_on():
                check(*arguments)

        batch()
        drawn += BATCH
    return drawn


def test_every_request_gets_an_answer_and_what_is_accepted_comes_back(wire: Wire) -> None:
    accepted: set[str] = set()
    asked: set[str] = set()

    def check(drawn: tuple[str, Any], role: str) -> None:
        rpc, made = drawn
        steps = made if isinstance(made, list) else [made]
        asked.add(rpc)
        answer = wire.send(rpc, [step.SerializeToString() for step in steps], wire.token(role))
        if isinstance(answer, bytes):
            accepted.add(rpc)
            comes_back(wire, rpc, steps[0], answer_of(rpc, answer))

    every = st.sampled_from(sorted(RPCS)).flatmap(lambda rpc: st.tuples(st.just(rpc), requests(rpc)))

    def as_plausible_as_wild() -> bool:
        return bool({"Append", "ListMessages"} & accepted) and len(accepted) > len(asked) / 3

    drawn = in_batches(0.7, wire, check, every, st.sampled_from(ROLES), enough=as_plausible_as_wild)
    assert drawn >= BATCH
    # Not only refusals.
    assert as_plausible_as_wild(), (accepted, asked)


def comes_back(wire: Wire, rpc: str, sent: Any, answer: Any) -> None:
    """Read what a request stored, and compare it."""
    if rpc == "CreateSession":
        for name in ("title", "metadata_json", "labels", "agent"):
            assert getattr(answer.session, name) == getattr(sent, name), (rpc, name, sent)
        stored(wire, answer.session.session_id, sent.messages, answer.receipt)
    elif rpc == "Append":
        stored(wire, sent.session_id, sent.messages, answer.receipt)
    elif rpc == "UpdateMessage":
        same(sent.message, answer.message)


def stored(wire: Wire, session_id: str, sent: Any, receipt: Any) -> None:
    if not sent or receipt.replayed:
        return
    found = wire.ask("ListMessages", session_id=session_id, after_seq=receipt.first_seq - 1, page_size=1000).messages
    for one, other in zip(sent, found, strict=False):
        same(one, other)
    assert len(found) >= len(sent)


def same(sent: Any, found: Any) -> None:
    for name in ("role", "author", "metadata_json", "usage", "incomplete", "original"):
        assert getattr(found, name) == getattr(sent, name), (name, sent, found)
    assert not sent.message_id or found.message_id == sent.message_id
    if sent.role != ROLE_TOOL:  # there the server names the call
        assert list(found.parts) == list(sent.parts), (sent, found)


def test_any_bytes_and_any_token_get_an_answer(wire: Wire) -> None:
    def check(drawn: tuple[str, bytes], token: str | None) -> None:
        rpc, body = drawn
        wire.send(rpc, [body], wire.token("admin") if token is None else token)

    rpcs = sorted(RPCS)
    bodies = st.sampled_from(rpcs).flatmap(
        lambda rpc: st.tuples(
            st.just(rpc),
            requests(rpc).flatmap(
                lambda made: damaged((made[0] if isinstance(made, list) else made).SerializeToString())
            )
            | st.binary(max_size=300),
        )
    )
    printable = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200)
    real = wire.token("engine").removeprefix("Bearer ")
    tokens = st.one_of(
        printable,
        printable.map("Bearer {}".format),
        st.tuples(st.integers(0, len(real)), printable).map(lambda cut: f"Bearer {real[: cut[0]]}{cut[1]}"),
    )
    assert in_batches(0.3, wire, check, bodies, st.none() | tokens)
