"""Databases to test on: the migrated one is made once and cloned."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg

from lockstitch_server.embedded import EmbeddedPostgres

TEMPLATE = "lockstitch"
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Database:
    """How to reach one database, by role."""

    name: str
    app_url: str
    owner_url: str
    superuser_url: str

    @property
    def socket_path(self) -> str:
        """Where Postgres listens, for a proxy before it."""
        asked = parse_qs(urlsplit(self.app_url).query)
        return str(Path(asked["host"][0]) / f".s.PGSQL.{asked['port'][0]}")

    def url_as(self, role: str, password: str) -> str:
        """Name the database for another login role."""
        return re.sub(r"//.*?@", f"//{role}:{password}@", self.app_url)

    def url_at(self, address: str) -> str:
        """Name the database, as the app, at another address."""
        login = re.findall(r"//(.*?)@", self.app_url)[0]
        return f"postgresql://{login}@{address}/{self.name}?sslmode=disable"

    async def as_superuser(self, sql: str, *arguments: object) -> list[Any]:
        """Look behind both walls."""
        return await _fetch(self.superuser_url, sql, *arguments)

    async def as_owner(self, sql: str, *arguments: object) -> list[Any]:
        return await _fetch(self.owner_url, sql, *arguments)


@asynccontextmanager
async def made_database(postgres: EmbeddedPostgres, template: str = "template0") -> AsyncIterator[Database]:
    """Make a database, empty or cloned, and drop it afterwards."""
    name = f"test_{next(_numbers)}"
    await _fetch(postgres.superuser_url, f"create database {name} template {template} owner lockstitch_owner")
    try:
        yield Database(
            name=name,
            app_url=_named(postgres.app_url, name),
            owner_url=_named(postgres.owner_url, name),
            superuser_url=_named(postgres.superuser_url, name),
        )
    finally:
        await _fetch(postgres.superuser_url, f"drop database {name} with (force)")


def _named(url: str, name: str) -> str:
    return re.sub(r"/\w+\?", f"/{name}?", url)


async def _fetch(url: str, sql: str, *arguments: object) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(sql, *arguments))
    finally:
        await connection.close()
