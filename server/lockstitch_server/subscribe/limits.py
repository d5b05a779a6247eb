"""How many streams may be open, counted in this process."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from lockstitch_server.errors import SubscriptionLimit
from lockstitch_server.model import Principal


class StreamLimits:
    """Counts the streams of a user, a tenant and the process."""

    def __init__(self, *, user_max: int, tenant_max: int, process_max: int) -> None:
        """The most of each."""
        self._limits = (("user", user_max), ("tenant", tenant_max), ("process", process_max))
        self._open: Counter[tuple[str, ...]] = Counter()

    @property
    def open(self) -> int:
        """How many streams are open."""
        return self._open[("process",)]

    @contextmanager
    def counted(self, principal: Principal) -> Iterator[None]:
        """Count one stream for as long as it is open; raises SubscriptionLimit where there are as many as may be."""
        keys = (("user", principal.tenant_id, principal.subject), ("tenant", principal.tenant_id), ("process",))
        for key, (whose, most) in zip(keys, self._limits, strict=True):
            if self._open[key] >= most:
                raise SubscriptionLimit(
                    f"This {whose} has {most} streams open, the most there may be.", metadata={"limit": str(most)}
                )
        self._open.update(keys)
        try:
            yield
        finally:
            for key in keys:
                self._open[key] -= 1
                if not self._open[key]:
                    del self._open[key]
