"""Ids that are functions of what they name, so that they need not be stored."""

import hashlib
import re
from functools import lru_cache
from uuid import UUID

from lockstitch_server.model import SessionKey

_SESSION_KEYS_KEPT = 16_384
"""Of sessions that are called about again and again; each takes about 400 bytes."""

_SERVER_SESSION_PREFIX = "sess_"
_MESSAGE_PREFIX = "msg_"
_RUN_PREFIX = "run_"
_MESSAGE = re.compile(r"msg_([0-9a-f]{16})_([1-9][0-9]{0,17})")
_TOOL_CALL = re.compile(r"call_([0-9a-f]{16})_([1-9][0-9]{0,17})_(0|[1-9][0-9]{0,8})")


@lru_cache(maxsize=_SESSION_KEYS_KEPT)
def session_key(tenant_id: str, session_id: str) -> SessionKey:
    """The key of a session's rows: the first 16 bytes of SHA-256 over tenant and session id, which hold no NUL."""
    return SessionKey(_hash16(f"{tenant_id}\0{session_id}"))


def request_id_hash(request_id: str) -> UUID:
    """The first 16 bytes of SHA-256 of a request_id."""
    return _hash16(request_id)


def server_session_id(tenant_id: str, user_id: str, request_id: str) -> str:
    """The id of a session whose creator named none: a repeat of the request finds the same session."""
    return _SERVER_SESSION_PREFIX + _hash16(f"{tenant_id}\0{user_id}\0{request_id}").hex


def server_fork_id(tenant_id: str, session_id: str, request_id: str) -> str:
    """The id of a fork whose maker named none: a repeat of the request finds the same session."""
    return _SERVER_SESSION_PREFIX + _hash16(f"{tenant_id}\0fork\0{session_id}\0{request_id}").hex


def is_server_session_id(session_id: str) -> bool:
    """Whether only the server may give this session id."""
    return session_id.startswith(_SERVER_SESSION_PREFIX)


def message_id(key: SessionKey, seq: int) -> str:
    """The id of a message whose sender named none."""
    return f"{message_id_prefix(key)}{seq}"


def message_id_prefix(key: SessionKey) -> str:
    """What stands before the seq in the id of a message whose sender named none."""
    return f"{_MESSAGE_PREFIX}{key.hex[:16]}_"


def parse_message_id(key: SessionKey, candidate: str) -> int | None:
    """The seq of a server's id of a message of this session; None for anything else."""
    match = _MESSAGE.fullmatch(candidate)
    return int(match[2]) if match is not None and match[1] == key.hex[:16] else None


def is_server_message_id(candidate: str) -> bool:
    """Whether only the server may give this message id."""
    return candidate.startswith(_MESSAGE_PREFIX)


def tool_call_id(key: SessionKey, requested_version: int, position: int) -> str:
    """The ledger's id of the call that a commit recorded at a position."""
    return f"call_{key.hex[:16]}_{requested_version}_{position}"


def parse_tool_call_id(key: SessionKey, candidate: str) -> tuple[int, int] | None:
    """(requested_version, position) of a ledger id of this session; None for anything else."""
    match = _TOOL_CALL.fullmatch(candidate)
    if match is None or match[1] != key.hex[:16]:
        return None
    return int(match[2]), int(match[3])


def run_id(key: SessionKey, request_id_hash: UUID) -> str:
    """The id of a run whose starter named none: a repeat of the request names the same run."""
    return f"{_RUN_PREFIX}{_hash16(f'{key.hex}{request_id_hash.hex}').hex}"


def _hash16(text: str) -> UUID:
    return UUID(bytes=hashlib.sha256(text.encode()).digest()[:16])
