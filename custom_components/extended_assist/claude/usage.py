"""The tokens and requests of each agent, in total and in this month, stored over restarts; and the monthly limit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import voluptuous as vol

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..calls.caller import outside_conversation
from ..const import CONF_MONTHLY_TOKENS, DOMAIN
from ..repair_issues.agents import NEARLY_USED, USED_UP, async_raise_issue, async_resolve_issue
from ..storage import ConfirmedStore, async_load, shape

REQUESTS = "requests"
TOKENS: Mapping[str, str] = {
    "input_tokens": "input_tokens",
    "cached_tokens": "cache_read_input_tokens",
    "cache_written_tokens": "cache_creation_input_tokens",
    "output_tokens": "output_tokens",
}
"""The kinds of tokens, and the fields of a response that count them without overlap."""

SHOW_DELAY = 2.0
"""Seconds between a response and the sensors' update, so that it does not delay a turn."""
_SAVE_DELAY = 10.0
_VERSION = 1


def tokens_of(usage: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens of a response by kind; missing counts are 0."""
    counts = {kind: usage.get(name) for kind, name in TOKENS.items()}
    return {kind: max(count, 0) if isinstance(count, int) else 0 for kind, count in counts.items()}


def trace_of(
    usage: Mapping[str, Any], stop_reason: str | None, diagnostics: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the details of a response for the conversation trace, with the names that Home Assistant's agents use."""
    tokens = tokens_of(usage)
    return {
        **({"diagnostics": dict(diagnostics)} if diagnostics else {}),
        "stats": {
            "input_tokens": sum(tokens.values()) - tokens["output_tokens"],
            "uncached_input_tokens": tokens["input_tokens"],
            "cache_creation_input_tokens": tokens["cache_written_tokens"],
            "cached_input_tokens": tokens["cached_tokens"],
            "output_tokens": tokens["output_tokens"],
            "stop_reason": stop_reason or "interrupted",
        },
        "usage": dict(usage),
    }


def _this_month() -> str:
    """Return the current month in the home's time zone."""
    return dt_util.now().strftime("%Y-%m")


@dataclass(slots=True)
class Usage:
    """The usage of one agent."""

    counts: dict[str, int] = field(default_factory=dict)
    """Tokens by kind, and requests."""
    month: str = ""
    month_tokens: int = 0
    """Tokens of all kinds in that month."""


_STORED = vol.Schema({str: shape({"counts": {str: int}, "month": str, "month_tokens": int})})


def _read(stored: Any) -> dict[str, Usage]:
    return {subentry_id: Usage(**usage) for subentry_id, usage in _STORED(stored or {}).items()}


class TokenMeter:
    """Counts the usage of one agent."""

    def __init__(self, hass: HomeAssistant, usage: Usage, save: CALLBACK_TYPE) -> None:
        """Store the usage so far, and the callback that saves it."""
        self._hass = hass
        self.usage = usage
        self._save = save
        self._showing = False
        self._listeners: list[CALLBACK_TYPE] = []

    @callback
    def add(self, usage: Mapping[str, Any]) -> None:
        """Add a response."""
        tokens = tokens_of(usage)
        for kind, count in {**tokens, REQUESTS: 1}.items():
            self.usage.counts[kind] = self.usage.counts.get(kind, 0) + count
        self.usage.month_tokens = self.month_tokens + sum(tokens.values())
        self.usage.month = _this_month()
        self._save()
        if not self._showing:
            self._showing = True
            # What the sensors set off is no part of the conversation that is counted.
            show = HassJob(self._show, cancel_on_shutdown=True)
            outside_conversation(async_call_later, self._hass, SHOW_DELAY, show)

    @callback
    def _show(self, _: datetime) -> None:
        self._showing = False
        for listener in list(self._listeners):
            listener()

    @property
    def month_tokens(self) -> int:
        """Return the tokens of all kinds in this month."""
        return self.usage.month_tokens if self.usage.month == _this_month() else 0

    @callback
    def async_listen(self, listener: CALLBACK_TYPE) -> Callable[[], None]:
        """Call a listener soon after responses; return the function that removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class TokenMeters:
    """The meters of all agents, by subentry."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create the store; async_load must run before use."""
        self._hass = hass
        self._store = ConfirmedStore[dict[str, Any]](hass, _VERSION, f"{DOMAIN}.usage", private=False)
        self._meters: dict[str, TokenMeter] = {}

    async def async_load(self) -> None:
        """Load the stored usage."""
        for subentry_id, usage in (await async_load(self._hass, self._store, _read)).items():
            self._meters[subentry_id] = TokenMeter(self._hass, usage, self._save)

    @callback
    def of(self, subentry_id: str) -> TokenMeter:
        """Return the meter of an agent."""
        return self._meters.setdefault(subentry_id, TokenMeter(self._hass, Usage(), self._save))

    @callback
    def async_keep(self, subentry_ids: Iterable[str]) -> None:
        """Delete the usage of all agents but these."""
        kept = set(subentry_ids)
        if gone := self._meters.keys() - kept:
            for subentry_id in gone:
                del self._meters[subentry_id]
            self._save()

    async def async_clear(self) -> None:
        """Delete all usage, also on the disk."""
        self._meters.clear()
        await self._store.async_remove()

    @callback
    def _save(self) -> None:
        """Schedule saving, at the latest when Home Assistant stops."""
        self._store.async_delay_save_confirmed(
            lambda: {subentry_id: asdict(meter.usage) for subentry_id, meter in self._meters.items()}, _SAVE_DELAY
        )


_METERS: HassKey[TokenMeters] = HassKey(f"{DOMAIN}_usage")


@singleton(_METERS, async_=True)
async def async_get_meters(hass: HomeAssistant) -> TokenMeters:
    """Return the meters; the first call loads them."""
    meters = TokenMeters(hass)
    await meters.async_load()
    return meters


WARNING_SHARE = 0.8
"""The share of the monthly tokens at which the user is warned, early enough to raise the limit."""


@callback
def is_used_up(subentry: ConfigSubentry, meter: TokenMeter) -> bool:
    """Return whether an agent has used its tokens of this month."""
    limit: int | None = subentry.data.get(CONF_MONTHLY_TOKENS)
    return limit is not None and meter.month_tokens >= limit


@callback
def async_check_token_limit(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry, meter: TokenMeter) -> None:
    """Create or delete the repair issues about an agent's tokens."""
    limit, used = subentry.data.get(CONF_MONTHLY_TOKENS, 0), meter.month_tokens
    due = None
    if limit and used >= limit * WARNING_SHARE:
        due = USED_UP if is_used_up(subentry, meter) else NEARLY_USED
    for key in (NEARLY_USED, USED_UP):
        if key == due:
            async_raise_issue(hass, key, entry_id, subentry, {"agent": subentry.title, "limit": _spaced(limit)})
        else:
            async_resolve_issue(hass, key, subentry.subentry_id)


def _spaced(number: float) -> str:
    """Return a number with narrow spaces as thousands separators, which every language understands."""
    return f"{number:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
