"""Certificates of the test's own: authorities, servers, callers."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate and its key."""

    certificate: x509.Certificate
    private: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def write(self, folder: Path) -> dict[str, str]:
        """Lay both into a folder, and give the settings that name them."""
        certificate, key = folder / "server.pem", folder / "server.key"
        certificate.write_bytes(self.pem)
        key.write_bytes(self.key_pem)
        return {"LOCKSTITCH_TLS_CERTIFICATE": str(certificate), "LOCKSTITCH_TLS_KEY": str(key)}


def certified(
    name: str,
    by: Certified | None = None,
    *,
    uris: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
    life: timedelta = DAY,
) -> Certified:
    """Make a certificate; without an issuer it is an authority."""
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    names = [*(x509.DNSName(host) for host in hosts), *(x509.UniformResourceIdentifier(uri) for uri in uris)]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * DAY)
        .not_valid_after(now + life)
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    if names:
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Certified(made.sign(by.private if by else private, hashes.SHA256()), private)


def trusting(authority: Certified, as_caller: Certified | None = None) -> grpc.ChannelCredentials:
    """Credentials of a caller: whom it trusts, and its own certificate, if it has one."""
    if as_caller is None:
        return grpc.ssl_channel_credentials(authority.pem)
    return grpc.ssl_channel_credentials(authority.pem, as_caller.key_pem, as_caller.pem)
