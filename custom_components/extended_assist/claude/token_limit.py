"""How many tokens an agent may use in a month: a warning before the end, and a notice when it has come."""

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback

from ..const import CONF_MONTHLY_TOKENS
from ..repair_issues.agents import NEARLY_USED, USED_UP, async_raise_issue, async_resolve_issue
from .usage import TokenMeter

WARNING_SHARE = 0.8
"""Share of the month's tokens at which the user is warned: early enough to raise the limit before the agent stops."""


@callback
def is_used_up(subentry: ConfigSubentry, meter: TokenMeter) -> bool:
    """Return whether an agent has used all that it may in this month."""
    limit: int | None = subentry.data.get(CONF_MONTHLY_TOKENS)
    return limit is not None and meter.month_tokens >= limit


@callback
def async_check_token_limit(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry, meter: TokenMeter) -> None:
    """Raise or settle the issues about an agent's tokens."""
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
    """Return a number with narrow spaces, which separate thousands in every language."""
    return f"{number:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
