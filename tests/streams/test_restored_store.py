"""A store that is marked as restored from a backup, while a server runs."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import grpc

from factories import said
from lockstitch.v1.admin_service_pb2 import GetServerInfoRequest
from lockstitch_server.embedded import EmbeddedPostgres
from lockstitch_server.server_process import ServerProcess
from support.commands import run
from support.databases import TEMPLATE, made_database
from support.rpc import Refusal, outcome
from support.stage import Stage

RESTORED = (grpc.StatusCode.OUT_OF_RANGE, "STORE_RESTORED")


async def test_a_running_server_ends_its_streams_and_tells_the_new_epoch(
    postgres: EmbeddedPostgres, session_folder: Path, undo: AsyncExitStack
) -> None:
    database = await undo.enter_async_context(made_database(postgres, TEMPLATE))
    settings = {"LOCKSTITCH_DATABASE_URL": database.app_url}
    server = ServerProcess.start(session_folder / "keys-only", environment=settings)
    async with AsyncExitStack() as callers:
        stage = Stage([server], callers)
        session_id, rpc = await stage.session(), stage.rpc()
        before = (await rpc.Append(session_id=session_id, messages=[said("one")])).receipt.store_epoch
        naming = await stage.follow(session_id, store_epoch=before, resume=False)
        not_naming = await stage.follow(session_id, resume=False)
        for reader in (naming, not_naming):
            await reader.caught_up()
            assert reader.stream.frames[0].opened.store_epoch == before

        migrated = await asyncio.to_thread(
            run,
            "migrate",
            "--new-store-epoch",
            LOCKSTITCH_MIGRATION_URL=database.owner_url,
            LOCKSTITCH_DATABASE_URL=database.app_url,
        )
        assert migrated.returncode == 0, migrated
        after = migrated.stdout.split()[-1]
        assert after != before
        for reader in (naming, not_naming):
            end = (await reader.ended()).end
            assert isinstance(end, Refusal)
            assert (end.what, end.metadata["store_epoch"]) == (RESTORED, after)

        refused = await outcome(stage.open(session_id, store_epoch=before, after_version=2).read())
        assert isinstance(refused, Refusal)
        assert (refused.what, refused.metadata["store_epoch"]) == (RESTORED, after)
        opened = await stage.open(session_id, store_epoch=after, after_version=2).read()
        assert opened.opened.store_epoch == after
        receipt = (await rpc.Append(session_id=session_id, messages=[said("two")])).receipt
        assert (receipt.version, receipt.store_epoch) == (3, after)
        assert (await stage.caller().admin.GetServerInfo(GetServerInfoRequest())).store_epoch == after
    assert server.stop() == 0
