"""Who is believed by a real server: issuers, certificates, TLS."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from factories import fresh, said
from lockstitch import Client, RoleNotAllowed, SessionHandle, SessionNotFound, TokenInvalid, TokenMissing, user
from lockstitch.v1 import session_service_pb2, subscription_pb2
from lockstitch.v1.session_service_pb2_grpc import SessionServiceStub
from lockstitch_server.server_process import ServerProcess
from support.certificates import Certified, certified, trusting
from support.commands import refused
from support.databases import Database
from support.issuing import AUDIENCE, ISSUER, ProviderKey, key_server, key_set
from support.rpc import refusal

Start = Callable[..., ServerProcess]
AUTHORITY, STRANGER = certified("authority"), certified("another authority")
SPIFFE = "spiffe://example/engine"
pb: Any = session_service_pb2


def issued(location: str, **more: Any) -> dict[str, str]:
    """The settings of a server that believes the test's provider."""
    setting = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": location} | more
    return {"LOCKSTITCH_ISSUERS": json.dumps([setting])}


def local(server: ServerProcess) -> str:
    """Where a server is, by the name in its certificate."""
    return "localhost:" + server.target.rpartition(":")[2]


@pytest.fixture
async def client_of() -> AsyncIterator[Callable[..., Client]]:
    """Clients that are closed with the test."""
    async with AsyncExitStack() as open_clients:

        def made(target: str, token: str | None, **more: Any) -> Client:
            client = Client(target, token=token, **more)
            open_clients.push_async_callback(client.__aexit__, None, None, None)
            return client

        yield made


async def test_an_issuers_new_key_is_found_at_once_and_an_old_ones_tokens_end(
    database: Database, start_server: Start, folder: Path, client_of: Callable[..., Client]
) -> None:
    old, new = ProviderKey("old", "RS256"), ProviderKey("new", "ES256")
    file = folder / "keys.json"
    file.write_bytes(key_set(old))
    server = start_server(database, **issued(str(file)))
    before = client_of(server.target, old.sign(tenant=fresh("tenant")))
    session = await before.create(user_id="u1")
    with pytest.raises(TokenInvalid):
        await client_of(server.target, new.sign()).create()

    file.write_bytes(key_set(new))
    await client_of(server.target, new.sign()).create()
    with pytest.raises(TokenInvalid):
        await session.append(messages=[user("hi")])
    # The data folder's own are believed beside them, unless told otherwise.
    await client_of(server.target, server.token()).create()


async def test_an_issuer_that_is_away_does_not_matter_to_whom_it_signed_for(
    database: Database, start_server: Start, client_of: Callable[..., Client]
) -> None:
    key = ProviderKey("k")
    with key_server(key_set(key)) as issuer:
        server = start_server(
            database,
            **issued(issuer.url, role_claim="scope", roles={"bot": "engine"}),
            LOCKSTITCH_ACCEPT_OWN_TOKENS="false",
            LOCKSTITCH_JWKS_REFRESH_INTERVAL="0.1",
        )
        token = key.sign(role=None, scope="bot")
    await client_of(server.target, token).create()
    await client_of(server.target, key.sign(role=None, scope="bot", sub="another")).create()
    with pytest.raises(TokenInvalid):
        await client_of(server.target, server.token()).create()


async def test_forged_key_ids_do_not_load_the_issuer_or_hold_up_others(
    database: Database, start_server: Start, client_of: Callable[..., Client]
) -> None:
    key, forger = ProviderKey("k"), ProviderKey("forged")
    with key_server(key_set(key)) as issuer:
        server = start_server(database, **issued(issuer.url))
        good = client_of(server.target, key.sign())
        for number in range(30):
            with pytest.raises(TokenInvalid):
                await client_of(server.target, forger.sign(key_id=f"k{number}")).create()
            await good.create()
        assert issuer.asked <= 3


async def test_an_engine_that_acts_for_a_user_reaches_that_users_sessions_alone(
    database: Database, start_server: Start, folder: Path, client_of: Callable[..., Client]
) -> None:
    key, tenant = ProviderKey("k"), fresh("tenant")
    file = folder / "keys.json"
    file.write_bytes(key_set(key))
    server = start_server(database, **issued(str(file)))
    whole = client_of(server.target, key.sign(tenant=tenant))
    narrow = client_of(server.target, key.sign(tenant=tenant, acts_for="u1"))
    other = await whole.create(user_id="u2", messages=[user("secret")])

    own = await narrow.create()
    assert (await own.get()).session.user_id == "u1"
    assert (await (await narrow.create(user_id="u1")).get()).session.user_id == "u1"
    with pytest.raises(RoleNotAllowed):
        await narrow.create(user_id="u2")
    assert {session.user_id async for session in narrow.list()} == {"u1"}
    assert [session async for session in narrow.list(user_id="u2")] == []
    calls: list[Callable[[SessionHandle], Awaitable[object]]] = [
        lambda at: at.get(),
        lambda at: at.context(),
        lambda at: at.append(messages=[user("hi")]),
        lambda at: at.close(),
    ]
    for call in calls:
        with pytest.raises(SessionNotFound) as foreign:
            await call(narrow.session(other.session_id))
        with pytest.raises(SessionNotFound) as unknown:
            await call(narrow.session("never"))
        assert foreign.value.message == unknown.value.message
    await own.append(messages=[user("hi")])


@pytest.mark.parametrize("location", ["/nowhere/keys.json", "http://127.0.0.1:1/keys"])
def test_a_server_without_its_issuers_keys_does_not_start(database: Database, folder: Path, location: str) -> None:
    said_so = refused(
        *("serve", "--data-dir", folder, "--listen", "127.0.0.1:0"),
        LOCKSTITCH_DATABASE_URL=database.app_url,
        **issued(location),
    )
    assert f"the keys of {location} cannot be read" in said_so


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:1", "somewhere.example:0"])
def test_plain_text_goes_to_no_network_unless_told_so_by_name(folder: Path, address: str) -> None:
    told = refused("serve", "--data-dir", folder, "--listen", address)
    assert f"serving on {address} without TLS would put tokens on the network" in told
    assert "LOCKSTITCH_ALLOW_PLAINTEXT=true" in told
    assert "without TLS" in refused("check", "--data-dir", folder, LOCKSTITCH_LISTEN=address)


def test_a_server_that_fails_on_purpose_serves_no_network(folder: Path) -> None:
    settings = {"LOCKSTITCH_FAILPOINTS": str(folder), "LOCKSTITCH_ALLOW_PLAINTEXT": "true"}
    assert "LOCKSTITCH_FAILPOINTS" in refused("serve", "--data-dir", folder, "--listen", "0.0.0.0:0", **settings)


async def test_plain_text_is_served_on_a_network_where_told_so_by_name(database: Database, folder: Path) -> None:
    settings = {"LOCKSTITCH_DATABASE_URL": database.app_url, "LOCKSTITCH_ALLOW_PLAINTEXT": "true"}
    server = ServerProcess.start(folder, arguments=["--listen", "0.0.0.0:0"], environment=settings)
    try:
        async with Client("127.0.0.1:" + server.target.rpartition(":")[2], token=server.token()) as client:
            await client.create()
    finally:
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"LOCKSTITCH_TLS_CERTIFICATE": "server.pem"}, "go together"),
        ({"LOCKSTITCH_TLS_CERTIFICATE": "no.pem", "LOCKSTITCH_TLS_KEY": "server.key"}, "no.pem cannot be read"),
        ({"LOCKSTITCH_TLS_CERTIFICATE": "server.pem", "LOCKSTITCH_TLS_KEY": "other.key"}, "the key is not the cert"),
        ({"LOCKSTITCH_TLS_CERTIFICATE": "server.key", "LOCKSTITCH_TLS_KEY": "server.key"}, "the certificate is none"),
        ({"LOCKSTITCH_TLS_CLIENT_AUTHORITY": "server.pem"}, "client certificates need TLS"),
    ],
)
def test_tls_that_cannot_be_is_refused_in_one_sentence(
    database: Database, folder: Path, settings: dict[str, str], told: str
) -> None:
    certified("localhost", AUTHORITY).write(folder)
    (folder / "other.key").write_bytes(AUTHORITY.key_pem)
    assert told in refused(
        *("serve", "--data-dir", folder, "--listen", "127.0.0.1:0"),
        LOCKSTITCH_DATABASE_URL=database.app_url,
        **{name: str(folder / file) for name, file in settings.items()},
    )


async def test_a_new_certificate_serves_new_connections_and_old_ones_live(
    database: Database, start_server: Start, folder: Path, client_of: Callable[..., Client]
) -> None:
    server = start_server(database, **certified("localhost", AUTHORITY, hosts=("localhost",)).write(folder))
    token = server.token(tenant=fresh("tenant"))
    with_old = client_of(local(server), token, tls=AUTHORITY.pem)
    session = await with_old.create(user_id="u1")

    renewed = certified("localhost", STRANGER, hosts=("localhost",))
    (folder / "server.pem").write_bytes(renewed.pem)
    # The certificate is there and its key is not yet: nobody is turned away meanwhile.
    await client_of(local(server), token, tls=AUTHORITY.pem).create()
    (folder / "server.key").write_bytes(renewed.key_pem)
    await client_of(local(server), token, tls=STRANGER.pem).create()
    await session.append(messages=[user("on the old connection")])
    async with aio.secure_channel(local(server), trusting(AUTHORITY), options=OWN_CONNECTION) as channel:
        call: Any = SessionServiceStub(channel).GetSession(pb.GetSessionRequest(session_id="s"), timeout=5)
        with pytest.raises(aio.AioRpcError) as caught:
            await call
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


OWN_CONNECTION = [("grpc.use_local_subchannel_pool", 1)]


@pytest.fixture(scope="module")
def mutual(database: Database, start_server: Start, session_folder: Path) -> ServerProcess:
    """A server that takes no connection without a certificate."""
    folder = session_folder / "mutual"
    folder.mkdir()
    (folder / "authority.pem").write_bytes(AUTHORITY.pem)
    known = [
        {"identity": SPIFFE, "tenant": "certified", "role": "engine"},
        {"identity": "cn:u1", "tenant": "certified", "role": "user", "subject": "u1"},
        {"identity": "cn:for-u1", "tenant": "certified", "role": "engine", "acts_for": "u1"},
    ]
    return start_server(
        database,
        **certified("localhost", AUTHORITY, hosts=("localhost",)).write(folder),
        LOCKSTITCH_TLS_CLIENT_AUTHORITY=str(folder / "authority.pem"),
        LOCKSTITCH_CLIENT_CERTIFICATES=json.dumps(known),
    )


def by_certificate(name: str = "x", **more: Any) -> Certified:
    return certified(name, AUTHORITY, **more)


async def test_a_certificate_says_who_calls(mutual: ServerProcess, client_of: Callable[..., Client]) -> None:
    engine = client_of(local(mutual), None, tls=trusting(AUTHORITY, by_certificate(uris=(SPIFFE,))))
    session = await engine.create(user_id="u1", messages=[user("hi")])
    assert (await session.get()).session.tenant_id == "certified"
    (commit,) = [commit async for commit in session.commits()]
    assert commit.principal.subject == SPIFFE
    own = client_of(local(mutual), None, tls=trusting(AUTHORITY, by_certificate("u1")))
    assert (await own.session(session.session_id).get()).session.user_id == "u1"
    others = await engine.create(user_id="u2")
    for narrow in (own, client_of(local(mutual), None, tls=trusting(AUTHORITY, by_certificate("for-u1")))):
        with pytest.raises(SessionNotFound):
            await narrow.session(others.session_id).get()


async def test_a_token_beside_a_certificate_goes_first(mutual: ServerProcess, client_of: Callable[..., Client]) -> None:
    tls = trusting(AUTHORITY, by_certificate(uris=(SPIFFE,)))
    tenant = fresh("tenant")
    made = await client_of(local(mutual), mutual.token(tenant=tenant), tls=tls).create()
    assert (await made.get()).session.tenant_id == tenant
    with pytest.raises(TokenInvalid):
        await client_of(local(mutual), "no.good.token", tls=tls).create()


async def test_a_certificate_that_nobody_named_opens_nothing_by_itself(
    mutual: ServerProcess, client_of: Callable[..., Client]
) -> None:
    tls = trusting(AUTHORITY, by_certificate("nobody", uris=("spiffe://example/other",)))
    with pytest.raises(TokenMissing):
        await client_of(local(mutual), None, tls=tls).create()
    await client_of(local(mutual), mutual.token(), tls=tls).create()


@pytest.mark.parametrize(
    "caller",
    [
        None,
        certified("x", STRANGER, uris=(SPIFFE,)),
        certified("x", AUTHORITY, uris=(SPIFFE,), life=timedelta(hours=-1)),
    ],
    ids=["none", "another authority's", "expired"],
)
async def test_a_connection_without_a_good_certificate_is_not_taken(
    mutual: ServerProcess, caller: Certified | None
) -> None:
    token = [("authorization", f"Bearer {mutual.token()}")]
    async with aio.secure_channel(local(mutual), trusting(AUTHORITY, caller), options=OWN_CONNECTION) as channel:
        call: Any = SessionServiceStub(channel).GetSession(
            pb.GetSessionRequest(session_id="s"), metadata=token, timeout=5
        )
        with pytest.raises(aio.AioRpcError) as caught:
            await call
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_certificate_ends_for_calls_and_streams_on_a_connection_that_lasts(mutual: ServerProcess) -> None:
    short = by_certificate(uris=(SPIFFE,), life=timedelta(seconds=4))
    async with aio.secure_channel(local(mutual), trusting(AUTHORITY, short), options=OWN_CONNECTION) as channel:
        stub: Any = SessionServiceStub(channel)
        made = await stub.CreateSession(pb.CreateSessionRequest(request_id="r", messages=[said("hi")]))
        session_id = made.session.session_id
        stream = stub.Subscribe(subscription_pb2.SubscribeRequest(session_id=session_id))

        async def read_on() -> None:
            async with asyncio.timeout(20):
                async for _ in stream:
                    pass

        ended = await refusal(read_on())
        assert (ended.code, ended.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
        told = await refusal(stub.GetSession(pb.GetSessionRequest(session_id=session_id)))
        assert (told.reason, told.text) == ("TOKEN_EXPIRED", "The client certificate has expired.")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("LOCKSTITCH_TENANT_CALLS_A_SECOND", "This tenant makes more than 0.2 calls a second."),
        ("LOCKSTITCH_SUBJECT_CALLS_A_SECOND", "This subject makes more than 0.2 calls a second."),
    ],
)
async def test_too_many_calls_are_told_when_to_come_again(
    database: Database, start_server: Start, setting: str, told: str
) -> None:
    server = start_server(database, **{setting: "0.2", "LOCKSTITCH_RATE_BURST": "10"})
    async with aio.insecure_channel(server.target) as channel:
        stub: Any = SessionServiceStub(channel)

        async def ask(tenant: str, subject: str) -> Any:
            token = server.token(tenant=tenant, user=subject)
            return await stub.ListSessions(pb.ListSessionsRequest(), metadata=[("authorization", f"Bearer {token}")])

        for _ in range(2):
            await ask("t1", "s1")
        try:
            await ask("t1", "s1")
        except aio.AioRpcError as error:
            trailers = dict(error.trailing_metadata() or ())
        else:
            raise AssertionError("was not refused")
        assert 0 < int(trailers["grpc-retry-pushback-ms"]) <= 5000
        limited = await refusal(ask("t1", "s1"))
        assert (limited.code, limited.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        assert (limited.text, limited.metadata) == (told, {"limit": "0.2"})
        assert b"google.rpc.RetryInfo" in limited.details
        await ask("t2", "s1")
        if "TENANT" in setting:
            assert (await refusal(ask("t1", "s2"))).reason == "RATE_LIMITED"
        else:
            await ask("t1", "s2")
