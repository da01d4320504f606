"""How many tokens an agent may use in a month: a warning before the end, and a notice with the means to go on."""

import voluptuous as vol

from homeassistant.components.repairs import RepairsFlow, RepairsFlowResult
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .claude.usage import Meter
from .const import CONF_MONTHLY_TOKENS, DOMAIN
from .flows.cost import monthly_tokens_field

WARNING_SHARE = 0.8
"""Share of the month's tokens at which the user is warned: early enough to raise the limit before the agent stops."""

_NEARLY_USED = "tokens_nearly_used"
_USED_UP = "tokens_used_up"
TOKEN_ISSUES = (_NEARLY_USED, _USED_UP)
"""Begins the ids of the issues."""


@callback
def is_used_up(subentry: ConfigSubentry, meter: Meter) -> bool:
    """Return whether an agent has used all that it may in this month."""
    limit: int | None = subentry.data.get(CONF_MONTHLY_TOKENS)
    return limit is not None and meter.month_tokens >= limit


@callback
def async_check_allowance(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry, meter: Meter) -> None:
    """Raise or settle the issues about an agent's tokens."""
    limit, used = subentry.data.get(CONF_MONTHLY_TOKENS), meter.month_tokens
    due = None
    if limit and used >= limit * WARNING_SHARE:
        due = _USED_UP if is_used_up(subentry, meter) else _NEARLY_USED
    for key in TOKEN_ISSUES:
        issue_id = f"{key}_{subentry.subentry_id}"
        if key != due:
            ir.async_delete_issue(hass, DOMAIN, issue_id)
        else:
            ir.async_create_issue(
                hass,
                DOMAIN,
                issue_id,
                is_fixable=True,
                data={"entry_id": entry_id, "subentry_id": subentry.subentry_id},
                severity=ir.IssueSeverity.WARNING,
                translation_key=key,
                translation_placeholders={"agent": subentry.title, "limit": f"{limit:,}"},
            )


@callback
def async_forget_allowance(hass: HomeAssistant, subentry_id: str) -> None:
    """Settle the issues of an agent that is gone."""
    for key in TOKEN_ISSUES:
        ir.async_delete_issue(hass, DOMAIN, f"{key}_{subentry_id}")


class AllowanceFlow(RepairsFlow):
    """Change how many tokens an agent may use in a month."""

    def __init__(self, entry_id: str, subentry_id: str) -> None:
        """Take the agent."""
        self._entry_id = entry_id
        self._subentry_id = subentry_id

    async def async_step_init(self, user_input: dict[str, str] | None = None) -> RepairsFlowResult:
        """Begin."""
        return await self.async_step_limit()

    async def async_step_limit(self, user_input: dict[str, int] | None = None) -> RepairsFlowResult:
        """Ask for the new limit; none lets the agent use what it likes."""
        entry = self.hass.config_entries.async_get_known_entry(self._entry_id)
        subentry = entry.subentries[self._subentry_id]
        if user_input is None:
            issue = ir.async_get(self.hass).async_get_issue(DOMAIN, self.issue_id)
            return self.async_show_form(
                step_id="limit",
                data_schema=self.add_suggested_values_to_schema(
                    vol.Schema(monthly_tokens_field()), dict(subentry.data)
                ),
                description_placeholders=issue.translation_placeholders if issue else None,
            )
        data = {key: value for key, value in subentry.data.items() if key != CONF_MONTHLY_TOKENS}
        self.hass.config_entries.async_update_subentry(entry, subentry, data={**data, **user_input})
        return self.async_create_entry(data={})
