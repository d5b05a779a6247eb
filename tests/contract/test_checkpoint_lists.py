"""CONTRACT 10 and 14: checkpoints of a session or of all, narrowed, by pages, with what they go on from."""

import asyncio
from typing import Any

import grpc
import pytest

from factories import fresh
from support.checkpointed import ancestors, got, listed, put, put_chain, write
from support.pages import all_of, pages_of
from support.rpc import As, Create, Rpc, field_refused, refusal
from support.sizes import KIB, MIB, fits

ONE: list[str] = ["1"]
NONE: list[str] = []
TOKEN_INVALID = (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_INVALID")


@pytest.fixture
async def spread(engine: Rpc, create: Create) -> list[str]:
    """Two sessions with checkpoints of one order in two namespaces, by two runs."""
    ids = [await create(session_id=fresh(name)) for name in "ab"]
    for number in range(12):
        namespace, run_id = ("", "n")[number % 2], ("r1", "r2", "")[number % 3]
        await put(
            engine,
            ids[number % 4 // 2],
            f"{number:02}",
            namespace=namespace,
            run_id=run_id,
            metadata_json=f'{{"step":{number},"parity":{number % 2}}}',
            writes=[write(data=str(number).encode())],
        )
    return ids


def _ids(*numbers: int) -> list[str]:
    return [f"{number:02}" for number in numbers]


@pytest.mark.parametrize("page_size", [1, 2, 5, 50])
async def test_lists_are_narrowed_by_session_namespace_run_and_before(
    engine: Rpc, spread: list[str], page_size: int
) -> None:
    first, second = spread
    expected: list[tuple[dict[str, Any], list[str]]] = [
        ({}, _ids(*range(11, -1, -1))),
        ({"session_id": first}, _ids(9, 8, 5, 4, 1, 0)),
        ({"session_id": second}, _ids(11, 10, 7, 6, 3, 2)),
        ({"namespace": ""}, _ids(10, 8, 6, 4, 2, 0)),
        ({"namespace": "n"}, _ids(11, 9, 7, 5, 3, 1)),
        ({"namespace": "m"}, []),
        ({"session_id": first, "namespace": ""}, _ids(8, 4, 0)),
        ({"run_id": "r1"}, _ids(9, 6, 3, 0)),
        ({"run_id": "r2", "session_id": second}, _ids(10, 7)),
        ({"run_id": "r2", "namespace": "n"}, _ids(7, 1)),
        ({"run_id": "r3"}, []),
        ({"before": "07"}, _ids(6, 5, 4, 3, 2, 1, 0)),
        ({"before": "07", "session_id": second, "namespace": "n"}, _ids(3)),
        ({"before": "00"}, []),
        ({"before": "z", "metadata_json": '{"parity":1}', "session_id": first}, _ids(9, 5, 1)),
        ({"metadata_json": '{"parity":1}', "run_id": "r1"}, _ids(9, 3)),
        ({"metadata_json": '{"parity":0,"step":4}'}, _ids(4)),
        ({"metadata_json": '{"parity":1,"step":4}'}, []),
    ]
    for asked, ids in expected:
        assert await listed(engine, **asked, page_size=page_size) == ids, asked
    everything = await all_of("checkpoints", engine.ListCheckpoints, page_size=page_size)
    assert [one.writes[0].data for one in everything] == [str(number).encode() for number in range(11, -1, -1)]
    assert [one.session_id for one in everything[:4]] == [second, second, first, first]


async def test_the_same_id_in_many_places_is_listed_once_for_each(engine: Rpc, create: Create) -> None:
    sessions = [await create() for _ in range(3)]
    for session_id in sessions:
        for namespace in ("", "a", "b"):
            await put(engine, session_id, "1", namespace=namespace)
    for page_size in (1, 2, 4):
        found = await all_of("checkpoints", engine.ListCheckpoints, page_size=page_size)
        assert len({(one.session_id, one.namespace) for one in found}) == len(found) == 9
        of_one = await all_of("checkpoints", engine.ListCheckpoints, page_size=page_size, session_id=sessions[1])
        assert [one.namespace for one in of_one] == ["b", "a", ""]


@pytest.mark.parametrize(
    ("metadata", "asked", "ids"),
    [
        ('{"a":null}', '{"a":null}', ONE),
        ('{"b":1}', '{"a":null}', NONE),
        ("", '{"a":null}', NONE),
        ("", "{}", ONE),
        ('{"a":1}', "{}", ONE),
        ('{"a":1}', '{"a":1.0}', NONE),
        ('{"a":1e3}', '{"a":1000}', NONE),
        ('{"a":7203685477580123457}', '{"a":7203685477580123457}', ONE),
        ('{"a":7203685477580123457}', '{"a":7203685477580123456}', NONE),
        ('{"a":1}', '{"a":true}', NONE),
        ('{"a":"1"}', '{"a":1}', NONE),
        ('{"a":"\\u00e9"}', '{"a":"\u00e9"}', ONE),
        ('{"\\u0061":1}', '{"a":1}', ONE),
        ('{"a":"\\u0000"}', '{"a":"\\u0000"}', ONE),
        ('{"a":"\\u0000"}', '{"a":""}', NONE),
        ('{"a":{"x":[1,{"y":null}],"z":2}}', '{ "a" : { "z":2, "x" : [ 1, {"y": null} ] } }', ONE),
        ('{"a":{"x":1,"z":2}}', '{"a":{"x":1}}', NONE),
        ('{"a":[1,2]}', '{"a":[2,1]}', NONE),
        ('{"a":false,"b":0}', '{"b":0,"a":false}', ONE),
        ('{"a":{}}', '{"a":[]}', NONE),
    ],
)
async def test_metadata_is_compared_by_what_its_top_level_values_mean(
    engine: Rpc, create: Create, metadata: str, asked: str, ids: list[str]
) -> None:
    session_id = await create()
    await put(engine, session_id, "1", metadata_json=metadata)
    for place in ({}, {"session_id": session_id}):
        assert await listed(engine, **place, metadata_json=asked) == ids


async def test_what_metadata_hides_is_looked_at_a_bounded_part_a_page(engine: Rpc, create: Create) -> None:
    session_id = await create()
    large = '{"a":1,"b":"' + "x" * (60 * KIB) + '"}'
    for number in range(300):
        await put(engine, session_id, f"{number:03}", metadata_json=large if number else '{"a":2}')
    for place in ({}, {"session_id": session_id}):
        pages = await pages_of(engine.ListCheckpoints, **place, metadata_json='{"a":2}')
        assert [one.checkpoint_id for page in pages for one in page.checkpoints] == ["000"]
        assert 2 <= len(pages) <= 4
        assert await listed(engine, **place, metadata_json='{"a":1}', before="200") == [
            f"{number:03}" for number in range(199, 0, -1)
        ]


async def test_pages_are_cut_by_bytes(engine: Rpc, create: Create) -> None:
    session_id = await create()
    ids = [f"{number}" for number in range(8)]
    await put_chain(engine, session_id, ids, data=b"\xff" * MIB, writes=[write(data=b"\xfe" * (MIB // 2))])
    for place in ({}, {"session_id": session_id}, {"metadata_json": "{}"}):
        pages = await pages_of(engine.ListCheckpoints, **place)
        assert [one.checkpoint_id for page in pages for one in page.checkpoints] == ids[::-1]
        assert len(pages) >= 3
        assert all(page.checkpoints for page in pages)
    assert await ancestors(engine, session_id) == ids[-2::-1]
    whole = fits(await engine.GetCheckpoint(session_id=session_id, ancestors=True))
    assert len(whole.ancestors) == 1


async def test_pages_have_a_default_size_and_a_most(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(60):
        await put(engine, session_id, f"{number:02}")
    for place in ({}, {"session_id": session_id}):
        assert len((await engine.ListCheckpoints(**place)).checkpoints) == 50
        assert len((await engine.ListCheckpoints(**place, page_size=2**31 - 1)).checkpoints) == 60
        assert await field_refused(engine.ListCheckpoints(**place, page_size=-1)) == "page_size"


async def test_pages_neither_repeat_nor_miss_while_others_put_and_delete(
    engines: tuple[Rpc, Rpc], create: Create
) -> None:
    session_id = await create()
    stay = [f"{number:03}" for number in range(0, 200, 2)]
    for checkpoint_id in stay:
        await put(engines[0], session_id, checkpoint_id)
    is_over = asyncio.Event()

    async def disturb(rpc: Rpc) -> None:
        while not is_over.is_set():
            for number in range(1, 200, 20):
                await put(rpc, session_id, f"{number:03}", run_id="passing")
            await rpc.DeleteCheckpoints(session_id=session_id, run_id="passing")

    async with asyncio.TaskGroup() as group:
        group.create_task(disturb(engines[1]))
        for page_size in (1, 3, 7):
            for place in ({}, {"session_id": session_id}):
                found = await listed(engines[0], **place, page_size=page_size)
                assert len(set(found)) == len(found)
                assert found == sorted(found, reverse=True)
                assert set(stay) <= set(found)
        is_over.set()


async def test_page_tokens_are_good_for_their_call_only(engine: Rpc, spread: list[str], call_as: As) -> None:
    first, second = spread
    asked: dict[str, Any] = {"session_id": first, "page_size": 1}
    token = (await engine.ListCheckpoints(**asked)).next_page_token
    assert token
    for changed in (
        {"session_id": second},
        {"session_id": ""},
        {"namespace": ""},
        {"run_id": "r1"},
        {"metadata_json": "{}"},
        {"before": "x"},
    ):
        refused = await refusal(engine.ListCheckpoints(**asked | changed, page_token=token))
        assert refused.what == TOKEN_INVALID, changed
    for tampered in (token[:-1], token + "A", ("B" if token[0] == "A" else "A") + token[1:], "=", "\u00e9"):
        assert (await refusal(engine.ListCheckpoints(**asked, page_token=tampered))).what == TOKEN_INVALID
    stranger = call_as("e", "engine", tenant=fresh("tenant"))
    assert (await refusal(stranger.ListCheckpoints(**asked, page_token=token))).what == TOKEN_INVALID
    assert (await refusal(engine.ListMessages(session_id=first, page_size=1, page_token=token))).what == TOKEN_INVALID
    other_server = call_as("e", "engine", server=1)
    page = await other_server.ListCheckpoints(**asked | {"page_size": 2}, page_token=token)
    assert [one.checkpoint_id for one in page.checkpoints] == _ids(8, 5)


async def test_ancestors_come_in_one_call_the_nearest_first_each_with_its_writes(engine: Rpc, create: Create) -> None:
    session_id = await create()
    ids = [f"{number:03}" for number in range(120)]
    await put_chain(engine, session_id, ids, writes=[write(data=b"w")])
    await put(engine, session_id, "aside", parent_id="050")
    await put(engine, session_id, "119", namespace="n")
    answer = fits(await engine.GetCheckpoint(session_id=session_id, checkpoint_id="119", ancestors=True))
    assert [one.checkpoint_id for one in answer.ancestors] == ids[-2::-1]
    assert not answer.next_ancestors_page_token
    assert all(list(one.writes) == [write(data=b"w")] for one in answer.ancestors)
    assert await ancestors(engine, session_id, "aside") == ids[50::-1]
    assert await ancestors(engine, session_id, "000") == []
    assert not (await engine.GetCheckpoint(session_id=session_id)).ancestors


async def test_a_long_line_of_ancestors_comes_by_pages(engine: Rpc, create: Create) -> None:
    session_id = await create()
    ids = [f"{number:04}" for number in range(1203)]
    await put_chain(engine, session_id, ids)
    assert await ancestors(engine, session_id) == ids[-2::-1]
    assert await ancestors(engine, session_id, "1001") == ids[1000::-1]


async def test_ancestors_end_where_a_parent_was_deleted(engine: Rpc, create: Create) -> None:
    session_id = await create()
    await put_chain(engine, session_id, "abcdef")
    await engine.DeleteCheckpoints(session_id=session_id, keep_newest=2)
    assert await ancestors(engine, session_id) == ["e"]
    assert await ancestors(engine, session_id, "e") == []
    assert (await got(engine, session_id, "e")).parent_id == "d"


async def test_a_page_token_of_ancestors_is_good_for_its_call_only(engine: Rpc, create: Create) -> None:
    session_id, other = await create(), await create()
    for one in (session_id, other):
        await put_chain(engine, one, "abcd", data=b"x" * 2 * MIB)
    on: dict[str, Any] = {"session_id": session_id, "ancestors": True}
    first = await engine.GetCheckpoint(**on)
    token = first.next_ancestors_page_token
    assert token
    # The latest is the one that it was: another may have come since.
    await put(engine, session_id, "z")
    page = fits(await engine.GetCheckpoint(**on, ancestors_page_token=token))
    assert (page.checkpoint.checkpoint_id, page.checkpoint.data) == ("d", b"")
    assert [one.checkpoint_id for one in (*first.ancestors, *page.ancestors)] == ["c"]
    for changed in ({"session_id": other}, {"ancestors": False}, {"checkpoint_id": "d"}, {"namespace": "n"}):
        refused = await refusal(engine.GetCheckpoint(**on | changed, ancestors_page_token=token))
        assert refused.what == TOKEN_INVALID, changed
    for tampered in (token[:-1], token + "A", "x"):
        refused = await refusal(engine.GetCheckpoint(**on, ancestors_page_token=tampered))
        assert refused.what == TOKEN_INVALID


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("session_id", {"session_id": "x" * 129}),
        ("namespace", {"namespace": "x" * 129}),
        ("run_id", {"run_id": "\x00"}),
        ("before", {"before": "x" * 129}),
        ("metadata_json", {"metadata_json": "[]"}),
        ("metadata_json", {"metadata_json": "{"}),
        ("metadata_json", {"metadata_json": '{"a":NaN}'}),
        ("metadata_json", {"metadata_json": '{"a":"' + "x" * (64 * KIB) + '"}'}),
    ],
)
async def test_a_bad_filter_is_refused_by_name(engine: Rpc, field: str, bad: dict[str, Any]) -> None:
    assert await field_refused(engine.ListCheckpoints(**bad)) == field
