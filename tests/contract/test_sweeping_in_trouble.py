"""CONTRACT 7: a sweep that the database lost is made when the database is there again, not a minute later."""

from pathlib import Path

from lockstitch.v1.session_pb2 import SESSION_STATUS_EXPIRED
from lockstitch_server.server_process import ServerProcess
from support.databases import Database
from support.rpc import As
from support.waiting import until, until_true

NOT_SWEPT = "a session that is due could not be swept"
SESSIONS = 30
PUT_OFF_SECONDS = 60
"""For a session whose sweep fails for another reason."""


async def test_a_sweep_that_was_lost_is_made_soon_and_is_no_error_of_the_servers(
    database: Database, folder: Path, session_folder: Path, call_as: As
) -> None:
    orders, log = folder / "orders", folder / "log"
    orders.mkdir()
    environment = {
        "LOCKSTITCH_DATABASE_URL": database.app_url,
        "LOCKSTITCH_FAILPOINTS": str(orders),
        "LOCKSTITCH_LOG_FORMAT": "json",
        "LOCKSTITCH_SWEEP_INTERVAL": "0.1",
    }
    with log.open("wb") as file:
        server = ServerProcess.start(session_folder / "keys-only", environment=environment, log=file)
    try:
        engine = call_as("e", "engine", to=server)
        for _ in range(SESSIONS):
            await engine.CreateSession(user_id="u1", ttl={"seconds": 3})
        # Most statements lose their connection, and so do most of those that ask again: some of the sweeps are lost.
        (orders / "before_commit").write_text("lose 0.8")
        await until(lambda: NOT_SWEPT in log.read_text(), "a sweep that is lost")
        (orders / "before_commit").unlink()

        async def are_swept() -> bool:
            sessions = (await engine.ListSessions(page_size=SESSIONS)).sessions
            return {(one.status, one.version) for one in sessions} == {(SESSION_STATUS_EXPIRED, 2)}

        await until_true(are_swept, "the sweeps", seconds=PUT_OFF_SECONDS / 2)
        assert '"level": "error"' not in log.read_text()
    finally:
        assert server.stop() == 0
