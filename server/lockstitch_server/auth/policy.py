"""Who may do what: the one table of roles, and what a role may reach."""

from enum import Enum

from lockstitch_server.errors import RoleNotAllowed
from lockstitch_server.model import CallerRole, Principal

_EVERYBODY = frozenset({CallerRole.USER, CallerRole.ENGINE, CallerRole.ADMIN})
_ENGINES = frozenset({CallerRole.ENGINE, CallerRole.ADMIN})
_ADMINS = frozenset({CallerRole.ADMIN})


class Claim(Enum):
    """Something that a request does or claims; the value completes "A user may not …"."""

    CREATE_SESSION = "create sessions"
    READ_SESSION = "read sessions"
    LIST_SESSIONS = "list sessions"
    APPEND_USER_MESSAGE = "append USER messages"
    CLOSE_SESSION = "close sessions"
    UPDATE_TITLE = "change a session's title"
    UPDATE_SESSION = "change more of a session than its title"
    CHANGE_MESSAGES = "remove or change messages"
    RESTORE_SESSION = "restore sessions"
    ANSWER_APPROVAL = "answer approvals"
    WRITE_OTHER_ROLES = "write messages that are not USER's"
    WRITE_ORIGINAL = "write a message's original"
    WRITE_AUTHOR = "write a message's author"
    WRITE_MEMORY = "write memory"
    WRITE_TOOL_CALLS = "write tool calls"
    STORE_ORPHANS = "store results without a call"
    FORCE = "use force"
    ACT_FOR_A_USER = "act for another user"
    CHOOSE_SESSION_ID = "choose a session's id here"
    DELETE_SESSION = "delete sessions"
    UNDELETE_SESSION = "undelete sessions"
    CANCEL_RUN = "ask a run to end"
    CANCEL_RUN_NOW = "end a run at once"
    HOLD_RUN = "hold runs"
    WRITE_DRAFT = "write drafts"
    FORK_SESSION = "fork sessions"
    USE_CHECKPOINTS = "use checkpoints"
    PURGE_SESSION = "purge sessions"
    ERASE_USER = "erase users"
    READ_SERVER_INFO = "ask about the server"


_ALLOWED = {
    Claim.CREATE_SESSION: _EVERYBODY,
    Claim.READ_SESSION: _EVERYBODY,
    Claim.LIST_SESSIONS: _EVERYBODY,
    Claim.APPEND_USER_MESSAGE: _EVERYBODY,
    Claim.CLOSE_SESSION: _EVERYBODY,
    Claim.RESTORE_SESSION: _EVERYBODY,
    Claim.UPDATE_TITLE: _EVERYBODY,
    Claim.UPDATE_SESSION: _ENGINES,
    Claim.CHANGE_MESSAGES: _ENGINES,
    Claim.ANSWER_APPROVAL: _EVERYBODY,
    Claim.WRITE_OTHER_ROLES: _ENGINES,
    Claim.WRITE_ORIGINAL: _ENGINES,
    Claim.WRITE_AUTHOR: _ENGINES,
    Claim.WRITE_MEMORY: _ENGINES,
    Claim.WRITE_TOOL_CALLS: _ENGINES,
    Claim.STORE_ORPHANS: _ENGINES,
    Claim.FORCE: _ENGINES,
    Claim.ACT_FOR_A_USER: _ENGINES,
    Claim.DELETE_SESSION: _EVERYBODY,
    Claim.UNDELETE_SESSION: _EVERYBODY,
    Claim.CANCEL_RUN: _EVERYBODY,
    Claim.CANCEL_RUN_NOW: _ENGINES,
    Claim.HOLD_RUN: _ENGINES,
    Claim.WRITE_DRAFT: _ENGINES,
    Claim.FORK_SESSION: _EVERYBODY,
    Claim.USE_CHECKPOINTS: _ENGINES,
    Claim.PURGE_SESSION: _ADMINS,
    Claim.ERASE_USER: _ADMINS,
    Claim.READ_SERVER_INFO: _ENGINES,
}


class Policy:
    """Decides by the table, and by the settings that narrow it."""

    def __init__(self, *, users_choose_session_ids: bool) -> None:
        """Ids share the tenant's namespace, which some keep from users."""
        choosers = _EVERYBODY if users_choose_session_ids else _ENGINES
        self._allowed = {**_ALLOWED, Claim.CHOOSE_SESSION_ID: choosers}

    def require(self, principal: Principal, claim: Claim, field: str = "") -> None:
        """Raise RoleNotAllowed unless the caller's role may do this."""
        if principal.role not in self._allowed[claim]:
            article = "A" if principal.role is CallerRole.USER else "An"
            raise RoleNotAllowed(f"{article} {principal.role.value} may not {claim.value}.", field=field)


def owner(principal: Principal) -> str | None:
    """The user whose sessions alone the caller may reach; None for callers who reach their whole tenant."""
    return principal.subject if principal.role is CallerRole.USER else None
