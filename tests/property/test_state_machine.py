"""Random calls of several callers on two servers of one database: every answer is the model's."""

import os
from collections import Counter
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.databases import Database
from support.lockstep import Lockstep, Servers
from support.machine.sessions import Sessions

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = (None,) if LONG else range(9)
PROFILE = settings(
    max_examples=2000 if LONG else 10,  # those behind the tenth are mostly variations of one another
    stateful_step_count=80 if LONG else 40,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink) if LONG else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
REACHED = {
    *("RUN_ACTIVE", "RUN_FENCED", "RUN_ENDED", "RUN_NOT_FOUND", "VERSION_CONFLICT", "EXPECTED_VERSION_REQUIRED"),
    *("SESSION_CLOSED", "SESSION_EXPIRED", "SESSION_DELETED", "SESSION_EXISTS", "CURSOR_AHEAD", "REQUEST_ID_REUSED"),
    *("TOOL_CALL_ENDED", "TOOL_CALL_STATUS", "TOOL_CALL_AMBIGUOUS", "TOOL_CALL_NOT_FOUND"),
    *("calls were interrupted with their run", "a draft was lost under a run", "swept"),
    *("RUN_STATUS_SUPERSEDED by StartRunRequest", "RUN_STATUS_EXPIRED by StartRunRequest"),
    *("RUN_STATUS_CANCELLED by CancelRunRequest", "RUN_STATUS_CANCELLED by DeleteSessionRequest"),
    *("ForkSession INVALID_FIELD", "a fork of the present", "a fork of an earlier version"),
    *("a fork with a call whose outcome is not known", "a value was shared", "writes came before their checkpoint"),
    *("PutCheckpoint INVALID_FIELD", "PutCheckpoint RUN_FENCED", "CopyCheckpoints OK", "checkpoints were deleted"),
    *("a checkpoint was replaced by PutCheckpointRequest", "a checkpoint was replaced by CopyCheckpointsRequest"),
}
"""What the machine must have met: one that does not says nothing."""


@pytest.mark.timeout(24 * 3600 if LONG else 600)
def test_every_answer_is_the_models(servers: Servers, database: Database) -> None:
    tally: Counter[str] = Counter()
    for number in SEEDS:
        machine = cast("type[Sessions]", lambda: Sessions(Lockstep(servers), database, tally))
        run_state_machine_as_test(machine if number is None else seed(number)(machine), settings=PROFILE)
    missed = REACHED - tally.keys()
    assert not missed
