"""Principals: who calls, made of what a token or a certificate states."""

from typing import TypeGuard

from lockstitch_server.model import CallerRole, Principal

NAME_CHARACTERS_MAX = 128
AGENTS_MAX = 100
CALLERS = (CallerRole.USER, CallerRole.ENGINE, CallerRole.ADMIN)


def is_name(value: object) -> TypeGuard[str]:
    """Whether a value can name a tenant or a subject."""
    return isinstance(value, str) and 1 <= len(value) <= NAME_CHARACTERS_MAX and value.isprintable()


def principal_of(
    *, tenant: object, subject: object, role: CallerRole | None, agents: object = None, acts_for: object = None
) -> Principal | None:
    """The caller that these values state; None where one of them can't be what it should.

    An engine may be narrowed: to sessions of some agents, to those of one user. A statement that narrows and can't be
    read must not widen, so it states nobody; and only an engine's can be narrowed.
    """
    if not is_name(tenant) or not is_name(subject) or role not in CALLERS:
        return None
    if agents is not None and not (
        isinstance(agents, list | tuple) and len(agents) <= AGENTS_MAX and all(is_name(agent) for agent in agents)
    ):
        return None
    if acts_for is not None and not is_name(acts_for):
        return None
    if role is not CallerRole.ENGINE and (agents is not None or acts_for is not None):
        return None
    return Principal(
        tenant_id=tenant,
        subject=subject,
        role=role,
        agents=None if agents is None else frozenset(agents),
        acts_for=acts_for,
    )
