"""The store's epoch, which changes when the store is restored from a backup."""


class StoreEpoch:
    """The epoch as this process saw it last; the hub looks again and again."""

    def __init__(self, value: str) -> None:
        """As it was at the start."""
        self.value = value
