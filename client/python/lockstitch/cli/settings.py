"""Where the server is and who calls: the flags and variables that every command takes."""

import base64
import binascii
import json
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from lockstitch.cli.failures import EXIT_USAGE, Refused
from lockstitch.client import Client

DEFAULT_TARGET = "127.0.0.1:50051"
TOKEN_VARIABLE = "LOCKSTITCH_TOKEN"  # noqa: S105 - the name of a variable
_TIMEOUT = timedelta(seconds=10)
_JWT_PIECES = 3

Target = Annotated[
    str, typer.Option(envvar="LOCKSTITCH_TARGET", metavar="HOST:PORT", help="Where the server is, as gRPC names it.")
]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help=f"A file that holds the token. (default: what {TOKEN_VARIABLE} holds)"),
]


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach the server."""

    target: str
    token: str
    token_file: Path | None = None

    def client(self, timeout: timedelta = _TIMEOUT) -> Client:
        """A client; `timeout` is what a call may take, all attempts together."""
        return Client(self.target, token=self.token if self.token_file is None else self._fresh_token, timeout=timeout)

    def _fresh_token(self) -> str:
        """Who follows a session for days finds a fresh token in the file when the first one has expired."""
        return read_token(self.token_file)

    @property
    def subject(self) -> str:
        """Whom the token is for; empty where it does not say."""
        subject = claims_of(self.token).get("sub")
        return subject if isinstance(subject, str) else ""


def connection(target: str, token_file: Path | None) -> Connection:
    """What flags and variables say; raises Refused where there is no token."""
    token = read_token(token_file)
    if not token:
        raise Refused(
            f"there is no token: set {TOKEN_VARIABLE}, or name a file with --token-file", exit_code=EXIT_USAGE
        )
    return Connection(target, token, token_file)


def read_token(token_file: Path | None) -> str:
    """The token, without what surrounds it; empty where there is none. Flags take none: others could read it there."""
    if token_file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip()
    try:
        return token_file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds no text"
        raise Refused(f"the token file {token_file} can't be read: {reason}", exit_code=EXIT_USAGE) from error


def claims_of(token: str) -> dict[str, object]:
    """What a token states, unverified: the server judges it, this only reads. Empty where it can't be read."""
    pieces = token.split(".")
    if len(pieces) != _JWT_PIECES:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(pieces[1] + "=" * (-len(pieces[1]) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
