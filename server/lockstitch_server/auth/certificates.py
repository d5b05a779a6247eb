"""Client certificates: whom a verified one stands for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cryptography import x509

from lockstitch_server.model import Principal

CertificateContext = Mapping[str, Iterable[bytes]]
"""What gRPC says of a peer: its names and its certificate, verified by TLS."""

_SPIFFE = "spiffe://"
_CACHE_MAX = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    principal: Principal
    expires: float


class Certificates:
    """Maps identities to principals: a SPIFFE id, or `cn:` and a common name where the certificate has no SPIFFE id."""

    def __init__(self, principals: Mapping[str, Principal]) -> None:
        """Whoever is not named is nobody."""
        self._principals = dict(principals)
        self._known: dict[bytes, _Known | None] = {}

    def principal(self, peer: CertificateContext) -> tuple[Principal, float] | None:
        """Whom the peer's certificate stands for, and until when it is valid; None where that is nobody."""
        if not self._principals:
            return None
        pem = next(iter(peer.get("x509_pem_cert") or ()), b"")
        if not pem:
            return None
        if pem not in self._known:
            if len(self._known) >= _CACHE_MAX:
                del self._known[next(iter(self._known))]
            self._known[pem] = self._read(pem, peer)
        known = self._known[pem]
        return None if known is None else (known.principal, known.expires)

    def _read(self, pem: bytes, peer: CertificateContext) -> _Known | None:
        principal = self._principals.get(_identity(peer))
        if principal is None:
            return None
        certificate = x509.load_pem_x509_certificate(pem)
        return _Known(principal, certificate.not_valid_after_utc.timestamp())


def _identity(peer: CertificateContext) -> str:
    """The one SPIFFE id of a certificate, else its common name."""
    names = [name.decode(errors="replace") for name in peer.get("x509_subject_alternative_name") or ()]
    spiffe = [name for name in names if name.startswith(_SPIFFE)]
    if spiffe:
        return spiffe[0] if len(spiffe) == 1 else ""
    common_name = next(iter(peer.get("x509_common_name") or ()), b"")
    return f"cn:{common_name.decode(errors='replace')}" if common_name else ""
