"""How calls are retried: the numbers, and the gRPC service config for whoever calls without this package's client.

``UNAVAILABLE`` is the only code that is retried, with the same request: its ``request_id`` makes that safe. A service
config makes gRPC itself do it, in every language::

    options = [("grpc.service_config", SERVICE_CONFIG)]
    channel = grpc.aio.insecure_channel("127.0.0.1:50051", options=options)
    sessions = SessionServiceStub(channel)

:class:`lockstitch.Client` does not use it: gRPC gives up after five attempts, about two seconds, while the client goes
on until the call's time is up. Two layers would multiply their attempts, so the client turns gRPC's off and keeps to
the same numbers (see ``lockstitch.retries``).
"""

import json

ATTEMPTS_MAX = 5
"""Attempts of one call by gRPC itself, the first one included. gRPC takes no more than 5."""

INITIAL_BACKOFF_SECONDS = 0.1
"""The wait before the first retry, give or take a fifth."""

BACKOFF_MULTIPLIER = 2.0
"""Each further wait is this many times longer …"""

MAX_BACKOFF_SECONDS = 1.0
"""… up to this one."""

RETRY_TOKENS_MAX = 1000
"""The budget of retries: a failure takes one token, a success gives back TOKEN_RATIO, and below half there are no
retries.

The most that gRPC takes, so that 32 calls in flight ride out a restart of ten seconds, while a server that stays away
or is drowning is not called again and again by everybody.
"""

TOKEN_RATIO = 0.1
"""What one success gives back to the budget: under lasting trouble retries add at most a tenth to the load."""

SERVICES = ("lockstitch.v1.SessionService", "lockstitch.v1.RunService", "lockstitch.v1.AdminService")
"""The services whose calls may be retried: all of them, since every change carries a request_id or may be repeated."""

SERVICE_CONFIG = json.dumps(
    {
        "methodConfig": [
            {
                "name": [{"service": service} for service in SERVICES],
                "retryPolicy": {
                    "maxAttempts": ATTEMPTS_MAX,
                    "initialBackoff": f"{INITIAL_BACKOFF_SECONDS}s",
                    "maxBackoff": f"{MAX_BACKOFF_SECONDS}s",
                    "backoffMultiplier": BACKOFF_MULTIPLIER,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ],
        "retryThrottling": {"maxTokens": RETRY_TOKENS_MAX, "tokenRatio": TOKEN_RATIO},
    }
)
"""The service config as the JSON text that the channel option ``grpc.service_config`` takes."""
