"""Notices about an agent that cannot do what its user expects, with the means to mend it."""

from typing import override

import voluptuous as vol

from homeassistant.components import assist_pipeline
from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow, RepairsFlowResult
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .allowance import AllowanceFlow
from .const import DOMAIN

_WITHOUT_TOOLS = "agent_without_tools"
_BYPASSED = "agent_bypassed"


@callback
def async_check_agent(hass: HomeAssistant, agent_id: str, subentry: ConfigSubentry) -> None:
    """Raise or settle the issues of an agent."""
    has_tools = bool(subentry.data.get(CONF_LLM_HASS_API))
    placeholders = {"agent": subentry.title}
    if has_tools:
        ir.async_delete_issue(hass, DOMAIN, f"{_WITHOUT_TOOLS}_{subentry.subentry_id}")
    else:
        _create(hass, _WITHOUT_TOOLS, subentry, placeholders, {})
    pipelines = [
        pipeline
        for pipeline in (assist_pipeline.async_get_pipelines(hass) if _has_pipelines(hass) else ())
        if pipeline.conversation_engine == agent_id and pipeline.prefer_local_intents
    ]
    if has_tools and pipelines:
        placeholders["assistants"] = ", ".join(pipeline.name for pipeline in pipelines)
        _create(hass, _BYPASSED, subentry, placeholders, {"agent_id": agent_id})
    else:
        ir.async_delete_issue(hass, DOMAIN, f"{_BYPASSED}_{subentry.subentry_id}")


@callback
def async_forget_agent(hass: HomeAssistant, subentry_id: str) -> None:
    """Settle all issues of an agent that is gone."""
    for key in (_WITHOUT_TOOLS, _BYPASSED):
        ir.async_delete_issue(hass, DOMAIN, f"{key}_{subentry_id}")


def _has_pipelines(hass: HomeAssistant) -> bool:
    """Return whether there are assistants; without voice there need not be."""
    return assist_pipeline.DOMAIN in hass.config.components


def _create(
    hass: HomeAssistant,
    key: str,
    subentry: ConfigSubentry,
    placeholders: dict[str, str],
    data: dict[str, str | int | float | None],
) -> None:
    """Raise an issue; one with data can be fixed from its dialog."""
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"{key}_{subentry.subentry_id}",
        is_fixable=bool(data),
        data=data or None,
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders=placeholders,
    )


class LetThroughFlow(ConfirmRepairFlow):
    """Let all sentences through to an agent."""

    def __init__(self, agent_id: str) -> None:
        """Take the agent."""
        self._agent_id = agent_id

    @override
    async def async_step_confirm(self, user_input: dict[str, str] | None = None) -> RepairsFlowResult:
        """Turn local handling off for the assistants that use the agent."""
        if user_input is None:
            issue = ir.async_get(self.hass).async_get_issue(DOMAIN, self.issue_id)
            return self.async_show_form(
                step_id="confirm",
                data_schema=vol.Schema({}),
                description_placeholders=issue.translation_placeholders if issue else None,
            )
        for pipeline in assist_pipeline.async_get_pipelines(self.hass):
            if pipeline.conversation_engine == self._agent_id and pipeline.prefer_local_intents:
                await assist_pipeline.async_update_pipeline(self.hass, pipeline, prefer_local_intents=False)
        return self.async_create_entry(data={})


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, str | int | float | None] | None
) -> RepairsFlow:
    """Return the dialog that mends an issue."""
    data = data or {}
    if "subentry_id" in data:
        return AllowanceFlow(str(data["entry_id"]), str(data["subentry_id"]))
    return LetThroughFlow(str(data["agent_id"]))
