"""An identity provider of the test's own: keys, tokens, and a key set in a file or on a server that misbehaves."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER, AUDIENCE = "https://idp.example", "lockstitch-tests"
MAKERS: dict[str, Callable[[], Any]] = {
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "PS256": lambda: rsa.generate_private_key(65537, 2048),
    "RS512": lambda: rsa.generate_private_key(65537, 2048),
}


class ProviderKey:
    """A key pair of a provider."""

    def __init__(self, key_id: str | None = "k1", algorithm: str = "EdDSA", private: Any = None) -> None:
        self.key_id = key_id
        self.algorithm = algorithm
        self.private = private or MAKERS[algorithm]()

    @property
    def jwk(self) -> dict[str, Any]:
        kind: Any = {"E": ECAlgorithm, "R": RSAAlgorithm, "P": RSAAlgorithm}.get(self.algorithm[0], OKPAlgorithm)
        if self.algorithm == "EdDSA":
            kind = OKPAlgorithm
        made: dict[str, Any] = json.loads(kind.to_jwk(self.private.public_key()))
        made |= {"use": "sig"}
        return made if self.key_id is None else made | {"kid": self.key_id}

    def sign(self, *, now: float | None = None, key_id: str | None = "its own", **change: Any) -> str:
        """Sign what a good token says, but for what is given; None leaves a claim out."""
        at = time.time() if now is None else now
        claims: dict[str, Any] = {"iss": ISSUER, "aud": AUDIENCE, "nbf": at, "exp": at + 3600}
        claims |= {"tenant": "t", "sub": "s", "role": "engine"} | change
        stated = {name: value for name, value in claims.items() if value is not None}
        key_id = self.key_id if key_id == "its own" else key_id
        headers = {} if key_id is None else {"kid": key_id}
        return jwt.encode(stated, self.private, self.algorithm, headers=headers)


def key_set(*keys: ProviderKey) -> bytes:
    return json.dumps({"keys": [key.jwk for key in keys]}).encode()


def encoded(*parts: object) -> str:
    """Put a token together from a header, claims and a signature."""
    texts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in parts]
    return ".".join(base64.urlsafe_b64encode(text).rstrip(b"=").decode() for text in texts)


class KeyServer:
    """A server of one key set; `answer` is what it sends, and may be a function that writes as it likes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.behave: Callable[[BaseHTTPRequestHandler], None] = self.serve
        self.asked = 0
        self.url = ""

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(self.content)))
        handler.end_headers()
        handler.wfile.write(self.content)


@contextmanager
def key_server(content: bytes) -> Iterator[KeyServer]:
    """Serve a key set on loopback."""
    server = KeyServer(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked += 1
            try:
                server.behave(self)
            except OSError:  # who asked has gone
                self.close_connection = True

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - likewise
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_address[1]}/keys"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
