"""Client certificates: whom a verified one stands for."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cryptography import x509
from cryptography.x509.oid import NameOID

from lockstitch_server.errors import TokenExpired
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

    def __init__(self, principals: Mapping[str, Principal], now: Callable[[], float] = time.time) -> None:
        """Whoever is not named is nobody."""
        self._principals = dict(principals)
        self._now = now
        self._known: dict[bytes, _Known | None] = {}

    def principal(self, peer: CertificateContext) -> tuple[Principal, float] | None:
        """Whom the peer's certificate stands for, and until when it is valid; None where that is nobody.

        TLS has verified it when the connection was made; raises TokenExpired where its time has passed since.
        """
        if not self._principals:
            return None
        pem = next(iter(peer.get("x509_pem_cert") or ()), b"")
        if not pem:
            return None
        if pem not in self._known:
            if len(self._known) >= _CACHE_MAX:
                del self._known[next(iter(self._known))]
            self._known[pem] = self._read(pem)
        known = self._known[pem]
        if known is None:
            return None
        if self._now() >= known.expires:
            raise TokenExpired("The client certificate has expired.")
        return known.principal, known.expires

    def _read(self, pem: bytes) -> _Known | None:
        try:
            certificate = x509.load_pem_x509_certificate(pem)
            principal = self._principals.get(_identity(certificate))
        except ValueError:  # TLS is content with some that we can't read
            return None
        return None if principal is None else _Known(principal, certificate.not_valid_after_utc.timestamp())


def _identity(certificate: x509.Certificate) -> str:
    """The one SPIFFE id of a certificate, else its one common name; else none.

    gRPC's own list of names does not tell a URI from a host that is spelled like one.
    """
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    except x509.ExtensionNotFound:
        uris = []
    spiffe = [uri for uri in uris if uri.startswith(_SPIFFE)]
    if spiffe:
        return spiffe[0] if len(spiffe) == 1 else ""
    common_names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return f"cn:{common_names[0].value!s}" if len(common_names) == 1 else ""
