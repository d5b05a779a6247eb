"""Case A17: whatever was accepted fits a default client, in every read; pages are cut by bytes, not only by number."""

import grpc
import pytest

from factories import ASSISTANT, TOOL, answered, called, fresh, held, keyed, replaced, said, texts_of
from lockstitch.v1.message_pb2 import Blob, Message, Original, Part, ToolResultPart
from support.pages import all_of, pages_of
from support.rpc import Create, Rpc, refusal
from support.sizes import CONTENT_BYTES_MAX, KIB, MIB, fits

WIDE = "\U0001f600"  # four bytes a character


async def test_pages_of_large_messages_fit_and_join_to_the_whole(engine: Rpc, create: Create) -> None:
    session_id = await create()
    texts = [str(number) * 900_000 for number in range(10)]
    for text in texts:
        await engine.Append(session_id=session_id, messages=[said(text)])
    assert texts_of(await all_of("messages", engine.ListMessages, session_id=session_id, page_size=100)) == texts
    pages = await pages_of(engine.ListMessages, session_id=session_id, page_size=100, descending=True)
    assert texts_of([message for page in pages for message in page.messages]) == texts[::-1]
    assert len(pages) == 4
    commits = await all_of("commits", engine.ListCommits, session_id=session_id, page_size=100)
    assert texts_of([message for commit in commits for message in commit.messages]) == texts
    for cut in (
        fits(await engine.GetContext(session_id=session_id)),
        fits(await engine.GetSession(session_id=session_id, recent_messages=100, include_memory=True)),
    ):
        assert texts_of(cut.messages) == texts[-len(cut.messages) :]
        assert len(cut.messages) >= 3
        assert cut.truncated


@pytest.mark.parametrize("size", [CONTENT_BYTES_MAX + 1, 5_000_000, 8_000_000])
async def test_a_message_that_is_too_large_is_refused_with_the_limit(engine: Rpc, create: Create, size: int) -> None:
    session_id = await create()
    refused = await refusal(engine.Append(session_id=session_id, messages=[said("small"), said("x" * size)]))
    assert refused.what == (grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_TOO_LARGE")
    assert (refused.field, refused.metadata) == ("messages[1]", {"limit_bytes": str(CONTENT_BYTES_MAX)})
    assert (await engine.GetSession(session_id=session_id)).session.version == 1
    await engine.Append(session_id=session_id, messages=[said("x" * 10)])


async def test_a_batch_that_is_too_large_is_refused_with_the_limit(engine: Rpc, create: Create) -> None:
    session_id = await create()
    batch = [said("x" * MIB) for _ in range(4)]
    refused = await refusal(engine.Append(session_id=session_id, messages=batch))
    assert (refused.reason, refused.metadata) == ("BATCH_TOO_LARGE", {"limit_bytes": str(CONTENT_BYTES_MAX)})
    await engine.Append(session_id=session_id, messages=batch[:3])


LARGEST = {
    "text": said("x" * CONTENT_BYTES_MAX),
    "wide text": said(WIDE * (CONTENT_BYTES_MAX // 4)),
    "json": held(json='"' + "x" * (CONTENT_BYTES_MAX - 2) + '"'),
    "blob": held(blob=Blob(mime_type="image/png", data=b"\0" * CONTENT_BYTES_MAX)),
    "arguments": called("c", arguments='"' + "x" * (CONTENT_BYTES_MAX - 2) + '"'),
    "original": Message(role=ASSISTANT, original=Original(format="f", data=b"\0" * CONTENT_BYTES_MAX)),
    "reasoning": held(role=ASSISTANT, reasoning="x" * CONTENT_BYTES_MAX),
}


@pytest.mark.parametrize("kind", LARGEST)
async def test_the_largest_message_is_readable_by_every_read(engine: Rpc, create: Create, kind: str) -> None:
    session_id = await create()
    await engine.Append(session_id=session_id, messages=[LARGEST[kind]])
    whole = fits(await engine.ListMessages(session_id=session_id)).messages[0]
    assert (list(whole.parts), whole.original) == (list(LARGEST[kind].parts), LARGEST[kind].original)
    assert fits(await engine.ListCommits(session_id=session_id, after_version=1)).commits[0].messages[0] == whole
    assert fits(await engine.GetSession(session_id=session_id, recent_messages=1)).messages[0] == whole
    context = fits(await engine.GetContext(session_id=session_id))
    assert [message.seq for message in context.messages] == [1]
    fits(await engine.GetSession(session_id=session_id, recent_messages=1, include_memory=True))
    fits(await engine.ListToolCalls(session_id=session_id))


async def test_the_largest_result_is_readable_by_every_read(engine: Rpc, create: Create) -> None:
    most = '"' + "r" * (CONTENT_BYTES_MAX - 2) + '"'
    session_id = await create(messages=[called("c", arguments='"' + "a" * (CONTENT_BYTES_MAX - 2) + '"')])
    ended = fits(await engine.CompleteToolCall(session_id=session_id, call_id="c", result_json=most)).tool_call
    # Arguments and result together are too much for one answer: the result goes first.
    assert (len(ended.arguments_json), ended.result_json, ended.elided_bytes) == (len(most), "", len(most))
    assert fits(await engine.ListToolCalls(session_id=session_id)).tool_calls[0] == ended
    (result,) = fits(await engine.ListMessages(session_id=session_id, after_seq=1)).messages
    assert result.parts[0].tool_result.json == most
    assert await all_of("commits", engine.ListCommits, session_id=session_id)
    fits(await engine.GetContext(session_id=session_id))
    fits(await engine.GetSession(session_id=session_id, recent_messages=2, include_open_tool_calls=True))


async def test_the_largest_create_is_readable_by_every_read(engine: Rpc, create: Create) -> None:
    labels = {WIDE * 126 + f"{number:02}": WIDE * 128 for number in range(64)}
    session_id = await create(
        title=WIDE * 1024,
        agent=WIDE * 128,
        labels=labels,
        metadata_json='"' + "m" * (64 * KIB - 2) + '"',
        memory={"extra_json": '{"k":"' + "v" * (MIB - 16) + '"}'},
        messages=[said("x" * (2 * MIB - 512 * KIB))],
    )
    assert dict((await engine.GetSession(session_id=session_id)).session.labels) == labels
    fits(await engine.GetSession(session_id=session_id, recent_messages=9, include_memory=True))
    fits(await engine.GetContext(session_id=session_id))
    fits(await engine.ListCommits(session_id=session_id))
    fits(await engine.ListMessages(session_id=session_id))
    fits(await engine.ListSessions())


async def test_memory_of_the_largest_size_is_readable_with_all_that_stands_beside_it(
    engine: Rpc, create: Create
) -> None:
    session_id = await create(messages=[called("c", arguments='"' + "a" * (CONTENT_BYTES_MAX - 100) + '"')])
    fits(await engine.UpdateMemory(session_id=session_id, change=keyed(k='"' + "v" * (MIB - 3) + '"')))
    fits(await engine.GetMemory(session_id=session_id))
    await engine.Append(session_id=session_id, messages=[answered("c")])
    context = fits(await engine.GetContext(session_id=session_id))
    assert [message.role for message in context.messages] in ([], [ASSISTANT, TOOL])
    assert context.truncated


async def test_memory_keys_that_grow_when_they_are_escaped_are_readable(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for start in range(0, 2000, 500):
        keys = {f"{number:04}" + '"\\' * 250: "1" for number in range(start, start + 500)}
        fits(await engine.UpdateMemory(session_id=session_id, change=keyed(**keys)))
    fits(await engine.GetMemory(session_id=session_id))
    await engine.Append(session_id=session_id, messages=[said("x" * 2_800_000)])
    fits(await engine.GetContext(session_id=session_id))
    fits(await engine.GetSession(session_id=session_id, recent_messages=1, include_memory=True))


async def test_many_tool_calls_with_long_names_are_readable(engine: Rpc, create: Create) -> None:
    session_id = await create()
    wide = WIDE * 124
    for batch in range(4):
        message = Message(role=ASSISTANT, message_id=wide + str(batch))
        for number in range(1000 if batch == 0 else 300):
            part = called(f"{wide}{batch}{number:03}", name=wide, arguments='"' + "x" * 1000 + '"').parts[0]
            message.parts.append(part)
        await engine.Append(session_id=session_id, messages=[message])
    calls = await all_of("tool_calls", engine.ListToolCalls, session_id=session_id, page_size=1000)
    assert len(calls) == 1900
    assert not any(call.elided_bytes for call in calls)
    await all_of("commits", engine.ListCommits, session_id=session_id)
    context = fits(await engine.GetContext(session_id=session_id))
    got = fits(await engine.GetSession(session_id=session_id, recent_messages=10, include_open_tool_calls=True))
    assert context.open_tool_calls
    assert got.open_tool_calls
    assert got.truncated


async def test_calls_whose_commit_could_not_be_read_are_refused(engine: Rpc, create: Create) -> None:
    session_id = await create()
    wide = WIDE * 124
    message = Message(role=ASSISTANT, message_id=wide)
    for number in range(1000):
        message.parts.append(called(f"{wide}{number:03}", name=wide, arguments='"' + "x" * 2200 + '"').parts[0])
    refused = await refusal(engine.Append(session_id=session_id, messages=[message]))
    assert (refused.reason, refused.metadata) == ("BATCH_TOO_LARGE", {"limit_bytes": str(CONTENT_BYTES_MAX)})


async def test_the_resources_of_calls_are_readable(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called(*(f"c{number}" for number in range(30)))])
    resources = [{"uri": f"u{number}", "before": "b" * 4000, "after": "a" * 4000} for number in range(30)]
    for number in range(30):
        fits(await engine.UpdateToolCall(session_id=session_id, call_id=f"c{number}", resources=resources))
    calls = await all_of("tool_calls", engine.ListToolCalls, session_id=session_id)
    assert [len(call.resources) for call in calls] == [30] * 30
    await all_of("commits", engine.ListCommits, session_id=session_id)
    fits(await engine.GetContext(session_id=session_id))
    fits(await engine.GetSession(session_id=session_id, include_open_tool_calls=True))

    # One commit that touches them all carries them all.
    beginning = [{"call_id": f"c{number}", "status": "TOOL_CALL_STATUS_RUNNING"} for number in range(30)]
    version = (await engine.Append(session_id=session_id, tool_calls=beginning)).receipt.version
    commits = fits(await engine.ListCommits(session_id=session_id, after_version=version - 1)).commits
    assert len(commits[0].tool_calls) == 30


async def test_sessions_with_much_on_them_are_listed_in_pages_that_fit(engine: Rpc, create: Create) -> None:
    labels = {WIDE * 126 + f"{number:02}": WIDE * 128 for number in range(64)}
    created = [await create(session_id=fresh(WIDE * 80), labels=labels, title=WIDE * 1000) for _ in range(70)]
    listed = await all_of("sessions", engine.ListSessions, page_size=1000)
    assert sorted(session.session_id for session in listed) == sorted(created)


async def test_an_error_beside_a_result_is_readable(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called(*(f"c{number}" for number in range(100)))])
    for number in range(100):
        ended = await engine.CompleteToolCall(session_id=session_id, call_id=f"c{number}", error="e" * 65_536)
        assert len(ended.tool_call.error) == 65_536
    calls = await all_of("tool_calls", engine.ListToolCalls, session_id=session_id)
    assert {len(call.error) for call in calls} == {65_536}
    fits(await engine.GetContext(session_id=session_id))
    commits = await all_of("commits", engine.ListCommits, session_id=session_id)
    assert len(commits) == 101


async def test_a_tool_message_of_the_largest_error_text_is_readable(engine: Rpc, create: Create) -> None:
    session_id = await create(messages=[called("c")])
    result = ToolResultPart(call_id="c", text="e" * CONTENT_BYTES_MAX, is_error=True)
    await engine.Append(session_id=session_id, messages=[Message(role=TOOL, parts=[Part(tool_result=result)])])
    fits(await engine.ListToolCalls(session_id=session_id))
    fits(await engine.GetContext(session_id=session_id))
    await all_of("commits", engine.ListCommits, session_id=session_id)


async def test_memory_changes_are_readable_in_the_log(engine: Rpc, create: Create) -> None:
    session_id = await create()
    for number in range(8):
        change = replaced(extra_json=f'{{"k{number}":"' + "v" * (MIB - 100) + '"}')
        await engine.UpdateMemory(session_id=session_id, change=change, force=True)
    commits = await all_of("commits", engine.ListCommits, session_id=session_id)
    assert [commit.version for commit in commits] == list(range(1, 10))
