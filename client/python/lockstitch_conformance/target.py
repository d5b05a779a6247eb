"""How a target is reached, and who may call it."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import grpc
from grpc import aio

Tokens: TypeAlias = Callable[[str, str, str], Awaitable[str]]
"""Gives a token of a tenant, a user and a role."""

LOCAL = ("127.", "localhost:", "[::1]:", "unix:")
TOKEN_SECONDS_MAX = 60.0
# Defaults of a client that nobody configured; retries are the suite's own.
OPTIONS = [("grpc.enable_retries", 0)]


class NoToken(Exception):
    """The token command gave none."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server, as gRPC names it, and how it is spoken to."""

    address: str
    tokens: Tokens
    tenants: tuple[str, str] = ("conformance-1", "conformance-2")
    certificates: Path | None = None
    """Root certificates to trust in place of the system's."""
    plain_text: bool = False
    """Speak plain text although it leaves the machine."""

    def channel(self) -> aio.Channel:
        """Open a channel; plain text where it can't leave this machine, else TLS."""
        if self.certificates is None and (self.plain_text or self.address.startswith(LOCAL)):
            return aio.insecure_channel(self.address, options=OPTIONS)
        roots = self.certificates.read_bytes() if self.certificates else None
        return aio.secure_channel(self.address, grpc.ssl_channel_credentials(roots), options=OPTIONS)


def tokens_of_a_command(command: str) -> Tokens:
    """Tokens that a command prints; `{tenant}`, `{user}` and `{role}` in its words are put in. No shell reads it."""
    words = shlex.split(command)

    async def token(tenant: str, user: str, role: str) -> str:
        put_in = {"{tenant}": tenant, "{user}": user, "{role}": role}
        asked = [_with(word, put_in) for word in words]
        try:
            process = await asyncio.create_subprocess_exec(
                *asked, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
        except OSError as error:
            raise NoToken(f"{asked[0]} can't be run: {error.strerror}") from None
        try:
            out, told = await asyncio.wait_for(process.communicate(), TOKEN_SECONDS_MAX)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise NoToken(f"{asked[0]} gave no token within {TOKEN_SECONDS_MAX:.0f} s") from None
        if process.returncode or not out.strip():
            raise NoToken(f"{asked[0]} gave no token (exit code {process.returncode}): {told.decode().strip()}")
        return out.decode().strip()

    return token


def _with(word: str, put_in: dict[str, str]) -> str:
    for name, value in put_in.items():
        word = word.replace(name, value)
    return word
