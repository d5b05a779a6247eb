"""Frames of a subscription; a commit's is made, and serialized, once for all streams that want the same of it."""

from typing import Any, cast

from lockstitch.v1 import subscription_pb2 as pb
from lockstitch_server.api import checks
from lockstitch_server.api.convert import commits
from lockstitch_server.model import Commit, MessageRole
from lockstitch_server.subscribe.drafts import Drafted
from lockstitch_server.subscribe.feed import LiveCommit
from lockstitch_server.subscribe.stream import CaughtUp, Event, FellBehind, GoingAway, Heartbeat, Opened

Roles = frozenset[MessageRole]


def frame(event: Event, roles: Roles, store_epoch: str) -> pb.SubscribeResponse:
    """The frame of an event, with a commit's messages of these roles only, where there are some."""
    response = pb.SubscribeResponse()
    match event:
        case LiveCommit():
            if roles not in event.frames:
                event.frames[roles] = _commit(event.commit, roles).SerializeToString()
            return cast("pb.SubscribeResponse", event.frames[roles])  # what is bytes already is sent as it is
        case Drafted(draft_id, role, run_id, offset, text):
            response.draft.MergeFrom(
                pb.Draft(draft_id=draft_id, offset=offset, text=text, role=cast("Any", role), run_id=run_id)
            )
        case Opened(version):
            return pb.SubscribeResponse(opened=pb.SubscriptionOpened(store_epoch=store_epoch, version=version))
        case CaughtUp(version):
            return pb.SubscribeResponse(caught_up=pb.CaughtUp(version=version))
        case FellBehind(version):
            return pb.SubscribeResponse(fell_behind=pb.FellBehind(version=version))
        case Heartbeat(version):
            return pb.SubscribeResponse(heartbeat=pb.Heartbeat(version=version))
        case GoingAway(version, reconnect_after):
            response.draining.version = version
            checks.to_duration(reconnect_after, response.draining.reconnect_after)
    return response


def _commit(commit: Commit, roles: Roles) -> pb.SubscribeResponse:
    shown = [message.seq for message in commit.messages if not roles or message.role in roles]
    response = pb.SubscribeResponse()
    commits.fill(response.commit, commit, frozenset(shown))
    return response
