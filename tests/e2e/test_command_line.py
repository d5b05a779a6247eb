"""The commands say what they did, or in one sentence why they did not."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from itertools import dropwhile, takewhile
from pathlib import Path

import jwt
import pytest

from lockstitch_migrations import expected_schema
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import READY, ServerProcess
from support.commands import refused, run
from support.databases import Database, made_database

Serve = Callable[..., ServerProcess]


@pytest.fixture
async def migrated(postgres: EmbeddedPostgres) -> AsyncIterator[Database]:
    """A migrated database to spoil."""
    async with made_database(postgres, "lockstitch") as made:
        yield made


class TestServe:
    def test_a_second_server_on_the_data_folder_is_refused(self, serve: Serve, data_dir: Path) -> None:
        first = serve()
        said = refused("serve", "--data-dir", data_dir, "--listen", "127.0.0.1:0")
        assert f"{data_dir} is in use by another server (process {first.process.pid})" in said

    def test_a_second_server_on_the_port_is_refused(self, serve: Serve, folder: Path) -> None:
        target = serve().target
        for workers in ("1", "2"):
            said = refused("serve", "--data-dir", folder / "other", "--listen", target, "--workers", workers)
            assert f"the address {target} cannot be served on" in said

    def test_a_port_shared_by_workers_is_refused_to_others(self, serve: Serve, folder: Path) -> None:
        target = serve("--workers", "2").target
        assert target in refused("serve", "--data-dir", folder / "other", "--listen", target)

    def test_a_closed_data_folder_is_named(self, folder: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root changes accounts")
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        assert f"{closed} is closed to it" in refused("serve", "--data-dir", closed / "data")

    def test_a_long_data_folder_serves(self, serve: Serve, folder: Path) -> None:
        assert serve(folder=folder / ("long" * 30) / "data").stop() == 0

    @pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:99999"])
    def test_what_is_no_address_is_named(self, folder: Path, address: str) -> None:
        assert address in refused("serve", "--data-dir", folder / "data", "--listen", address)

    def test_a_wrong_setting_is_named(self, folder: Path) -> None:
        said = refused("serve", "--data-dir", folder / "data", LOCKSTITCH_POOL_WAIT="soon")
        assert "LOCKSTITCH_POOL_WAIT" in said

    def test_what_it_says_before_it_serves_is_a_first_call_that_works(self, folder: Path) -> None:
        command = [
            str(Path(sys.executable).with_name("lockstitch-server")),
            "serve",
            "--data-dir",
            str(folder / "data"),
        ]
        with subprocess.Popen([*command, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            said = list(takewhile(lambda line: not line.startswith(READY), server.stdout))
            # As it stands there, as who copies it into a shell would have it.
            script = "".join(dropwhile(lambda line: not line.startswith("export "), said))
            called = subprocess.run(["sh"], input=script, check=False, capture_output=True, text=True)
            server.terminate()
        assert called.returncode == 0, (script, called.stderr)
        assert called.stdout.startswith("created sess_")


class TestServeOnAnExternalDatabase:
    def test_an_unreachable_database_is_told(self, folder: Path) -> None:
        url = "postgresql://app:secret@127.0.0.1:1/lockstitch"
        said = refused("serve", "--data-dir", folder, "--listen", "127.0.0.1:0", LOCKSTITCH_DATABASE_URL=url)
        assert "cannot be reached" in said
        assert "secret" not in said

    def test_a_database_without_the_schema_is_told_the_command(self, empty_database: Database, folder: Path) -> None:
        said = refused_on(empty_database.app_url, folder)
        assert "lockstitch-server migrate" in said

    def test_the_owners_role_is_refused(self, migrated: Database, folder: Path) -> None:
        assert "own" in refused_on(migrated.owner_url, folder)

    def test_a_superuser_is_refused(self, migrated: Database, folder: Path) -> None:
        assert "superuser" in refused_on(migrated.superuser_url, folder)

    async def test_a_role_that_bypasses_row_level_security_is_refused(self, migrated: Database, folder: Path) -> None:
        await migrated.as_superuser("create role bypasser login bypassrls password 'p'")
        try:
            await migrated.as_superuser("grant lockstitch_app to bypasser")
            assert "bypasses row-level security" in refused_on(migrated.url_as("bypasser", "p"), folder)
        finally:
            await migrated.as_superuser("drop role bypasser")

    async def test_unsafe_durability_is_refused_unless_asked_for(
        self, migrated: Database, folder: Path, serve: Serve
    ) -> None:
        await migrated.as_superuser(f"alter database {migrated.name} set synchronous_commit = off")
        assert "synchronous_commit" in refused_on(migrated.app_url, folder)
        server = serve(
            folder=folder, LOCKSTITCH_DATABASE_URL=migrated.app_url, LOCKSTITCH_ALLOW_UNSAFE_DURABILITY="true"
        )
        assert server.stop() == 0

    def test_it_migrates_only_as_the_owner(self, empty_database: Database, folder: Path, serve: Serve) -> None:
        urls = {
            "LOCKSTITCH_DATABASE_URL": empty_database.app_url,
            "LOCKSTITCH_MIGRATION_URL": empty_database.owner_url,
        }
        assert serve(folder=folder, **urls).stop() == 0
        assert serve(folder=folder, LOCKSTITCH_DATABASE_URL=empty_database.app_url).stop() == 0


def refused_on(database_url: str, folder: Path) -> str:
    return refused("serve", "--data-dir", folder, "--listen", "127.0.0.1:0", LOCKSTITCH_DATABASE_URL=database_url)


class TestMigrate:
    def test_it_names_what_it_applied(self, empty_database: Database, folder: Path) -> None:
        urls = {
            "LOCKSTITCH_DATABASE_URL": empty_database.app_url,
            "LOCKSTITCH_MIGRATION_URL": empty_database.owner_url,
        }
        first, second = (run("migrate", "--data-dir", folder, **urls) for _ in range(2))
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        assert f"applied {expected_schema()}" in first.stdout.splitlines()
        assert second.stdout == ""

    def test_it_migrates_the_embedded_database(self, folder: Path) -> None:
        result = run("migrate", "--data-dir", folder / "data")
        assert result.returncode == 0, result.stderr
        assert f"applied {expected_schema()}" in result.stdout

    def test_an_app_url_alone_is_not_enough(self, empty_database: Database, folder: Path) -> None:
        said = refused("migrate", "--data-dir", folder, LOCKSTITCH_DATABASE_URL=empty_database.app_url)
        assert "LOCKSTITCH_MIGRATION_URL" in said

    async def test_a_new_epoch_is_told_and_stored(self, migrated: Database, folder: Path) -> None:
        result = run(
            *("migrate", "--data-dir", folder, "--new-store-epoch"), LOCKSTITCH_MIGRATION_URL=migrated.owner_url
        )
        (row,) = await migrated.as_superuser("select store_epoch from lockstitch.store")
        assert result.stdout.strip().endswith(row["store_epoch"])


class TestCheck:
    def test_it_prints_what_it_found(self, database: Database, folder: Path) -> None:
        result = run("check", "--data-dir", folder, LOCKSTITCH_DATABASE_URL=database.app_url)
        assert result.returncode == 0, result.stderr
        assert expected_schema() in result.stdout
        assert result.stdout.splitlines()[-1] == "ready to serve"

    def test_it_looks_at_a_running_server_as_well(self, serve: Serve, data_dir: Path) -> None:
        serve()
        assert run("check", "--data-dir", data_dir).returncode == 0

    def test_it_makes_no_database(self, folder: Path) -> None:
        assert "no database" in refused("check", "--data-dir", folder / "data")
        assert not (folder / "data").exists()

    def test_it_refuses_what_serve_would_refuse(self, empty_database: Database, folder: Path) -> None:
        said = refused("check", "--data-dir", folder, LOCKSTITCH_DATABASE_URL=empty_database.app_url)
        assert "lockstitch-server migrate" in said


class TestToken:
    def test_it_prints_a_token_and_nothing_else(self, folder: Path) -> None:
        result = run("token", "--data-dir", folder / "data", "--tenant", "t", "--user", "u", "--role", "admin")
        assert (result.returncode, result.stderr) == (0, "")
        claims = jwt.decode(result.stdout.removesuffix("\n"), options={"verify_signature": False})
        assert (claims["tenant"], claims["sub"], claims["role"]) == ("t", "u", "admin")

    @pytest.mark.parametrize(("flag", "value"), [("--role", "system"), ("--tenant", ""), ("--user", "a\nb")])
    def test_what_no_server_would_take_is_refused(self, folder: Path, flag: str, value: str) -> None:
        flags = {"--tenant": "t", "--user": "u", "--role": "user"} | {flag: value}
        refused("token", "--data-dir", folder / "data", *(word for pair in flags.items() for word in pair))

    def test_it_works_beside_a_running_server(self, serve: Serve, data_dir: Path) -> None:
        serve()
        result = run("token", "--data-dir", data_dir, "--tenant", "t", "--user", "u", "--role", "user")
        assert result.returncode == 0
