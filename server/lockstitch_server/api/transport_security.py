"""TLS: the server's certificate, read again when its file changes, and whether callers must show one."""

from pathlib import Path

import grpc
import structlog
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from lockstitch_server.startup import StartupError

_log = structlog.get_logger(__name__)


class TlsFiles:
    """Certificate, key and the authority of callers' certificates, as they lie on disk."""

    def __init__(self, certificate: Path, key: Path, client_authority: Path | None) -> None:
        """Raises StartupError where they can't be read, or don't belong together."""
        self._paths = tuple(path for path in (certificate, key, client_authority) if path is not None)
        self._requires_clients = client_authority is not None
        try:
            self._stamp = self._stamps()
            self._configuration = self._read()
        except OSError as error:
            raise StartupError(f"the TLS file {error.filename} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise StartupError(f"TLS cannot be served with {certificate} and {key}: {error}") from error

    def credentials(self) -> grpc.ServerCredentials:
        """Credentials that are looked at anew at each handshake."""
        return grpc.dynamic_ssl_server_credentials(
            self._configuration, self._newer, require_client_authentication=self._requires_clients
        )

    def _newer(self) -> grpc.ServerCertificateConfiguration:
        """What the files hold now, where they changed; while they can't be used together the old ones stay."""
        try:
            stamp = self._stamps()
            if stamp != self._stamp:
                self._configuration, self._stamp = self._read(), stamp
                _log.info("the TLS certificate was read again")
        except OSError as error:
            _log.warning("the TLS files could not be read again", file=error.filename, error=error.strerror)
        except ValueError as error:
            _log.warning("the TLS files could not be read again", error=str(error))
        return self._configuration

    def _stamps(self) -> tuple[tuple[int, int], ...]:
        return tuple((stat.st_mtime_ns, stat.st_ino) for stat in (path.stat() for path in self._paths))

    def _read(self) -> grpc.ServerCertificateConfiguration:
        certificate, key, *authority = (path.read_bytes() for path in self._paths)
        _check(certificate, key, authority)
        return grpc.ssl_server_certificate_configuration(
            [(key, certificate)], root_certificates=authority[0] if authority else None
        )


def _check(certificate: bytes, key: bytes, authority: list[bytes]) -> None:
    """Raise ValueError unless the files hold what they should; gRPC would fail every handshake and say nothing."""
    try:
        leaf = x509.load_pem_x509_certificates(certificate)[0]
    except ValueError:
        raise ValueError("the certificate is none") from None
    try:
        private = serialization.load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        raise ValueError("the key is none that can be read without a password") from None
    if leaf.public_key() != private.public_key():
        raise ValueError("the key is not the certificate's")
    try:
        for root in authority:
            x509.load_pem_x509_certificates(root)
    except ValueError:
        raise ValueError("the authority of callers' certificates is none") from None
