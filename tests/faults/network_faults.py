"""Networks that are cut, fall silent, lose one direction, forget a connection, are slow: on both sides of a server."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from faults.fault import Play, add
from faults.stage import Server
from support.proxy import Proxy

_HOLD = (0.2, 8.0)
_DELAYS = (0.01, 0.05, 0.2)
NETWORKS: dict[str, Callable[[Server], Proxy]] = {
    "callers' network": lambda server: server.near,
    "database's network": lambda server: server.far,
}


def _cut(proxy: Proxy, _: Play) -> None:
    proxy.cut(refuse=True)


def _stall(proxy: Proxy, _: Play) -> None:
    proxy.stall()


def _lose_requests(proxy: Proxy, _: Play) -> None:
    proxy.stall("near")


def _lose_answers(proxy: Proxy, _: Play) -> None:
    proxy.stall("far")


def _forget_near(proxy: Proxy, _: Play) -> None:
    proxy.half_open("near")


def _forget_far(proxy: Proxy, _: Play) -> None:
    proxy.half_open("far")


def _delay(proxy: Proxy, play: Play) -> None:
    proxy.delay_seconds = play.random.choice(_DELAYS)


WAYS: dict[str, Callable[[Proxy, Play], None]] = {
    "cut": _cut,
    "silent": _stall,
    "loses what is asked": _lose_requests,
    "loses what is answered": _lose_answers,
    "forgets who asks": _forget_near,
    "forgets who answers": _forget_far,
    "slow": _delay,
}


def _breaks(
    network: Callable[[Server], Proxy], way: Callable[[Proxy, Play], None], *, is_noticed: bool
) -> Callable[[Play], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def broken(play: Play) -> AsyncIterator[None]:
        proxies = [network(server) for server in play.some()]
        try:
            for proxy in proxies:
                way(proxy, play)
            yield
        finally:
            for proxy in proxies:
                proxy.restore()
                if is_noticed:
                    proxy.let_go()

    return broken


for _network, _of in NETWORKS.items():
    for _way, _by in WAYS.items():
        # Postgres has the kernel ask for us (`store.pool.DEAD_ENDS`), whom a proxy on its own machine would answer.
        _is_noticed = (_network, _way) == ("database's network", "forgets who asks")
        add(f"{_network} {_way}", _breaks(_of, _by, is_noticed=_is_noticed), hold=_HOLD)
