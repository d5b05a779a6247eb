"""Identity, put together from the settings: whose tokens are believed, and whom certificates stand for."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from lockstitch_server.auth import keys
from lockstitch_server.auth.certificates import Certificates
from lockstitch_server.auth.key_sets import IssuerKeys
from lockstitch_server.auth.principals import principal_of
from lockstitch_server.auth.tokens import ClaimNames, Issuer, TokenVerifier
from lockstitch_server.config import CertificateSetting, IssuerSetting, Settings
from lockstitch_server.model import CallerRole, Principal
from lockstitch_server.startup import StartupError


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls, by token or by certificate."""

    tokens: TokenVerifier
    certificates: Certificates


@asynccontextmanager
async def running_identity(settings: Settings) -> AsyncIterator[Identity]:
    """Believe whom the settings name, and keep their keys up to date, until the context ends."""
    async with AsyncExitStack() as running:
        issuers = [Issuer.ourselves(keys.load_or_make(settings.data_dir))] if settings.accept_own_tokens else []
        for setting in settings.issuers:
            issuer_keys = IssuerKeys(
                setting.jwks, refresh_interval=settings.jwks_refresh_interval, stale_max=settings.jwks_stale_max
            )
            await running.enter_async_context(issuer_keys.running())
            issuers.append(_issuer(setting, issuer_keys))
        names = [issuer.name for issuer in issuers]
        if len(set(names)) < len(names):
            raise StartupError("an issuer is named twice in LOCKSTITCH_ISSUERS")
        if not issuers and not settings.client_certificates:
            raise StartupError("nobody could call: no tokens are believed and no client certificates are known")
        yield Identity(TokenVerifier(issuers), Certificates(_certificates(settings)))


def _issuer(setting: IssuerSetting, issuer_keys: IssuerKeys) -> Issuer:
    return Issuer(
        name=setting.issuer,
        audience=setting.audience,
        keys=issuer_keys,
        claims=ClaimNames(
            tenant=setting.tenant_claim,
            subject=setting.subject_claim,
            role=setting.role_claim,
            agents=setting.agents_claim,
            acts_for=setting.acts_for_claim,
        ),
        roles={word: CallerRole(role) for word, role in setting.roles.items()},
    )


def _certificates(settings: Settings) -> dict[str, Principal]:
    return {setting.identity: _principal(setting) for setting in settings.client_certificates}


def _principal(setting: CertificateSetting) -> Principal:
    principal = principal_of(
        tenant=setting.tenant,
        subject=setting.subject or setting.identity,
        role=CallerRole(setting.role),
        agents=setting.agents,
        acts_for=setting.acts_for,
    )
    if principal is None:
        raise StartupError(f"LOCKSTITCH_CLIENT_CERTIFICATES: what {setting.identity!r} stands for is not a caller")
    return principal
