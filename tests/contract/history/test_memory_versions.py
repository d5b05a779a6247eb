"""Every memory that a session had, newest first."""

from factories import keyed, patched, said
from lockstitch.v1.working_memory_pb2 import WorkingMemory
from support.histories import paged
from support.rpc import Create, Rpc, field_refused, refusal


async def test_only_commits_of_memory_make_a_version_of_it(engine: Rpc, user: Rpc, create: Create) -> None:
    session_id = await create(messages=[said("a")])
    assert not (await engine.ListMemoryVersions(session_id=session_id)).memories
    seen: list[WorkingMemory] = []
    for change in (
        patched('{"goal":"g","x":1.0}'),
        keyed("x"),
        patched('{"x": {"y": [1]}}'),
        patched('{"x":{"y":null}}'),
    ):
        seen.append((await engine.UpdateMemory(session_id=session_id, change=change)).memory)
        await engine.Append(session_id=session_id, messages=[said("between")])
    await engine.UpdateMemory(session_id=session_id, change=keyed("not-there"))
    appended = await engine.Append(session_id=session_id, messages=[said("b")], memory_change=patched('{"z":"z"}'))
    seen.append((await engine.GetMemory(session_id=session_id)).memory)
    assert [memory.version for memory in seen] == [2, 4, 6, 8, appended.receipt.version]
    for size in (1, 2, 5, 50):
        pages = await paged(engine.ListMemoryVersions, "memories", page_size=size, session_id=session_id)
        assert pages == seen[::-1]
        assert await paged(user.ListMemoryVersions, "memories", page_size=size, session_id=session_id) == pages
    for memory in seen:
        assert (await engine.GetMemory(session_id=session_id, at_version=memory.version)).memory == memory
    for memory in seen[:-1]:
        later = await engine.GetMemory(session_id=session_id, at_version=memory.version + 1)
        assert later.memory == memory


async def test_a_memory_that_became_empty_is_a_version(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "g"})
    await engine.UpdateMemory(session_id=session_id, change=keyed("goal"))
    found = (await engine.ListMemoryVersions(session_id=session_id)).memories
    assert list(found) == [WorkingMemory(version=2), WorkingMemory(goal="g", version=1)]


async def test_large_memories_come_on_pages_of_their_own(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(5):
        text = str(number) * 1_000_000
        await engine.UpdateMemory(session_id=session_id, change=keyed(a=f'"{text}"'))
    first = await engine.ListMemoryVersions(session_id=session_id)
    assert 1 <= len(first.memories) < 4
    assert first.ByteSize() < 4 * 1024 * 1024 - 64 * 1024
    rest = await paged(engine.ListMemoryVersions, "memories", session_id=session_id)
    assert [memory.extra_json[6] for memory in rest] == ["4", "3", "2", "1", "0"]


async def test_what_changes_while_paging_is_not_mixed_in(engine: Rpc, create: Create) -> None:
    session_id = await create(memory={"goal": "0"})
    for number in (1, 2, 3):
        await engine.UpdateMemory(session_id=session_id, change=patched(f'{{"goal":"{number}"}}'))
    first = await engine.ListMemoryVersions(session_id=session_id, page_size=2)
    await engine.UpdateMemory(session_id=session_id, change=patched('{"goal":"4"}'))
    token = first.next_page_token
    second = await engine.ListMemoryVersions(session_id=session_id, page_size=2, page_token=token)
    goals = [memory.goal for page in (first, second) for memory in page.memories]
    assert (goals, second.next_page_token) == (["3", "2", "1", "0"], "")


async def test_bad_pages_are_refused(engine: Rpc, user: Rpc, create: Create) -> None:
    session_id, other = await create(memory={"goal": "g"}), await create(memory={"goal": "g"})
    await engine.UpdateMemory(session_id=session_id, change=patched('{"goal":"h"}'))
    named = await field_refused(engine.ListMemoryVersions(session_id=session_id, page_size=-1))
    assert named == "page_size"
    token = (await engine.ListMemoryVersions(session_id=session_id, page_size=1)).next_page_token
    for foreign in (
        engine.ListMemoryVersions(session_id=other, page_token=token),
        engine.ListCommits(session_id=session_id, page_token=token),
        engine.ListMemoryVersions(session_id=session_id, page_token=("B" if token[0] == "A" else "A") + token[1:]),
        user.ListMemoryVersions(session_id=session_id, page_token=token),
    ):
        assert (await refusal(foreign)).reason == "PAGE_TOKEN_INVALID"
    assert len((await engine.ListMemoryVersions(session_id=session_id, page_size=1_000_000)).memories) == 2
