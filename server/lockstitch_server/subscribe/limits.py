"""How many streams may be open, counted in this process."""

from collections import Counter
from collections.abc import Callable

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

    def count(self, principal: Principal) -> Callable[[], None]:
        """Count a stream until what is given back is called; raises SubscriptionLimit where there are enough."""
        keys = (("user", principal.tenant_id, principal.subject), ("tenant", principal.tenant_id), ("process",))
        for key, (whose, most) in zip(keys, self._limits, strict=True):
            if self._open[key] >= most:
                raise SubscriptionLimit(
                    f"This {whose} has {most} streams open, the most there may be.", metadata={"limit": str(most)}
                )
        self._open.update(keys)

        def ended() -> None:
            self._open.subtract(keys)
            for key in keys:
                if not self._open[key]:
                    del self._open[key]

        return ended
