"""Where the server is called, and by whom."""

from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lockstitch_server.config.units import Duration


class IssuerSetting(BaseModel):
    """Somebody whose tokens are believed, in `issuers`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str
    """The `iss` of its tokens, exactly."""
    audience: str
    """What their `aud` must name."""
    jwks: str
    """Where its keys are: an `https` URL, or a file."""
    tenant_claim: str = "tenant"
    subject_claim: str = "sub"
    role_claim: str = "role"
    agents_claim: str = "agents"
    """An engine's token may list agents: it then reaches their sessions alone."""
    acts_for_claim: str = "acts_for"
    """An engine's token may name a user: it then reaches that user's sessions alone."""
    roles: dict[str, Literal["user", "engine", "admin"]] = {"user": "user", "engine": "engine", "admin": "admin"}
    """What its words for roles mean here."""


class CertificateSetting(BaseModel):
    """Whom a client certificate stands for, in `client_certificates`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    identity: str
    """The certificate's SPIFFE id (`spiffe://…`), or `cn:` and its common name where it has none."""
    tenant: str
    role: Literal["user", "engine", "admin"]
    subject: str = ""
    """Who it is; the identity where this is left out."""
    agents: tuple[str, ...] | None = None
    acts_for: str | None = None


class AccessSettings(BaseModel):
    """Where the server is called, and by whom."""

    listen: str = "127.0.0.1:50051"
    """`HOST:PORT` to serve on. Port 0 picks a free one, which the ready line names.

    Anything but loopback needs TLS (`tls_certificate`), or `allow_plaintext`. Defaults to `127.0.0.1:50051`.
    """

    allow_plaintext: bool = False
    """Serve without TLS on an address that is not loopback.

    Tokens and content then cross the network as they are: for a proxy or a mesh beside the server that speaks TLS for
    it. Defaults to false: refuse.
    """

    tls_certificate: Path | None = None
    """The server's certificate chain, PEM. It and the files below are read again when they change, without a restart.

    Defaults to none: plain text, on loopback only.
    """

    tls_key: Path | None = None
    """The private key of `tls_certificate`, PEM. Defaults to none."""

    tls_client_authority: Path | None = None
    """The authority that callers' certificates must come from, PEM; with it no connection is taken without one.

    Whom they stand for says `client_certificates`; a token, where one is sent, goes first. Defaults to none.
    """

    client_certificates: tuple[CertificateSetting, ...] = ()
    """Whom client certificates stand for, as JSON: `[{"identity": "spiffe://…", "tenant": "t", "role": "engine"}]`.

    A certificate that is not named opens nothing by itself. Defaults to none.
    """

    issuers: tuple[IssuerSetting, ...] = ()
    """Whose tokens are believed beside our own, as JSON: `[{"issuer": "…", "audience": "…", "jwks": "https://…"}]`.

    EdDSA, ES256 and RS256 (2,048 bits and more), with `exp`, `nbf`, `iss` and `aud`. Claims may be given other names:
    `tenant_claim`, `subject_claim`, `role_claim`, `agents_claim`, `acts_for_claim`, and `roles` maps an issuer's words
    for roles to ours. Defaults to none.
    """

    accept_own_tokens: bool = True
    """Believe tokens that `lockstitch-server token` signed with the data folder's key.

    Turn it off where real issuers are set, so that nobody who reads that folder can call. Defaults to true.
    """

    jwks_refresh_interval: Duration = timedelta(minutes=5)
    """How often issuers' keys are read again; a token with an unknown key makes it happen at once, every 10 s at most.

    A key that was withdrawn is believed for this long at most. Defaults to 5 minutes.
    """

    jwks_stale_max: Duration = timedelta(hours=12)
    """How long the keys that were read last are good while they can't be read again.

    Longer rides out an issuer's outage, and believes a withdrawn key for longer. Defaults to 12 hours.
    """

    reflection: bool = True
    """Answer gRPC reflection, so that grpcurl and the like work without the protos.

    It shows the API's shape, which is public, to whoever can connect. Defaults to true.
    """

    health: bool = True
    """Answer `grpc.health.v1`, without a token, for probes and balancers.

    It says nothing but whether this process serves. Turn it off where nobody asks. Defaults to true.
    """
