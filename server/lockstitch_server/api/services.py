"""What the servicers call."""

from dataclasses import dataclass

from lockstitch_server.model import StoreIdentity
from lockstitch_server.service.append import Appends
from lockstitch_server.service.checkpoints import Checkpoints
from lockstitch_server.service.commits import Commits
from lockstitch_server.service.context import Contexts
from lockstitch_server.service.drafts import Drafts
from lockstitch_server.service.erasure import Erasure
from lockstitch_server.service.memory import Memories
from lockstitch_server.service.messages import Messages
from lockstitch_server.service.runs import Runs
from lockstitch_server.service.sessions import Sessions
from lockstitch_server.service.tool_calls import ToolCalls
from lockstitch_server.subscribe.epoch import StoreEpoch
from lockstitch_server.subscribe.limits import StreamLimits
from lockstitch_server.subscribe.stream import Streams


@dataclass(frozen=True, slots=True)
class Services:
    """The rules, a topic each, and the store that they work on."""

    identity: StoreIdentity
    sessions: Sessions
    appends: Appends
    memories: Memories
    tool_calls: ToolCalls
    messages: Messages
    runs: Runs
    checkpoints: Checkpoints
    commits: Commits
    contexts: Contexts
    drafts: Drafts
    erasure: Erasure
    epoch: StoreEpoch
    streams: Streams
    stream_limits: StreamLimits
