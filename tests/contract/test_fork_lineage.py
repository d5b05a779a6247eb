"""Where a fork comes from is read both ways, and it is read and followed like any session."""

from random import Random

from factories import called, fresh, said, texts_of
from lockstitch.v1.commit_pb2 import Commit
from lockstitch_server.server_process import ServerProcess
from support.histories import History, paged, whole
from support.rpc import As, Create, Rpc, refusal
from support.streams import Reader

LARGE = 1_500_000


async def test_forks_of_forks_know_where_they_come_from(engine: Rpc, create: Create) -> None:
    root = await create(messages=[said("one")])
    await engine.Append(session_id=root, messages=[said("two")])
    child = (await engine.ForkSession(session_id=root, at_version=1)).session
    await engine.Append(session_id=child.session_id, messages=[said("child's")])
    grandchild = (await engine.ForkSession(session_id=child.session_id)).session
    for fork, origin, version in ((child, root, 1), (grandchild, child.session_id, 2)):
        shown = [
            fork,
            (await engine.GetSession(session_id=fork.session_id)).session,
            (await engine.GetSession(session_id=fork.session_id, at_version=1)).session,
            (await engine.GetContext(session_id=fork.session_id)).session,
        ]
        for session in shown:
            assert (session.forked_from.session_id, session.forked_from.version) == (origin, version)
    assert not (await engine.GetSession(session_id=root)).session.HasField("forked_from")
    assert texts_of((await whole(engine, grandchild.session_id)).messages) == ["one", "child's"]
    for origin, forks in ((root, [child]), (child.session_id, [grandchild]), (grandchild.session_id, [])):
        listed = (await engine.ListSessions(forked_from=origin)).sessions
        assert [session.session_id for session in listed] == [fork.session_id for fork in forks]
        assert [session.forked_from.session_id for session in listed] == [origin] * len(forks)


async def test_forks_are_listed_by_whatever_else_is_asked(engine: Rpc, user: Rpc, call_as: As, create: Create) -> None:
    source, other = await create(agent="a"), await create(agent="a")
    theirs = await create(user_id="u2")
    made = [
        (await engine.ForkSession(session_id=source, labels={"n": str(number % 3), "all": "y"})).session.session_id
        for number in range(23)
    ]
    await engine.ForkSession(session_id=other, labels={"n": "0", "all": "y"})
    await engine.ForkSession(session_id=theirs)
    random = Random(1)
    for fork in random.sample(made, 10):
        await engine.Append(session_id=fork, messages=[said("used")])
    by_use = [session.session_id for session in await paged(engine.ListSessions, "sessions", page_size=1000)]
    expected = [session_id for session_id in by_use if session_id in made]
    assert len(expected) == len(made)
    for page_size in (1, 7, 1000):
        listed = await paged(user.ListSessions, "sessions", page_size=page_size, forked_from=source)
        assert [session.session_id for session in listed] == expected
        labelled = await paged(
            engine.ListSessions, "sessions", page_size=page_size, forked_from=source, labels={"n": "1", "all": "y"}
        )
        assert [one.session_id for one in labelled] == [fork for fork in expected if made.index(fork) % 3 == 1]
    await engine.CloseSession(session_id=made[0])
    await engine.DeleteSession(session_id=made[1])
    closed = await engine.ListSessions(forked_from=source, statuses=[2])
    assert [session.session_id for session in closed.sessions] == [made[0]]
    assert len((await engine.ListSessions(forked_from=source)).sessions) == len(made) - 1
    assert len((await engine.ListSessions(forked_from=source, show_deleted=True)).sessions) == len(made)
    assert len((await engine.ListSessions(forked_from=source, user_id="u1", agent="a")).sessions) == len(made) - 1
    assert not (await engine.ListSessions(forked_from=source, agent="b")).sessions
    assert not (await engine.ListSessions(forked_from="never-was")).sessions
    # Neither another user nor another tenant lists them by their source.
    assert not (await call_as("u2").ListSessions(forked_from=source)).sessions
    assert not (await call_as("e", "engine", tenant=fresh("tenant")).ListSessions(forked_from=source)).sessions
    token = (await engine.ListSessions(forked_from=source, page_size=1)).next_page_token
    elsewhere = await refusal(engine.ListSessions(forked_from=other, page_size=1, page_token=token))
    assert elsewhere.reason == "PAGE_TOKEN_INVALID"


async def test_a_follower_gets_the_base_once_and_then_commits(
    engine: Rpc,
    create: Create,
    shared_servers: tuple[ServerProcess, ServerProcess],
    tenant: str,
) -> None:
    source = await create(messages=[said("one"), called("c")], memory={"goal": "g"})
    forked = await engine.ForkSession(session_id=source, title="t", request_id="r")
    fork = forked.session.session_id
    targets = [server.target for server in shared_servers]
    token = shared_servers[0].token(tenant=tenant, user="engine-1", role="engine")
    async with Reader(targets, token, fork, after_version=0) as reader:
        await reader.reached(1)
        live = History((engine,), fork, Random(3))
        await live.make(15)
        last = max(live.seen)
        await reader.reached(last)
        commits: list[Commit] = reader.commits
    assert [commit.version for commit in commits] == list(range(1, last + 1))
    first = commits[0]
    assert first.base.session == forked.session
    assert (first.base.version, first.base.last_seq) == (1, 2)
    assert not any(first.HasField(other) for other in ("memory", "session", "run"))
    assert not [*first.messages, *first.tool_calls, *first.removed]
    assert not any(commit.HasField("base") for commit in commits[1:])
    assert first.principal.subject == "engine-1"
    listed = await paged(engine.ListCommits, "commits", page_size=4, session_id=fork)
    assert listed == commits


async def test_a_fork_of_large_messages_is_read_and_followed_with_default_limits(
    engine: Rpc, create: Create, shared_servers: tuple[ServerProcess, ServerProcess], tenant: str
) -> None:
    source = await create(metadata_json='{"m": "' + "m" * 60_000 + '"}')
    for name in "abcd":
        await engine.Append(session_id=source, messages=[said(name * 2 * LARGE)], memory_change=None)
    await engine.UpdateMemory(session_id=source, change={"merge_patch_json": '{"k": "' + "k" * 900_000 + '"}'})
    await engine.Append(
        session_id=source,
        tool_calls=[{"call_id": f"c{n}", "name": "n", "arguments_json": '"' + "a" * 900_000 + '"'} for n in range(3)],
    )
    fork = (await engine.ForkSession(session_id=source)).session.session_id
    listed = await paged(engine.ListMessages, "messages", session_id=fork)
    assert texts_of(listed) == [name * 2 * LARGE for name in "abcd"]
    assert (await engine.GetMemory(session_id=fork)).memory == (await engine.GetMemory(session_id=fork)).memory
    assert len(await paged(engine.ListToolCalls, "tool_calls", session_id=fork)) == 3
    assert len((await engine.GetSession(session_id=fork, recent_messages=10, include_memory=True)).messages) > 0
    targets = [shared_servers[1].target]
    token = shared_servers[0].token(tenant=tenant, user="engine-1", role="engine")
    async with Reader(targets, token, fork, after_version=0) as reader:
        await engine.Append(session_id=fork, messages=[said("z" * 2 * LARGE)])
        await reader.reached(2)
        assert texts_of(reader.commits[1].messages) == ["z" * 2 * LARGE]
    assert len((await engine.ListCommits(session_id=fork)).commits) == 2
