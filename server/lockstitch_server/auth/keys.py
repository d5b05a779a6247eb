"""The data folder's own signing key, made the first time it is needed."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstitch_server.data_folder import DataFolder
from lockstitch_server.startup import StartupError

FILE = "token-signing.pem"
KEY_ID_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An Ed25519 key and the id that tokens name it by, a hash of its public half."""

    key_id: str
    private: Ed25519PrivateKey


def load_or_make(data_dir: Path) -> SigningKey:
    """Read the folder's key; servers on one folder share it, and the first of several makes it."""
    folder = DataFolder(data_dir)
    folder.make()
    content = folder.secret(FILE, _new)
    try:
        private = serialization.load_pem_private_key(content, password=None)
    except ValueError as error:
        raise StartupError(
            f"{folder.keys / FILE} holds no private key: restore it, or remove it for a new one"
        ) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise StartupError(f"{folder.keys / FILE} holds a key that is not Ed25519")
    public = private.public_key().public_bytes_raw()
    return SigningKey(hashlib.sha256(public).hexdigest()[:KEY_ID_CHARACTERS], private)


def _new() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
