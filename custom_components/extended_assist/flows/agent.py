"""The steps for an agent."""

from collections.abc import Sequence
from typing import Any

import anthropic
from anthropic.types import ModelInfo
import voluptuous as vol

from homeassistant.config_entries import ConfigEntryState, ConfigSubentryData, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.helpers import llm
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)

from ..claude.client import CHECK_TIMEOUT
from ..claude.loop import DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOOL_ROUNDS
from ..claude.models import default_model, find_model, output_limit
from ..const import (
    CONF_BASE_URL,
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_MONTHLY_TOKENS,
    DOMAIN,
    SUBENTRY_CONVERSATION,
)
from .cost import cost_fields

_DEFAULT_NAME = "Claude"
_MIN_TOKENS = 256
_MAX_TOKENS = 128_000
_MAX_TOOL_ROUNDS = 50


def default_agent(models: Sequence[ModelInfo], model: str | None = None) -> ConfigSubentryData:
    """Return the agent that a new entry starts with; its API is the entry's own."""
    return {
        "subentry_type": SUBENTRY_CONVERSATION,
        "title": _DEFAULT_NAME,
        "unique_id": None,
        "data": {
            CONF_MODEL: model or default_model(models),
            CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
            CONF_LLM_HASS_API: [DOMAIN],
            CONF_MAX_TOKENS: DEFAULT_MAX_TOKENS,
            CONF_MAX_TOOL_ROUNDS: DEFAULT_MAX_TOOL_ROUNDS,
        },
    }


def _holds_assist(api_id: str) -> bool:
    """Return whether an API is Assist or a toolbox, which holds Assist's tools already."""
    return api_id == llm.LLM_API_ASSIST or api_id.startswith(f"{DOMAIN}-")


class AgentFlow(ConfigSubentryFlow):
    """Add or change an agent."""

    _data: dict[str, Any]

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Add an agent."""
        entry = self._get_entry()
        if entry.state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._data = dict(default_agent(entry.runtime_data.models)["data"])
        self._data[CONF_LLM_HASS_API] = [f"{DOMAIN}-{entry.entry_id}"]
        return await self.async_step_init()

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change an agent."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._data = dict(self._get_reconfigure_subentry().data)
        known = {api.id for api in llm.async_get_apis(self.hass)}
        self._data[CONF_LLM_HASS_API] = [api for api in self._data.get(CONF_LLM_HASS_API, ()) if api in known]
        return await self.async_step_init()

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the instructions, the APIs and the model."""
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._async_check(user_input)
            # A field that the user emptied is missing in the input and must not keep its old value.
            self._data = {
                **{key: value for key, value in self._data.items() if key not in (CONF_PROMPT, CONF_LLM_HASS_API)},
                **user_input,
            }
            if not errors:
                return await self.async_step_model()
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(self._init_schema(), self._data),
            errors=errors,
        )

    def _init_schema(self) -> vol.Schema:
        """Return the first form, with the APIs and models that there are."""
        models: list[ModelInfo] = self._get_entry().runtime_data.models
        name = {vol.Required(CONF_NAME, default=_DEFAULT_NAME): TextSelector()} if self.source == "user" else {}
        return vol.Schema(
            {
                **name,
                vol.Optional(CONF_PROMPT): TemplateSelector(),
                vol.Optional(CONF_LLM_HASS_API): SelectSelector(
                    SelectSelectorConfig(
                        options=[
                            SelectOptionDict(value=api.id, label=api.name) for api in llm.async_get_apis(self.hass)
                        ],
                        multiple=True,
                        mode=SelectSelectorMode.LIST,
                    )
                ),
                vol.Required(CONF_MODEL): SelectSelector(
                    SelectSelectorConfig(
                        options=[SelectOptionDict(value=model.id, label=model.display_name) for model in models],
                        custom_value=True,
                        mode=SelectSelectorMode.DROPDOWN,
                    )
                ),
            }
        )

    async def _async_check(self, user_input: dict[str, Any]) -> dict[str, str]:
        """Return what is wrong with the first form."""
        errors = {}
        if sum(map(_holds_assist, user_input.get(CONF_LLM_HASS_API, ()))) > 1:
            errors[CONF_LLM_HASS_API] = "assist_twice"
        runtime = self._get_entry().runtime_data
        if runtime.models and find_model(runtime.models, user_input[CONF_MODEL]) is None:
            # Aliases are not in the list, and a list may lag behind.
            try:
                await runtime.client.models.retrieve(user_input[CONF_MODEL], timeout=CHECK_TIMEOUT)
            except anthropic.NotFoundError:
                errors[CONF_MODEL] = "model_not_found"
            except anthropic.AnthropicError:
                errors[CONF_MODEL] = "cannot_connect"
        return errors

    async def async_step_model(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for what depends on the model."""
        if user_input is not None:
            # As above: a limit that the user emptied must not stay.
            kept = {key: value for key, value in self._data.items() if key != CONF_MONTHLY_TOKENS}
            return self._finish({**kept, **user_input})
        model = find_model(self._get_entry().runtime_data.models, self._data[CONF_MODEL])
        limit = output_limit(model) or _MAX_TOKENS
        schema = vol.Schema(
            {
                vol.Required(CONF_MAX_TOKENS): _whole_number(_MIN_TOKENS, limit),
                vol.Required(CONF_MAX_TOOL_ROUNDS): _whole_number(1, _MAX_TOOL_ROUNDS),
                **cost_fields(self._get_entry().data[CONF_BASE_URL], model),
            }
        )
        suggested = {**self._data, CONF_MAX_TOKENS: min(self._data[CONF_MAX_TOKENS], limit)}
        return self.async_show_form(
            step_id="model",
            data_schema=self.add_suggested_values_to_schema(schema, suggested),
            description_placeholders={"model": self._data[CONF_MODEL]},
            last_step=True,
        )

    def _finish(self, data: dict[str, Any]) -> SubentryFlowResult:
        """Store the agent; no APIs means no key."""
        if not data.get(CONF_LLM_HASS_API):
            data.pop(CONF_LLM_HASS_API, None)
        if self.source == "user":
            return self.async_create_entry(title=data.pop(CONF_NAME), data=data)
        return self.async_update_and_abort(self._get_entry(), self._get_reconfigure_subentry(), data=data)


def _whole_number(minimum: int, maximum: int) -> Any:
    """Return the validator of a whole number that is typed."""
    selector = NumberSelector(NumberSelectorConfig(min=minimum, max=maximum, step=1, mode=NumberSelectorMode.BOX))
    return vol.All(selector, vol.Coerce(int))
