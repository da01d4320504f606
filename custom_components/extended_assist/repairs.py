"""Notices about an agent that cannot do what its user expects, with the means to mend it."""

from typing import override

import voluptuous as vol

from homeassistant.components import assist_pipeline
from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow, RepairsFlowResult
from homeassistant.config_entries import ConfigEntry, ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.selector import SelectOptionDict, SelectSelector, SelectSelectorConfig

from .allowance import TOKEN_ISSUES, AllowanceFlow
from .claude.models import find_model, lifecycle, retirement, successors
from .const import DOMAIN

_WITHOUT_TOOLS = "agent_without_tools"
_BYPASSED = "agent_bypassed"
_DEPRECATED = "model_deprecated"
_GONE = "model_gone"
_ALL = (_WITHOUT_TOOLS, _BYPASSED, _DEPRECATED, _GONE)


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
def async_check_model(
    hass: HomeAssistant, entry: ConfigEntry, subentry: ConfigSubentry, *, is_gone: bool = False
) -> None:
    """Raise or settle the issue of a model that is being switched off, or that a turn found gone."""
    model_id = subentry.data[CONF_MODEL]
    model = find_model(entry.runtime_data.models, model_id)
    stage = "retired" if is_gone else lifecycle(model, model_id)
    for key, is_due in ((_DEPRECATED, stage == "deprecated"), (_GONE, stage == "retired")):
        if is_due:
            placeholders = {"agent": subentry.title, "model": model_id, "date": retirement(model, model_id) or "?"}
            data: dict[str, str | int | float | None] = {
                "entry_id": entry.entry_id,
                "subentry_id": subentry.subentry_id,
            }
            _create(hass, key, subentry, placeholders, data)
        else:
            ir.async_delete_issue(hass, DOMAIN, f"{key}_{subentry.subentry_id}")


@callback
def async_forget(hass: HomeAssistant, subentry_id: str) -> None:
    """Settle all issues of a subentry that is gone."""
    for key in _ALL:
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


class ChooseModelFlow(RepairsFlow):
    """Choose another model for an agent."""

    def __init__(self, entry_id: str, subentry_id: str) -> None:
        """Take the agent."""
        self._entry_id = entry_id
        self._subentry_id = subentry_id

    async def async_step_init(self, user_input: dict[str, str] | None = None) -> RepairsFlowResult:
        """Begin."""
        return await self.async_step_choose()

    async def async_step_choose(self, user_input: dict[str, str] | None = None) -> RepairsFlowResult:
        """Ask for the model and store it; the entry reloads."""
        entry = self.hass.config_entries.async_get_entry(self._entry_id)
        subentry = entry.subentries.get(self._subentry_id) if entry else None
        if entry is None or subentry is None or entry.state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        if user_input is not None:
            self.hass.config_entries.async_update_subentry(entry, subentry, data={**subentry.data, **user_input})
            return self.async_create_entry(data={})
        models = successors(entry.runtime_data.models, subentry.data[CONF_MODEL])
        options = [SelectOptionDict(value=model.id, label=model.display_name or model.id) for model in models]
        field = vol.Required(CONF_MODEL, default=models[0].id) if models else vol.Required(CONF_MODEL)
        issue = ir.async_get(self.hass).async_get_issue(DOMAIN, self.issue_id)
        return self.async_show_form(
            step_id="choose",
            data_schema=vol.Schema(
                {field: SelectSelector(SelectSelectorConfig(options=options, custom_value=not options))}
            ),
            description_placeholders=issue.translation_placeholders if issue else None,
        )


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, str | int | float | None] | None
) -> RepairsFlow:
    """Return the dialog that mends an issue."""
    values = {key: str(value) for key, value in (data or {}).items()}
    if issue_id.startswith(TOKEN_ISSUES):
        return AllowanceFlow(values["entry_id"], values["subentry_id"])
    if "subentry_id" in values:
        return ChooseModelFlow(**values)
    return LetThroughFlow(values["agent_id"])
