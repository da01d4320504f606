"""The config flow: a Claude agent, or tools for another agent."""

from collections.abc import Mapping
from typing import Any, override

import voluptuous as vol
from yarl import URL

from homeassistant.config_entries import (
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryData,
    ConfigSubentryFlow,
    OptionsFlow,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL, CONF_NAME
from homeassistant.core import callback
from homeassistant.helpers.selector import TextSelector

from .calls.options import MEMORY
from .const import CONF_BASE_URL, CONF_FAMILIES, DOMAIN, SUBENTRY_AI_TASK, SUBENTRY_CONVERSATION, SUBENTRY_FUNCTION
from .exposure.api_selection import assist_name
from .flows.agent import AgentFlow, TaskFlow, default_agent, default_task
from .flows.connection import API_KEY_SCHEMA, CONNECTION_SCHEMA, MEMORY_FIELD, SET_UP_SCHEMA, async_check, normalized
from .flows.function import FunctionFlow
from .flows.options import ToolboxOptionsFlow
from .tools import DEFAULT_FAMILIES

_TITLE = "Extended Assist"


def _options(*, is_on: bool) -> dict[str, Any]:
    """Return the options of a new entry, with the family of memory if the user wants it."""
    return {CONF_FAMILIES: [*DEFAULT_FAMILIES, MEMORY]} if is_on else {}


class ExtendedAssistConfigFlow(ConfigFlow, domain=DOMAIN):
    """Add, re-authenticate and reconfigure entries."""

    VERSION = 1
    MINOR_VERSION = 3

    _data: dict[str, Any]
    _remembers = False

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return the options flow."""
        return ToolboxOptionsFlow()

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(cls, config_entry: ConfigEntry) -> dict[str, type[ConfigSubentryFlow]]:
        """Return functions, and for entries with a connection also agents and AI tasks."""
        functions: dict[str, type[ConfigSubentryFlow]] = {SUBENTRY_FUNCTION: FunctionFlow}
        if CONF_API_KEY not in config_entry.data:
            return functions
        return {SUBENTRY_CONVERSATION: AgentFlow, SUBENTRY_AI_TASK: TaskFlow, **functions}

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Offer the two kinds of entries."""
        return self.async_show_menu(step_id="user", menu_options=["claude", "tools"])

    async def async_step_tools(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Add tools for another agent."""
        errors = {}
        if user_input is not None:
            if user_input[CONF_NAME] not in self._titles():
                return self.async_create_entry(
                    title=user_input[CONF_NAME], data={}, options=_options(is_on=user_input[MEMORY])
                )
            errors = {CONF_NAME: "name_taken"}
        schema = vol.Schema({vol.Required(CONF_NAME, default=self._free_title()): TextSelector()}).extend(MEMORY_FIELD)
        return self.async_show_form(
            step_id="tools",
            data_schema=self.add_suggested_values_to_schema(schema, user_input),
            errors=errors,
            description_placeholders={"assist": assist_name(self.hass)},
        )

    async def async_step_claude(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Add an agent: check the key and the server, then ask for anything that the server does not list."""
        errors: dict[str, str] = {}
        if user_input is not None:
            self._data, self._remembers = normalized(user_input), user_input[MEMORY]
            self._async_abort_entries_match(self._data)
            errors, models = await async_check(self.hass, self._data)
            if not errors and models:
                return self._create_entry(default_agent(models), default_task(models))
            if not errors:
                return await self.async_step_model()
        return self._show_connection("claude", user_input, errors)

    async def async_step_model(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the model if the server lists none."""
        if user_input is not None:
            model = user_input[CONF_MODEL]
            return self._create_entry(default_agent([], model), default_task([], model))
        return self.async_show_form(step_id="model", data_schema=vol.Schema({vol.Required(CONF_MODEL): TextSelector()}))

    def _create_entry(self, *subentries: ConfigSubentryData) -> ConfigFlowResult:
        """Create an entry with an agent and an AI task."""
        return self.async_create_entry(
            title=self._free_title(), data=self._data, options=_options(is_on=self._remembers), subentries=subentries
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Change the server or the key."""
        entry = self._get_reconfigure_entry()
        if CONF_API_KEY not in entry.data:
            return self.async_abort(reason="no_connection")
        errors: dict[str, str] = {}
        if user_input is not None:
            data = normalized(user_input)
            self._async_abort_entries_match(data)
            errors, _ = await async_check(self.hass, data)
            if not errors:
                return self._update(entry, data)
        shown = user_input or {CONF_BASE_URL: entry.data[CONF_BASE_URL]}
        return self._show_connection("reconfigure", shown, errors)

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        """Start the step for a new key."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for a new key for the same server."""
        entry = self._get_reauth_entry()
        errors: dict[str, str] = {}
        if user_input is not None:
            data = normalized({**entry.data, CONF_API_KEY: "", **user_input})
            errors, _ = await async_check(self.hass, data)
            if not errors:
                return self._update(entry, data)
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=API_KEY_SCHEMA,
            errors=errors,
            description_placeholders={"server": URL(entry.data[CONF_BASE_URL]).host or ""},
        )

    def _update(self, entry: ConfigEntry, data: dict[str, Any]) -> ConfigFlowResult:
        """Store a new connection; a loaded entry reloads when its data change."""
        if entry.update_listeners:
            return self.async_update_and_abort(entry, data=data)
        return self.async_update_reload_and_abort(entry, data=data)

    def _show_connection(
        self, step_id: str, shown: Mapping[str, Any] | None, errors: dict[str, str]
    ) -> ConfigFlowResult:
        """Show the form for key and server."""
        schema = SET_UP_SCHEMA if step_id == "claude" else CONNECTION_SCHEMA
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, shown),
            errors=errors,
            description_placeholders={
                "keys_url": "https://platform.claude.com/settings/keys",
                "example_url": "http://192.168.1.10:11434",
            },
        )

    def _titles(self) -> set[str]:
        """Return the titles in use; each API has its entry's title, which must be unique."""
        return {entry.title for entry in self._async_current_entries()}

    def _free_title(self) -> str:
        """Return a title that is not in use."""
        titles, number = self._titles(), 1
        title = _TITLE
        while title in titles:
            number += 1
            title = f"{_TITLE} {number}"
        return title
