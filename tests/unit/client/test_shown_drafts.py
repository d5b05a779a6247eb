from hashlib import sha256
from typing import Any

import grpc
import pytest

from lockstitch import Client
from lockstitch.types import Commit, Draft
from lockstitch.v1.subscription_pb2 import SubscribeResponse, SubscriptionOpened

OPENED = SubscribeResponse(opened=SubscriptionOpened(store_epoch="e", version=1))


def piece(offset: int, text: str, draft_id: str = "d1") -> SubscribeResponse:
    return SubscribeResponse(draft=Draft(draft_id=draft_id, offset=offset, text=text))


def commit(version: int, request_id: str) -> SubscribeResponse:
    return SubscribeResponse(commit=Commit(version=version, request_id_hash=sha256(request_id.encode()).digest()[:16]))


async def shown(scripted: Any, count: int, *, drafts: bool = True) -> list[Any]:
    given: list[Any] = []
    async with Client(scripted.target, token="t") as client:
        session = client.session("s")
        following = session.subscribe(drafts=True) if drafts else session.subscribe()
        async for one in following:
            given.append(one.version if isinstance(one, Commit) else (one.draft_id, one.offset, one.text))
            if len(given) == count:
                break
        await following.aclose()
    return given


async def test_a_further_stream_repeats_no_text(scripted: Any, fail: Any) -> None:
    lost = fail(grpc.StatusCode.UNAVAILABLE)
    scripted.will_stream(OPENED, piece(0, "é"), piece(2, "b"), lost)
    scripted.will_stream(OPENED, piece(0, "é"), piece(2, "b"), piece(3, "c"), lost)
    scripted.will_stream(OPENED, piece(0, "ébcd"), piece(5, "e"))
    assert await shown(scripted, 5) == [("d1", 0, "é"), ("d1", 2, "b"), ("d1", 3, "c"), ("d1", 4, "d"), ("d1", 5, "e")]


@pytest.mark.parametrize("ending", ["d1", "server:draft/d1", "server:draft/d1/2"])
async def test_a_draft_that_ended_begins_anew(scripted: Any, ending: str) -> None:
    scripted.will_stream(OPENED, piece(0, "abc"), commit(2, ending), piece(0, "x"))
    assert await shown(scripted, 3) == [("d1", 0, "abc"), 2, ("d1", 0, "x")]


async def test_a_commit_of_something_else_ends_no_draft(scripted: Any, fail: Any) -> None:
    scripted.will_stream(OPENED, piece(0, "abc"), commit(2, "another"), fail(grpc.StatusCode.UNAVAILABLE))
    scripted.will_stream(OPENED, piece(0, "abcd"), piece(0, "x", "d2"))
    assert await shown(scripted, 4) == [("d1", 0, "abc"), 2, ("d1", 3, "d"), ("d2", 0, "x")]


async def test_drafts_are_left_out_unless_asked_for(scripted: Any) -> None:
    scripted.will_stream(OPENED, piece(0, "abc"), commit(2, "d1"))
    assert await shown(scripted, 1, drafts=False) == [2]
