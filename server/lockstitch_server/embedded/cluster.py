"""The database cluster in the data folder: made once, whole or not at all."""

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lockstitch_server.data_folder import DataFolder
from lockstitch_server.embedded.account import Account
from lockstitch_server.embedded.binaries import Binaries
from lockstitch_server.startup import StartupError

DATABASE = "lockstitch"
SUPERUSER = "postgres"
OWNER = "lockstitch_owner"
SERVER = "lockstitch_server"

BUILTIN_LOCALES = 17
"""The first major version that sorts and classifies text itself; older ones would ask the C library."""

TUNING = {
    "autovacuum_naptime": "10s",  # session rows change with every commit: come by often …
    "autovacuum_vacuum_cost_delay": "1ms",  # … and be done soon
    "autovacuum_vacuum_scale_factor": "0.05",
    "autovacuum_analyze_scale_factor": "0.05",
    "checkpoint_completion_target": "0.9",
    "max_connections": "200",  # of ten each for every worker, and for every server that is put on this database
    "max_wal_size": "2GB",
    "shared_buffers": "128MB",
    "wal_compression": "on",  # content is text; full pages shrink to a third
}
"""Set at the beginning with ALTER SYSTEM; an operator may change them likewise."""


@dataclass(frozen=True, slots=True)
class Passwords:
    """Of the login roles; they lie in the key folder."""

    superuser: str
    owner: str
    server: str


def passwords(data: DataFolder) -> Passwords:
    """Read the passwords, or draw them the first time."""
    return Passwords(*(data.secret(f"{role}.password", _new_password).decode() for role in (SUPERUSER, OWNER, SERVER)))


def _new_password() -> bytes:
    return secrets.token_urlsafe(24).encode()


def ensure_cluster(data: DataFolder, account: Account, binaries: Binaries) -> Path:
    """Return the cluster's folder, made if there is none; one of another major version is refused."""
    cluster = data.pg / "data"
    if not cluster.exists():
        # What is under this name is whole: a start that was killed half-way leaves a draft, which is made anew.
        draft = data.pg / "data.draft"
        if draft.exists():
            shutil.rmtree(draft)
        _initialise(draft, account, binaries, passwords(data))
        draft.rename(cluster)
    made_by = (cluster / "PG_VERSION").read_text().strip()
    if made_by != str(binaries.major):
        raise StartupError(
            f"the data in {cluster} was made by Postgres {made_by}, and this is Postgres {binaries.major}: "
            "name the old one's binaries with LOCKSTITCH_POSTGRES_BIN, or dump and restore"
        )
    return cluster


def _initialise(draft: Path, account: Account, binaries: Binaries, words: Passwords) -> None:
    password_file = draft.with_name("password.draft")
    password_file.unlink(missing_ok=True)
    descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, words.superuser.encode())
        account.give(password_file)
        _run(
            account,
            binaries.folder / "initdb",
            f"--pgdata={draft}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--auth-local=scram-sha-256",
            "--auth-host=reject",
            "--data-checksums",
            "--encoding=UTF8",
            "--locale=C",
            *(["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if binaries.major >= BUILTIN_LOCALES else []),
            "--no-instructions",
        )
    finally:
        os.close(descriptor)
        password_file.unlink()
    statements = [
        *(f"alter system set {name} = '{value}';" for name, value in TUNING.items()),
        f"create role {OWNER} login createrole password '{words.owner}';",
        f"create role {SERVER} login noinherit password '{words.server}';",
        f"create database {DATABASE} owner {OWNER};",
    ]
    _run(
        account,
        binaries.folder / "postgres",
        "--single",
        *("-D", str(draft)),
        *("-c", "exit_on_error=on", "-c", "log_min_error_statement=panic", "-c", "password_encryption=scram-sha-256"),
        SUPERUSER,
        given="\n".join([*statements, ""]),
    )


def environment() -> dict[str, str]:
    """Return what Postgres gets of our environment: nothing secret, messages we can read, its time zone."""
    return {"LC_ALL": "C", "PATH": os.defpath} | {name: os.environ[name] for name in ("TZ",) if name in os.environ}


def _run(account: Account, *command: str | Path, given: str = "") -> None:
    result = subprocess.run(
        account.command(*command),
        check=False,
        cwd="/",
        env=environment(),
        input=given,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        last = (result.stderr.strip() or "it said nothing").splitlines()[-1]
        raise StartupError(f"{Path(command[0]).name} could not make the database in the data folder: {last}")
