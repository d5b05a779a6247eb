"""No log, at any level, and no error holds a token, content, or SQL."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass

from factories import fresh
from lockstitch_server.auth import keys
from lockstitch_server.auth.tokens import TokenSigner
from lockstitch_server.model import CallerRole
from lockstitch_server.server_process import READY, TOKEN_TTL
from support.databases import Database
from support.matrix import RPCS, request_of
from support.waiting import until_blocking

MARK = "zq7secretzq7"
STATEMENT = re.compile(
    r"\b(select|insert into|update|delete from)\s+[\w.*]+\s+(from|set|values|where|\()|\$\d", re.IGNORECASE
)
SQL = re.compile(STATEMENT.pattern + r"|lockstitch\.\w+_v\d|\bpg_|asyncpg", re.IGNORECASE)
CONTENT: dict[str, Any] = {
    "text": MARK,
    "title": MARK,
    "goal": MARK,
    "reason": MARK,
    "error": MARK,
    "name": MARK,
    "author": MARK,
    "merge_patch_json": f'{{"{MARK}":"{MARK}"}}',
    "metadata_json": f'"{MARK}"',
    "arguments_json": f'"{MARK}"',
    "result_json": f'"{MARK}"',
    "json": f'"{MARK}"',
    "extra_json": f'{{"{MARK}":1}}',
    "page_token": MARK,
}


class Watched:
    """A server whose output is kept."""

    def __init__(self, database: Database, data_dir: Path, output: Path) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTITCH_")}
        settings = {
            "LOCKSTITCH_DATABASE_URL": database.app_url,
            "LOCKSTITCH_LOG_LEVEL": "debug",
            "LOCKSTITCH_SWEEP_INTERVAL": "0.1",
        }
        command = [sys.executable, "-m", "lockstitch_server", "serve"]
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                [*command, "--data-dir", str(data_dir), "--listen", "127.0.0.1:0"],
                env=inherited | settings,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.output = output
        self.key = keys.load_or_make(data_dir)
        until_blocking(lambda: READY in self.said or self.process.poll() is not None, "a server that serves", 60)
        self.channel = grpc.insecure_channel(self.said.split(READY)[1].split()[0])

    @property
    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def ask(self, rpc: str, request: Any, authorization: str) -> str:
        """Call, and give the error that comes of it, all of it; "" where none does."""
        method: Any = RPCS[rpc]
        kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
        call = getattr(self.channel, kind)(f"/{method.containing_service.full_name}/{rpc}")
        body = request.SerializeToString()
        try:
            answer = call(
                iter([body]) if method.client_streaming else body,
                metadata=[("authorization", authorization)],
                timeout=20,
            )
            if method.server_streaming:
                next(answer)
                answer.cancel()
        except grpc.RpcError as error:
            call_error: Any = error
            return f"{call_error.details()} {call_error.trailing_metadata()}"
        return ""


@pytest.fixture
def watched(database: Database, folder: Path) -> Iterator[Watched]:
    made = Watched(database, folder / "data", folder / "output")
    yield made
    made.channel.close()
    made.process.terminate()
    made.process.wait(30)


def filled(descriptor: Any, depth: int = 0) -> Any:
    """A message with a mark in every field that holds content."""
    made: Any = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if field.name in CONTENT and field.type == field.TYPE_STRING and not field.is_repeated:
            setattr(made, field.name, CONTENT[field.name])
        elif field.type == field.TYPE_BYTES and not field.is_repeated:
            setattr(made, field.name, MARK.encode())
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry and depth < 4:
            inner = filled(field.message_type, depth + 1)
            if inner.ByteSize():
                target = getattr(made, field.name)
                (target.add() if field.is_repeated else target).CopyFrom(inner)
    return made


def test_neither_logs_nor_errors_hold_tokens_content_or_sql(watched: Watched, database: Database) -> None:
    signed = TokenSigner(watched.key).sign(tenant="t", subject="e", role=CallerRole.ADMIN, ttl=TOKEN_TTL)
    session_id = fresh("session")
    told = ""
    messages = [{"role": 1, "parts": [{"text": MARK}]}]
    for title in (MARK, "another"):
        create = request_of("CreateSession", session_id=session_id, title=title, messages=messages)
        told += watched.ask("CreateSession", create, f"Bearer {signed}")
    for rpc in RPCS:
        for named in (session_id, "unknown", ""):
            request = filled(RPCS[rpc].input_type)
            for field in ("session_id", "request_id"):
                if field in request.DESCRIPTOR.fields_by_name:
                    setattr(request, field, named if field == "session_id" else fresh("request"))
            for authorization in (f"Bearer {signed}", f"Bearer {signed[:-9]}", f"Basic {MARK}", f"Bearer {MARK}"):
                told += watched.ask(rpc, request, authorization)
    assert len(told) > 10_000
    said = watched.said
    for secret in (MARK, signed, signed.split(".")[1], signed.split(".")[2], database.app_url.split("@")[0]):
        assert secret not in told
        assert secret not in said
    assert not SQL.search(told), SQL.search(told)
    assert not SQL.search(said), SQL.search(said)


async def test_an_incident_tells_its_id_and_keeps_what_was_sent_to_itself(watched: Watched, database: Database) -> None:
    signed = TokenSigner(watched.key).sign(tenant="t", subject="e", role=CallerRole.ENGINE, ttl=TOKEN_TTL)
    await database.as_owner(
        "alter table lockstitch.session_details add constraint odd check (title not like '%secret%') not valid"
    )
    try:
        told = watched.ask("CreateSession", request_of("CreateSession", title=MARK), f"Bearer {signed}")
    finally:
        await database.as_owner("alter table lockstitch.session_details drop constraint odd")
    (incident_id,) = re.findall(r"incident ([0-9a-f]{32})\.", told.split(" (")[0])
    until_blocking(lambda: incident_id in watched.said, "the incident in the log")
    said = watched.said
    for secret in (MARK, signed):
        assert secret not in told
        assert secret not in said
    for text in (told, said):
        assert not STATEMENT.search(text), STATEMENT.search(text)
    assert "Traceback" not in told
