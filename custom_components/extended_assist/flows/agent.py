"""The subentry flows for agents and AI tasks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, override

import anthropic
from anthropic.types import ModelInfo
import voluptuous as vol

from homeassistant.config_entries import (
    ConfigEntry,
    ConfigEntryState,
    ConfigSubentryData,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.selector import (
    BooleanSelector,
    ConversationAgentSelector,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)

from ..claude.client import CHECK_TIMEOUT
from ..claude.current_states import DEFAULT_PRESENT, MAX_PRESENT
from ..claude.earlier_changes import MAX_RECAP_HOURS
from ..claude.fallback import agent_exists, is_fallback_loop
from ..claude.models import Abilities, default_model, find_model
from ..claude.options import DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOOL_ROUNDS
from ..const import (
    CONF_ANSWER_WHEN_DONE,
    CONF_BASE_URL,
    CONF_FALLBACK_AGENT,
    CONF_MAX_TOKENS,
    CONF_MAX_TOOL_ROUNDS,
    CONF_PRESENT,
    CONF_RECAP_HOURS,
    CONF_SHOW_PICTURES,
    DOMAIN,
    SUBENTRY_AI_TASK,
    SUBENTRY_CONVERSATION,
)
from ..exposure.api_selection import assist_name, is_toolbox
from .model import MODEL_KEYS, check_model, model_schema, whole_number

_DEFAULT_NAME = "Claude"
_DEFAULT_TASK_NAME = "Claude AI Task"
_MAY_BE_EMPTY = (CONF_PROMPT, CONF_LLM_HASS_API, CONF_FALLBACK_AGENT)


def default_agent(models: Sequence[ModelInfo], model: str | None = None) -> ConfigSubentryData:
    """Return the agent of a new entry; it uses the entry's own API."""
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


def default_task(models: Sequence[ModelInfo], model: str | None = None) -> ConfigSubentryData:
    """Return the AI task of a new entry."""
    return {
        "subentry_type": SUBENTRY_AI_TASK,
        "title": _DEFAULT_TASK_NAME,
        "unique_id": None,
        "data": {
            CONF_MODEL: model or default_model(models),
            CONF_MAX_TOKENS: DEFAULT_MAX_TOKENS,
            CONF_MAX_TOOL_ROUNDS: DEFAULT_MAX_TOOL_ROUNDS,
        },
    }


class AgentFlow(ConfigSubentryFlow):
    """Add or change an agent."""

    _name = _DEFAULT_NAME
    _data: dict[str, Any]

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Add an agent."""
        entry = self._get_entry()
        if entry.state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._data = self._new_data(entry)
        return await self.async_step_init()

    def _new_data(self, entry: ConfigEntry) -> dict[str, Any]:
        """Return the default settings of a new agent."""
        data = dict(default_agent(entry.runtime_data.models)["data"])
        return {**data, CONF_LLM_HASS_API: [f"{DOMAIN}-{entry.entry_id}"]}

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Change an agent."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._data = dict(self._get_reconfigure_subentry().data)
        self._data[CONF_LLM_HASS_API] = without_missing(self.hass, self._data.get(CONF_LLM_HASS_API, ()))
        return await self.async_step_init()

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the instructions, the APIs and the model."""
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = await self._async_check(user_input)
            # A field that the user emptied is missing in the input and must not keep its old value.
            self._data = {**{key: value for key, value in self._data.items() if key not in _MAY_BE_EMPTY}, **user_input}
            if not errors:
                return await self.async_step_model()
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(self._init_schema(), self._data),
            errors=errors,
            description_placeholders={"assist": assist_name(self.hass)},
        )

    def _init_schema(self) -> vol.Schema:
        """Return the first form, with the existing APIs and models."""
        models: list[ModelInfo] = self._get_entry().runtime_data.models
        name = {vol.Required(CONF_NAME, default=self._name): TextSelector()} if self.source == "user" else {}
        return vol.Schema(
            {
                **name,
                **self._behaviour_fields(),
                vol.Required(CONF_MODEL): SelectSelector(
                    SelectSelectorConfig(
                        options=[
                            SelectOptionDict(value=model.id, label=model.display_name or model.id) for model in models
                        ],
                        custom_value=True,
                        mode=SelectSelectorMode.DROPDOWN,
                    )
                ),
                **self._fallback_field(),
            }
        )

    def _behaviour_fields(self) -> dict[Any, Any]:
        """Return the fields for the instructions, the APIs and how they are used."""
        return {
            vol.Optional(CONF_PROMPT): TemplateSelector(),
            **tools_field(self.hass),
            vol.Required(CONF_ANSWER_WHEN_DONE, default=True): BooleanSelector(),
            vol.Required(CONF_PRESENT, default=DEFAULT_PRESENT): whole_number(0, MAX_PRESENT),
            vol.Required(CONF_RECAP_HOURS, default=0): whole_number(0, MAX_RECAP_HOURS),
            vol.Required(CONF_SHOW_PICTURES, default=True): BooleanSelector(),
        }

    def _fallback_field(self) -> dict[Any, Any]:
        """Return the field for the fallback agent."""
        return {vol.Optional(CONF_FALLBACK_AGENT): ConversationAgentSelector()}

    async def _async_check(self, user_input: dict[str, Any]) -> dict[str, str]:
        """Return the errors of the first form by field."""
        errors = check_tools(user_input)
        if fallback := user_input.get(CONF_FALLBACK_AGENT):
            own_id = None if self.source == "user" else self._get_reconfigure_subentry().subentry_id
            if not agent_exists(self.hass, fallback):
                errors[CONF_FALLBACK_AGENT] = "fallback_missing"
            elif is_fallback_loop(self.hass, own_id, fallback):
                errors[CONF_FALLBACK_AGENT] = "fallback_loop"
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
        """Ask for the options that depend on the model."""
        entry = self._get_entry()
        abilities = Abilities.of(find_model(entry.runtime_data.models, self._data[CONF_MODEL]))
        schema = model_schema(abilities, entry.data[CONF_BASE_URL])
        errors: dict[str, str] = {}
        if user_input is not None:
            errors = check_model(user_input)
            if not errors:
                # What another model had and this one has not is forgotten.
                kept = {key: value for key, value in self._data.items() if key not in MODEL_KEYS}
                return self._finish({**kept, **user_input})
        suggested = user_input or self._data
        if abilities.max_tokens:
            suggested = {**suggested, CONF_MAX_TOKENS: min(suggested[CONF_MAX_TOKENS], abilities.max_tokens)}
        return self.async_show_form(
            step_id="model",
            data_schema=self.add_suggested_values_to_schema(schema, suggested),
            errors=errors,
            description_placeholders={"model": self._data[CONF_MODEL]},
            last_step=True,
        )

    def _finish(self, data: dict[str, Any]) -> SubentryFlowResult:
        """Store the agent; without APIs, the key is left out."""
        if not data.get(CONF_LLM_HASS_API):
            data.pop(CONF_LLM_HASS_API, None)
        if self.source == "user":
            return self.async_create_entry(title=data.pop(CONF_NAME), data=data)
        return self.async_update_and_abort(self._get_entry(), self._get_reconfigure_subentry(), data=data)


class TaskFlow(AgentFlow):
    """Add or change an AI task."""

    _name = _DEFAULT_TASK_NAME

    @override
    def _new_data(self, entry: ConfigEntry) -> dict[str, Any]:
        """Return the default settings of a new AI task."""
        return dict(default_task(entry.runtime_data.models)["data"])

    @override
    def _behaviour_fields(self) -> dict[Any, Any]:
        """Return no fields: the instructions and tools come with each task."""
        return {}

    @override
    def _fallback_field(self) -> dict[Any, Any]:
        """Return no field: AI tasks have no fallback agent."""
        return {}


@callback
def tools_field(hass: HomeAssistant) -> dict[Any, Any]:
    """Return the field for the existing APIs."""
    apis = [SelectOptionDict(value=api.id, label=api.name) for api in llm.async_get_apis(hass)]
    return {
        vol.Optional(CONF_LLM_HASS_API): SelectSelector(
            SelectSelectorConfig(options=apis, multiple=True, mode=SelectSelectorMode.LIST)
        )
    }


@callback
def without_missing(hass: HomeAssistant, apis: Iterable[str]) -> list[str]:
    """Return the APIs that still exist."""
    known = {api.id for api in llm.async_get_apis(hass)}
    return [api for api in apis if api in known]


def check_tools(user_input: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of the field: Assist's tools must not be selected twice."""
    twice = sum(map(_holds_assist, user_input.get(CONF_LLM_HASS_API, ()))) > 1
    return {CONF_LLM_HASS_API: "assist_twice"} if twice else {}


def _holds_assist(api_id: str) -> bool:
    """Return whether an API is Assist, or a toolbox, which contains Assist's tools."""
    return api_id == llm.LLM_API_ASSIST or is_toolbox(api_id)
