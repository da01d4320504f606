"""Repair flows."""

from collections.abc import Mapping
from typing import Any, override

import voluptuous as vol

from homeassistant.components import assist_pipeline
from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow, RepairsFlowResult
from homeassistant.config_entries import ConfigEntry, ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.selector import SelectOptionDict, SelectSelector, SelectSelectorConfig

from .claude.models import successors
from .const import CONF_ALLOW_WITHOUT_CHAT, CONF_ENABLED, CONF_FUNCTION, CONF_MONTHLY_TOKENS, DOMAIN
from .exposure.api_selection import assist_name
from .flows.agent import check_tools, tools_field, without_missing
from .flows.function import CodeSelector
from .flows.model import monthly_tokens_field
from .functions.manager import async_validate_function
from .functions.yaml_source import FunctionError
from .repair_issues import agents as issues
from .repair_issues.entries import ASKS_NOW, CHANGE_ISSUES, NOBODY_TO_ASK


class IssueFlow(RepairsFlow):
    """A repair flow for a subentry."""

    _entry: ConfigEntry
    _subentry: ConfigSubentry

    @callback
    def _find(self) -> RepairsFlowResult | None:
        """Return the entry and subentry of the issue, or abort: the flow may stay open for long."""
        data = self.data or {}
        entry = self.hass.config_entries.async_get_entry(str(data["entry_id"]))
        subentry = entry.subentries.get(str(data["subentry_id"])) if entry else None
        if entry is None or subentry is None or entry.state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._entry, self._subentry = entry, subentry
        return None

    @callback
    def _placeholders(self, **more: str) -> dict[str, str]:
        """Return the issue's placeholders together with more."""
        issue = ir.async_get(self.hass).async_get_issue(DOMAIN, self.issue_id)
        return {**((issue and issue.translation_placeholders) or {}), **more}

    @callback
    def _show(
        self,
        step_id: str,
        fields: Mapping[Any, Any],
        suggested: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        **placeholders: str,
    ) -> RepairsFlowResult:
        """Show a form."""
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(vol.Schema(fields), suggested),
            errors=errors,
            description_placeholders=self._placeholders(**placeholders),
        )

    @callback
    def _store(self, *dropped: str, **data: Any) -> RepairsFlowResult:
        """Store the changed data; the entry then updates itself."""
        kept = {key: value for key, value in self._subentry.data.items() if key not in dropped}
        self.hass.config_entries.async_update_subentry(self._entry, self._subentry, data={**kept, **data})
        return self.async_create_entry(data={})


class LetThroughFlow(IssueFlow):
    """Send all sentences to an agent, without Home Assistant's own handling first."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Show the first form."""
        return await self.async_step_confirm()

    async def async_step_confirm(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Turn off local handling for the assistants that use the agent."""
        if abort := self._find():
            return abort
        if user_input is None:
            return self._show("confirm", {}, {})
        agent_id = (self.data or {})["agent_id"]
        for pipeline in assist_pipeline.async_get_pipelines(self.hass):
            if pipeline.conversation_engine == agent_id and pipeline.prefer_local_intents:
                await assist_pipeline.async_update_pipeline(self.hass, pipeline, prefer_local_intents=False)
        return self.async_create_entry(data={})


class ChooseToolsFlow(IssueFlow):
    """Choose the tools of an agent."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Show the first form."""
        return await self.async_step_tools()

    async def async_step_tools(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Ask for the tools."""
        if abort := self._find():
            return abort
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = check_tools(user_input)
            if not user_input.get(CONF_LLM_HASS_API):
                errors = {CONF_LLM_HASS_API: "tools_required"}
            if not errors:
                return self._store(**user_input)
        chosen = without_missing(self.hass, self._subentry.data.get(CONF_LLM_HASS_API, ()))
        return self._show(
            "tools",
            tools_field(self.hass),
            user_input or {CONF_LLM_HASS_API: chosen},
            errors,
            assist=assist_name(self.hass),
        )


class ChooseModelFlow(IssueFlow):
    """Choose another model for an agent."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Show the first form."""
        return await self.async_step_choose()

    async def async_step_choose(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Ask for the model."""
        if abort := self._find():
            return abort
        if user_input is not None:
            return self._store(**user_input)
        models = successors(self._entry.runtime_data.models, self._subentry.data[CONF_MODEL])
        options = [SelectOptionDict(value=model.id, label=model.display_name or model.id) for model in models]
        field = vol.Required(CONF_MODEL, default=models[0].id) if models else vol.Required(CONF_MODEL)
        selector = SelectSelector(SelectSelectorConfig(options=options, custom_value=not options))
        return self._show("choose", {field: selector}, {})


class TokenLimitFlow(IssueFlow):
    """Change the monthly token limit of an agent."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Show the first form."""
        return await self.async_step_limit()

    async def async_step_limit(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Ask for the new limit; empty for none."""
        if abort := self._find():
            return abort
        if user_input is None:
            return self._show("limit", monthly_tokens_field(), self._subentry.data)
        return self._store(CONF_MONTHLY_TOKENS, **user_input)


class FunctionRepairFlow(IssueFlow):
    """Correct a function, or turn it off."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Offer both choices."""
        return self._find() or self.async_show_menu(
            step_id="init", menu_options=["mend", "turn_off"], description_placeholders=self._placeholders()
        )

    async def async_step_mend(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Ask for the corrected function and check it."""
        if abort := self._find():
            return abort
        errors: dict[str, str] = {}
        problem = ""
        if user_input is not None:
            try:
                await async_validate_function(
                    self.hass, self._entry, user_input[CONF_FUNCTION], without=self._subentry.subentry_id
                )
            except FunctionError as err:
                errors, problem = {CONF_FUNCTION: "invalid_function"}, str(err)
            else:
                return self._store(**user_input)
        fields = {vol.Required(CONF_FUNCTION): CodeSelector()}
        return self._show("mend", fields, user_input or self._subentry.data, errors, problem=problem)

    async def async_step_turn_off(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Turn the function off without changing its text."""
        return self._find() or self._store(**{CONF_ENABLED: False})


class AllowFlow(ConfirmRepairFlow):
    """Allow calls without a question for callers that cannot be asked."""

    @override
    async def async_step_confirm(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Set the option."""
        entry = self.hass.config_entries.async_get_entry(str((self.data or {}).get("entry_id")))
        if entry is None:
            return self.async_abort(reason="entry_not_loaded")
        if user_input is not None:
            options = {**entry.options, CONF_ALLOW_WITHOUT_CHAT: True}
            self.hass.config_entries.async_update_entry(entry, options=options)
        return await super().async_step_confirm(user_input)


ENTRY_FLOWS: dict[str, type[ConfirmRepairFlow]] = {
    NOBODY_TO_ASK: AllowFlow,
    **dict.fromkeys((ASKS_NOW, *CHANGE_ISSUES), ConfirmRepairFlow),
}
FLOWS: dict[str, type[IssueFlow]] = {
    issues.WITHOUT_TOOLS: ChooseToolsFlow,
    issues.TOOLS_MISSING: ChooseToolsFlow,
    issues.BYPASSED: LetThroughFlow,
    issues.MODEL_DEPRECATED: ChooseModelFlow,
    issues.MODEL_GONE: ChooseModelFlow,
    issues.NEARLY_USED: TokenLimitFlow,
    issues.USED_UP: TokenLimitFlow,
    issues.NOT_SERVED: FunctionRepairFlow,
}


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, str | int | float | None] | None
) -> RepairsFlow:
    """Return the repair flow of an issue."""
    for key, flow in ENTRY_FLOWS.items():
        if issue_id.startswith(f"{key}_"):
            return flow()
    key = next(key for key in issues.SUBENTRY_ISSUES if issue_id.startswith(f"{key}_"))
    return FLOWS[key]()
