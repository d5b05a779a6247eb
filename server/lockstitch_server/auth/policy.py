"""Who may do what: the one table of roles, and what a role may reach."""

from enum import Enum

from lockstitch_server.errors import RoleNotAllowed
from lockstitch_server.model import CallerRole, Principal

_BETWEEN = "\x1f"
_USER, _ENGINE, _ADMIN = CallerRole.USER, CallerRole.ENGINE, CallerRole.ADMIN


class Claim(Enum):
    """Something that a request does or claims, in words that complete "A user may not …", and the roles that may.

    A user does it to its own sessions, an engine and an admin to those of their tenant, or of what a token narrows an
    engine to.
    """

    CREATE_SESSION = ("create sessions", _USER, _ENGINE, _ADMIN)
    CHOOSE_SESSION_ID = ("choose a session's id here", _USER, _ENGINE, _ADMIN)
    READ_SESSION = ("read sessions", _USER, _ENGINE, _ADMIN)
    LIST_SESSIONS = ("list sessions", _USER, _ENGINE, _ADMIN)
    APPEND_USER_MESSAGE = ("append USER messages", _USER, _ENGINE, _ADMIN)
    UPDATE_TITLE = ("change a session's title", _USER, _ENGINE, _ADMIN)
    CLOSE_SESSION = ("close sessions", _USER, _ENGINE, _ADMIN)
    RESTORE_SESSION = ("restore sessions", _USER, _ENGINE, _ADMIN)
    DELETE_SESSION = ("delete sessions", _USER, _ENGINE, _ADMIN)
    UNDELETE_SESSION = ("undelete sessions", _USER, _ENGINE, _ADMIN)
    FORK_SESSION = ("fork sessions", _USER, _ENGINE, _ADMIN)
    CANCEL_RUN = ("ask a run to end", _USER, _ENGINE, _ADMIN)
    ANSWER_APPROVAL = ("answer approvals", _USER, _ENGINE, _ADMIN)

    ACT_FOR_A_USER = ("act for another user", _ENGINE, _ADMIN)
    WRITE_MEMORY = ("write memory", _ENGINE, _ADMIN)
    WRITE_OTHER_ROLES = ("write messages that are not USER's", _ENGINE, _ADMIN)
    WRITE_ORIGINAL = ("write a message's original", _ENGINE, _ADMIN)
    WRITE_AUTHOR = ("write a message's author", _ENGINE, _ADMIN)
    WRITE_TOOL_CALLS = ("write tool calls", _ENGINE, _ADMIN)
    STORE_ORPHANS = ("store results without a call", _ENGINE, _ADMIN)
    UPDATE_SESSION = ("change more of a session than its title", _ENGINE, _ADMIN)
    CHANGE_MESSAGES = ("remove or change messages", _ENGINE, _ADMIN)
    HOLD_RUN = ("hold runs", _ENGINE, _ADMIN)
    CANCEL_RUN_NOW = ("end a run at once", _ENGINE, _ADMIN)
    WRITE_DRAFT = ("write drafts", _ENGINE, _ADMIN)
    USE_CHECKPOINTS = ("use checkpoints", _ENGINE, _ADMIN)
    FORCE = ("use force", _ENGINE, _ADMIN)
    READ_SERVER_INFO = ("ask about the server", _ENGINE, _ADMIN)

    PURGE_SESSION = ("purge sessions", _ADMIN)
    ERASE_USER = ("erase users", _ADMIN)

    # Whom a token narrows may not go beyond, whatever the role.
    ACT_FOR_ANOTHER_USER = ("act for a user that its token does not name",)
    ACT_FOR_ANOTHER_AGENT = ("act for an agent that its token does not name",)

    def __init__(self, what: str, *roles: CallerRole) -> None:
        """Take a line of the table apart."""
        self.what = what
        self.roles = frozenset(roles)


class Policy:
    """Decides by the table, and by the settings that narrow it."""

    def __init__(self, *, users_choose_session_ids: bool) -> None:
        """Ids share the tenant's namespace, which some keep from users."""
        self._not_for_users = frozenset[Claim]() if users_choose_session_ids else frozenset({Claim.CHOOSE_SESSION_ID})

    def require(self, principal: Principal, claim: Claim, field: str = "") -> None:
        """Raise RoleNotAllowed unless the caller's role may do this."""
        is_user = principal.role is CallerRole.USER
        if principal.role not in claim.roles or (is_user and claim in self._not_for_users):
            raise RoleNotAllowed(
                f"{'A' if is_user else 'An'} {principal.role.value} may not {claim.what}.", field=field
            )


def owner(principal: Principal) -> str | None:
    """The user whose sessions alone the caller may reach; None for callers who reach those of all."""
    return principal.subject if principal.role is CallerRole.USER else principal.acts_for


def reach_of(principal: Principal) -> str | None:
    """What of its tenant the caller may reach, as lockstitch.reaches_v1 reads it; None for all of it."""
    if principal.agents is None:
        return owner(principal)
    return _BETWEEN.join(["", owner(principal) or "", *sorted(principal.agents)])
