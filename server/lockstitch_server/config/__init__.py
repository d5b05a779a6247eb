"""Every setting of the server: what it does, when to change it, what that costs, and its default."""

from pydantic_settings import BaseSettings, SettingsConfigDict

from lockstitch_server.config.access import AccessSettings, CertificateSetting, IssuerSetting
from lockstitch_server.config.calls import CallSettings
from lockstitch_server.config.database import DatabaseSettings
from lockstitch_server.config.limits import LimitSettings
from lockstitch_server.config.subscriptions import SubscriptionSettings
from lockstitch_server.config.upkeep import UpkeepSettings

__all__ = ["CertificateSetting", "IssuerSetting", "Settings"]


class Settings(
    DatabaseSettings, AccessSettings, CallSettings, LimitSettings, UpkeepSettings, SubscriptionSettings, BaseSettings
):
    """One server process's settings, read from `LOCKSTITCH_…` variables; the command line's flags go first.

    A duration is a number of seconds (`0.25`) or ISO 8601 (`PT0.25S`).
    """

    model_config = SettingsConfigDict(env_prefix="LOCKSTITCH_", frozen=True, extra="forbid", hide_input_in_errors=True)
