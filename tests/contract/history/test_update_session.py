"""A session's title, labels, metadata and life, changed."""

from datetime import timedelta
from typing import Any

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from factories import said
from lockstitch.v1.session_pb2 import Session
from support.histories import whole
from support.rpc import As, Create, Rpc, as_replayed, field_refused, refusal


def asked(session_id: str, *paths: str, **fields: Any) -> dict[str, Any]:
    """What UpdateSession takes: the new values, and which of them are meant."""
    return {"session": Session(session_id=session_id, **fields), "update_mask": FieldMask(paths=paths)}


FIRST: dict[str, Any] = {"title": "t", "labels": {"a": "1", "b": "2"}, "metadata_json": '{"m":1.0}', "agent": "ag"}


async def test_the_mask_says_what_changes_and_what_is_cleared(engine: Rpc, create: Create) -> None:
    session_id = await create(**FIRST)
    before = (await engine.GetSession(session_id=session_id)).session
    told = await engine.UpdateSession(
        **asked(session_id, "title", "metadata_json", title="new", labels={"not": "meant"}), expected_version=1
    )
    expected = Session.FromString(before.SerializeToString())
    expected.title, expected.metadata_json, expected.version = "new", "", 2
    expected.update_time.CopyFrom(told.receipt.commit_time)
    assert told.session == expected == (await engine.GetSession(session_id=session_id)).session
    told = await engine.UpdateSession(**asked(session_id, "labels", labels={"c": "3"}), expected_version=2)
    assert dict(told.session.labels) == {"c": "3"}
    listed = await engine.ListSessions(labels={"c": "3"})
    assert [found.session_id for found in listed.sessions] == [session_id]
    assert not (await engine.ListSessions(labels={"a": "1"})).sessions
    assert (await whole(engine, session_id, 1)).session == before


async def test_it_is_not_activity(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a")])
    before = (await engine.GetSession(session_id=session_id)).session
    after = (await engine.UpdateSession(**asked(session_id, "title", title="x"))).session
    assert after.last_activity_time == before.last_activity_time
    assert after.update_time.ToNanoseconds() > before.update_time.ToNanoseconds()


@pytest.mark.parametrize("paths", [("labels",), ("metadata_json",), ("title", "labels")])
async def test_what_is_computed_from_an_old_value_needs_a_guard(
    engine: Rpc, create: Create, paths: tuple[str, ...]
) -> None:
    session_id = await create(**FIRST)
    change = asked(session_id, *paths, title="x", labels={"z": "9"}, metadata_json="[]")
    unguarded = await refusal(engine.UpdateSession(**change))
    assert (unguarded.code.name, unguarded.reason) == ("INVALID_ARGUMENT", "EXPECTED_VERSION_REQUIRED")
    stale = await refusal(engine.UpdateSession(**change, expected_version=9))
    assert (stale.reason, stale.metadata["current_version"]) == ("VERSION_CONFLICT", "1")
    stale = await refusal(engine.UpdateSession(**change, expected_version=9, force=True))
    assert stale.reason == "VERSION_CONFLICT"
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    assert (await engine.UpdateSession(**change, force=True)).receipt.version == 2


async def test_a_user_may_change_the_title_of_its_own_and_nothing_else(user: Rpc, call_as: As, create: Create) -> None:
    session_id = await create(**FIRST)
    assert (await user.UpdateSession(**asked(session_id, "title", title="mine"))).session.title == "mine"
    for paths in (("labels",), ("title", "metadata_json"), ("expire_time",), ("idle_ttl",)):
        refused = await refusal(user.UpdateSession(**asked(session_id, *paths, title="x"), expected_version=2))
        assert (refused.code.name, refused.reason) == ("PERMISSION_DENIED", "ROLE_NOT_ALLOWED")
    forced = await refusal(user.UpdateSession(**asked(session_id, "title", title="x"), force=True))
    assert forced.reason == "ROLE_NOT_ALLOWED"
    foreign = await refusal(call_as("u2").UpdateSession(**asked(session_id, "title", title="x")))
    unknown = await refusal(call_as("u2").UpdateSession(**asked("never-was", "title", title="x")))
    assert foreign == unknown
    assert foreign.reason == "SESSION_NOT_FOUND"


async def test_equal_values_change_nothing(engine: Rpc, create: Create) -> None:
    session_id = await create(**FIRST)
    same = asked(session_id, "title", "labels", "metadata_json", "idle_ttl", "expire_time", **FIRST)
    told = await engine.UpdateSession(**same, expected_version=1, request_id="same")
    assert (told.receipt.version, told.receipt.replayed, told.session.title) == (1, False, "t")
    # The order of labels is nobody's news; and an unchanged success burns no request_id.
    swapped = asked(session_id, "labels", labels={"b": "2", "a": "1"})
    assert (await engine.UpdateSession(**swapped, expected_version=1, request_id="same")).receipt.version == 1
    assert (await engine.UpdateSession(**asked(session_id, "title"), request_id="same")).receipt.version == 2


async def test_a_replay_gives_the_session_as_of_the_first_answer(engines: tuple[Rpc, Rpc], create: Create) -> None:
    session_id = await create(**FIRST)
    change = asked(session_id, "title", "labels", title="one", labels={"x": "y"}) | {"request_id": "once"}
    first = await engines[0].UpdateSession(**change, expected_version=1)
    for later in (
        engines[0].UpdateSession(**asked(session_id, "title", title="two")),
        engines[1].Append(session_id=session_id, messages=[said("a")]),
        engines[0].CloseSession(session_id=session_id),
    ):
        await later
        again = await engines[1].UpdateSession(**change, expected_version=1)
        assert again.session == first.session
        assert again.receipt == as_replayed(first.receipt)
    # What the mask does not name is not part of the request.
    change["session"].metadata_json = "[7]"
    assert (await engines[1].UpdateSession(**change)).receipt.replayed
    change["session"].title = "other"
    assert (await refusal(engines[0].UpdateSession(**change))).reason == "REQUEST_ID_REUSED"


async def test_a_life_is_given_changed_and_taken_away(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a")])
    now = (await engine.GetSession(session_id=session_id)).session.create_time.ToDatetime()
    ends = Timestamp()
    ends.FromDatetime(now + timedelta(hours=1))
    told = await engine.UpdateSession(
        **asked(session_id, "expire_time", "idle_ttl", expire_time=ends, idle_ttl=timedelta(minutes=5))
    )
    assert (told.session.expire_time, told.session.idle_ttl.ToTimedelta()) == (ends, timedelta(minutes=5))
    told = await engine.UpdateSession(**asked(session_id, "expire_time", "idle_ttl"))
    assert not told.session.HasField("expire_time")
    assert not told.session.HasField("idle_ttl")
    assert (await whole(engine, session_id, 2)).session.expire_time == ends
    past = Timestamp()
    past.FromDatetime(now - timedelta(seconds=1))
    named = await field_refused(engine.UpdateSession(**asked(session_id, "expire_time", expire_time=past)))
    assert named in {"expire_time", "session.expire_time"}
    # Nothing of it was stored.
    assert (await engine.GetSession(session_id=session_id)).session == told.session


@pytest.mark.parametrize(
    ("paths", "fields", "named"),
    [
        ((), {}, "update_mask"),
        (("status",), {}, "update_mask"),
        (("title", "user_id"), {}, "update_mask"),
        (("title",), {"title": "a\nb"}, "session.title"),
        (("title",), {"title": "x" * 1025}, "session.title"),
        (("labels",), {"labels": {"": "x"}}, "session.labels"),
        (("labels",), {"labels": {str(number): "" for number in range(65)}}, "session.labels"),
        (("metadata_json",), {"metadata_json": "{nope"}, "session.metadata_json"),
        (("idle_ttl",), {"idle_ttl": timedelta(0)}, "session.idle_ttl"),
    ],
)
async def test_bad_values_are_named(
    engine: Rpc, create: Create, paths: tuple[str, ...], fields: dict[str, Any], named: str
) -> None:
    session_id = await create(**FIRST)
    told = await field_refused(engine.UpdateSession(**asked(session_id, *paths, **fields), expected_version=1))
    assert told.startswith(named)
    assert (await engine.GetSession(session_id=session_id)).session.version == 1


async def test_a_closed_session_takes_no_changes(engine: Rpc, create: Create) -> None:
    session_id = await create(**FIRST)
    await engine.CloseSession(session_id=session_id)
    refused = await refusal(engine.UpdateSession(**asked(session_id, "title", title="x")))
    assert refused.reason == "SESSION_CLOSED"
