import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstitch_server import failpoints
from lockstitch_server.startup import StartupError


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Path]:
    """A folder whose orders are obeyed."""
    failpoints.obey(tmp_path)
    yield tmp_path
    failpoints.obey(None)


async def test_without_an_order_nothing_fails(orders: Path) -> None:
    (orders / "after_commit").write_text("lose")
    await failpoints.reached("before_commit", lost=ConnectionResetError)


async def test_a_lost_connection_is_raised_as_the_place_knows_it(orders: Path) -> None:
    (orders / "before_commit").write_text("lose\n")
    with pytest.raises(ConnectionResetError):
        await failpoints.reached("before_commit", lost=ConnectionResetError)


async def test_where_there_is_no_connection_none_is_lost(orders: Path) -> None:
    (orders / "during_drain").write_text("lose")
    await failpoints.reached("during_drain")


async def test_a_share_of_times_fails(orders: Path) -> None:
    (orders / "before_commit").write_text("lose 0.5")
    failed = 0
    for _ in range(200):
        try:
            await failpoints.reached("before_commit", lost=ConnectionResetError)
        except ConnectionResetError:
            failed += 1
    assert 0 < failed < 200


async def test_a_pause_lasts_until_the_file_is_gone(orders: Path) -> None:
    file = orders / "before_wake_up"
    file.write_text("pause")
    reached = asyncio.create_task(failpoints.reached("before_wake_up"))
    done, _ = await asyncio.wait([reached], timeout=0.05)
    assert not done
    file.unlink()
    await reached


async def test_a_pause_of_so_many_seconds_ends_by_itself(orders: Path) -> None:
    (orders / "before_wake_up").write_text("pause 0.02")
    await failpoints.reached("before_wake_up")


def test_orders_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="LOCKSTITCH_FAILPOINTS"):
        failpoints.obey(tmp_path / "nowhere")
    assert failpoints.folder is None
