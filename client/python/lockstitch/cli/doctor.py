"""`lockstitch doctor`: looks at a connection step by step, and says a verdict on each."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib.metadata import version

import typer

from lockstitch import errors
from lockstitch.cli.failures import Refused, sentence_of
from lockstitch.cli.output import console, is_terminal, on_one_line, write_json
from lockstitch.cli.settings import DEFAULT_TARGET, Target, TokenFile, claims_of, read_token
from lockstitch.client import Client
from lockstitch.connection import is_local
from lockstitch.errors import LockstitchError
from lockstitch.v1.admin_service_pb2 import GetServerInfoResponse

_TIMEOUT = timedelta(seconds=5)
_SOON = timedelta(hours=1)
_CLOCKS_APART_MAX = timedelta(seconds=30)
"""Half of what a server forgives a token."""


class Verdict(StrEnum):
    """What came of a step."""

    OK = "ok"
    NOTE = "note"
    FAILED = "failed"


_STYLES = {Verdict.OK: "bold green", Verdict.NOTE: "bold yellow", Verdict.FAILED: "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A step, its verdict, and why."""

    check: str
    verdict: Verdict
    detail: str


def doctor(target: Target = DEFAULT_TARGET, token_file: TokenFile = None) -> None:
    """Check the server, the token, versions, limits and clocks. Exits with 1 if anything failed."""
    if not asyncio.run(_all_told(target, _token(token_file))):
        raise typer.Exit(1)


def _token(token_file: TokenFile) -> str | Finding:
    try:
        return read_token(token_file)
    except Refused as refused:
        return Finding("token", Verdict.FAILED, str(refused))


async def _all_told(target: str, token: str | Finding) -> bool:
    good = True
    async for finding in _findings(target, token):
        good &= finding.verdict is not Verdict.FAILED
        _tell(finding)
    return good


def _tell(finding: Finding) -> None:
    if not is_terminal():
        write_json({"check": finding.check, "verdict": finding.verdict.value, "detail": finding.detail})
        return
    out = console()
    out.print(f"{finding.verdict.value:<7}", style=_STYLES[finding.verdict], end="")
    out.print(f"{finding.check:<10} {on_one_line(finding.detail)}", soft_wrap=True)


async def _findings(target: str, token: str | Finding) -> AsyncIterator[Finding]:
    stated = token if isinstance(token, str) else ""
    async with Client(target, token=stated, timeout=_TIMEOUT) as client:
        reached = await _reach(client, target)
        yield reached
        of_token = token if isinstance(token, Finding) else _read(token)
        yield of_token
        if Verdict.FAILED in {reached.verdict, of_token.verdict}:
            return
        accepted = await _accepted(client, target)
        yield accepted
        if accepted.verdict is Verdict.FAILED:
            return
        began = time.monotonic()
        try:
            info = await client.server_info()
        except errors.PermissionDenied:
            yield Finding("server", Verdict.NOTE, "only engines and admins are told its version and limits")
            return
        except LockstitchError as error:
            yield Finding("server", Verdict.FAILED, sentence_of(error, target))
            return
        took = timedelta(seconds=time.monotonic() - began)
    yield _server(info)
    yield _durability(info)
    yield _limits(info)
    yield _clock(info, took)


async def _reach(client: Client, target: str) -> Finding:
    """Any answer of a server will do, a refusal among them."""
    began = time.monotonic()
    try:
        await anext(client.list(page_size=1), None)
    except (errors.Unimplemented, errors.Unavailable, errors.DeadlineExceeded, errors.Unknown) as error:
        return Finding("target", Verdict.FAILED, sentence_of(error, target))
    except LockstitchError:
        pass
    took = (time.monotonic() - began) * 1000
    way = "plain text, on this machine" if is_local(target) else "TLS"
    return Finding("target", Verdict.OK, f"{target} answers in {took:.0f} ms ({way})")


def _read(token: str) -> Finding:
    if not token:
        return Finding("token", Verdict.FAILED, "there is none: set LOCKSTITCH_TOKEN, or name a file with --token-file")
    claims = claims_of(token)
    if not claims:
        return Finding("token", Verdict.FAILED, "what was given is no token: three pieces with dots between them")
    who = f"{claims.get('role')} {claims.get('sub')!r} of tenant {claims.get('tenant')!r}"
    expires = claims.get("exp")
    if not isinstance(expires, int | float):
        return Finding("token", Verdict.FAILED, f"{who}, but it does not say when it expires")
    left = timedelta(seconds=expires - time.time())
    if left <= timedelta():
        return Finding("token", Verdict.FAILED, f"{who}, but it expired {_long(-left)} ago")
    return Finding("token", Verdict.NOTE if left < _SOON else Verdict.OK, f"{who}, good for {_long(left)}")


async def _accepted(client: Client, target: str) -> Finding:
    try:
        await anext(client.list(page_size=1), None)
    except LockstitchError as error:
        return Finding("access", Verdict.FAILED, sentence_of(error, target))
    return Finding("access", Verdict.OK, "the server takes the token")


def _server(info: GetServerInfoResponse) -> Finding:
    ours = version("lockstitch")
    told = (
        f"lockstitch {info.version} on Postgres {info.postgres_version}, schema {info.schema}, epoch {info.store_epoch}"
    )
    if _series(ours) == _series(info.version):
        return Finding("server", Verdict.OK, told)
    return Finding("server", Verdict.NOTE, f"{told}; this client is {ours}")


def _durability(info: GetServerInfoResponse) -> Finding:
    stands_on = {
        "synchronous_commit": info.durability.synchronous_commit,
        "fsync": info.durability.fsync,
        "full_page_writes": info.durability.full_page_writes,
    }
    off = [name for name, is_on in stands_on.items() if not is_on]
    if off:
        return Finding("durability", Verdict.FAILED, f"{' and '.join(off)} is off: an acknowledged commit can be lost")
    return Finding("durability", Verdict.OK, f"{', '.join(stands_on)} are on")


def _limits(info: GetServerInfoResponse) -> Finding:
    limits = info.limits
    return Finding(
        "limits",
        Verdict.OK,
        f"a request {limits.content_bytes_max / 1024**2:g} MiB and {limits.append_messages_max} messages, "
        f"a session {limits.session_messages_max:,} messages, memory {limits.memory_bytes_max / 1024**2:g} MiB",
    )


def _clock(info: GetServerInfoResponse, took: timedelta) -> Finding:
    if not info.HasField("time"):
        return Finding("clock", Verdict.NOTE, "this server does not tell its time")
    apart = info.time.ToDatetime(UTC) - (datetime.now(UTC) - took / 2)
    words = "server and client agree" if abs(apart) < timedelta(seconds=1) else f"the server's is {_apart(apart)}"
    is_far = abs(apart) > _CLOCKS_APART_MAX
    return Finding(
        "clock", Verdict.FAILED if is_far else Verdict.OK, f"{words}, to {took.total_seconds() * 500:.0f} ms"
    )


def _apart(apart: timedelta) -> str:
    return f"{_long(abs(apart))} {'ahead' if apart > timedelta() else 'behind'}"


def _series(release: str) -> list[str]:
    return release.split(".")[:2]


def _long(length: timedelta) -> str:
    seconds = length.total_seconds()
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
