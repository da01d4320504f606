"""The subentry flow for functions: write, try, import, export, copy."""

from contextlib import suppress
from types import MappingProxyType
from typing import Any, override

import voluptuous as vol

from homeassistant.config_entries import ConfigEntryState, ConfigSubentry, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_NAME
from homeassistant.core import Context
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.selector import (
    BooleanSelector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)

from ..calls.options import ToolboxOptions
from ..calls.policy import Tier
from ..const import CONF_ENABLED, CONF_FUNCTION, CONF_TIER, DOMAIN, SUBENTRY_FUNCTION
from ..functions.definition import Definition
from ..functions.manager import (
    async_call_function,
    async_load_functions,
    async_validate_function,
    function_subentries,
    trusted_options,
)
from ..functions.tool import UserFunctionTool
from ..functions.yaml_source import FunctionError, join_functions, parse_yaml, rename_function, split_functions

_FUNCTIONS = "functions"
_ARGUMENTS = "arguments"
_THEN = "then"
_BY_TYPE = "by_type"
_DOCS_URL = "https://github.com/extended-assist/extended-assist/blob/main/docs/functions.md"
_EXAMPLE = """spec:
  name: add_to_shopping_list
  description: Put something on the shopping list.
  parameters:
    type: object
    properties:
      item:
        type: string
        description: What to buy.
    required: [item]
function:
  type: script
  sequence:
    - action: shopping_list.add_item
      data:
        name: "{{ item }}"
"""


class CodeSelector(TemplateSelector):
    """A code editor that keeps the text unchanged."""

    @override
    def __call__(self, data: Any) -> str:
        """Accept any text: errors are reported later, with their lines."""
        return str(data)


def _choice(options: list[str], translation_key: str) -> SelectSelector:
    """Return a selector with translated options."""
    return SelectSelector(
        SelectSelectorConfig(options=options, mode=SelectSelectorMode.DROPDOWN, translation_key=translation_key)
    )


_EDIT_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_FUNCTION): CodeSelector(),
        vol.Optional(CONF_NAME): TextSelector(),
        vol.Required(CONF_TIER, default=_BY_TYPE): _choice(
            [_BY_TYPE, *(tier.name.lower() for tier in Tier)], CONF_TIER
        ),
        vol.Required(CONF_ENABLED, default=True): BooleanSelector(),
        vol.Required(_THEN, default="save"): _choice(["save", "try"], "then_edit"),
    }
)
_TRY_SCHEMA = vol.Schema(
    {
        vol.Optional(_ARGUMENTS): CodeSelector(),
        vol.Required(_THEN, default="try"): _choice(["try", "save", "edit"], "then_try"),
    }
)


class FunctionFlow(ConfigSubentryFlow):
    """Add or change functions."""

    _input: dict[str, Any]
    """The values of the form."""
    _definition: Definition
    _subentry: ConfigSubentry | None = None
    """The function that is edited; None for a new one."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Offer to write a function, or to import or export several."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        self._input = {CONF_FUNCTION: _EXAMPLE}
        options = ["edit", "import_list"]
        if function_subentries(self._get_entry()):
            options.append("export_list")
        return self.async_show_menu(
            step_id="user", menu_options=options, description_placeholders={"docs_url": _DOCS_URL}
        )

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Offer the actions for an existing function."""
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        subentry = self._subentry = self._get_reconfigure_subentry()
        self._input = {CONF_NAME: subentry.title, CONF_TIER: _BY_TYPE, **subentry.data}
        return self.async_show_menu(step_id="reconfigure", menu_options=["edit", "copy"])

    async def async_step_copy(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Start a new function with the text of this one."""
        self._subentry = None
        self._input = {key: value for key, value in self._input.items() if key != CONF_NAME}
        # What is wrong with the text already, the editor will say.
        with suppress(FunctionError, KeyError, TypeError):
            self._input[CONF_FUNCTION] = await self.hass.async_add_executor_job(self._under_another_name)
        return await self.async_step_edit()

    def _under_another_name(self) -> str:
        """Return the text with an unused name."""
        text: str = self._input[CONF_FUNCTION]
        value = parse_yaml(text).value
        name: str = (value[0] if isinstance(value, list) else value)["spec"]["name"]
        texts = [subentry.data[CONF_FUNCTION] for subentry in function_subentries(self._get_entry())]
        number = 2
        while any(f"{name}_{number}" in each for each in texts):
            number += 1
        return rename_function(text, f"{name}_{number}")

    async def async_step_edit(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for the function, and check it."""
        errors: dict[str, str] = {}
        problem = ""
        if user_input is not None:
            self._input = user_input
            try:
                self._definition = await self._async_validate(user_input[CONF_FUNCTION])
            except FunctionError as err:
                errors, problem = {CONF_FUNCTION: "invalid_function"}, str(err)
            else:
                return await (self.async_step_try() if user_input[_THEN] == "try" else self._async_save())
        return self.async_show_form(
            step_id="edit",
            data_schema=self.add_suggested_values_to_schema(_EDIT_SCHEMA, {_THEN: "save", **self._input}),
            errors=errors,
            description_placeholders={"problem": problem},
        )

    async def _async_validate(self, text: str, taken: set[str] | None = None) -> Definition:
        """Return a valid function, or report the errors."""
        without = self._subentry.subentry_id if self._subentry else None
        return await async_validate_function(self.hass, self._get_entry(), text, without=without, taken=taken or ())

    async def async_step_try(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Call the function with test arguments and show the result, before it is saved."""
        errors: dict[str, str] = {}
        problem, result = "", "…"
        if user_input is not None:
            if user_input[_THEN] == "save":
                return await self._async_save()
            if user_input[_THEN] == "edit":
                return await self.async_step_edit()
            try:
                result = await self._async_try(await self._async_arguments(user_input.get(_ARGUMENTS, "")))
            except FunctionError as err:
                errors, problem = {_ARGUMENTS: "invalid_function"}, str(err)
        shown = (user_input or {}).get(_ARGUMENTS) or "\n".join(f"{name}:" for name in self._argument_names())
        return self.async_show_form(
            step_id="try",
            data_schema=self.add_suggested_values_to_schema(_TRY_SCHEMA, {_ARGUMENTS: shown, _THEN: "try"}),
            errors=errors,
            description_placeholders={
                "function": self._definition.name,
                "result": result.replace("```", "'''"),
                "problem": problem,
            },
        )

    def _argument_names(self) -> list[str]:
        """Return the names of the function's parameters."""
        return list(self._definition.written.get("properties", {}))

    async def _async_arguments(self, text: str) -> dict[str, Any]:
        """Return the test arguments; raises FunctionError for unknown ones."""
        arguments = (await self.hass.async_add_executor_job(parse_yaml, text)).value if text.strip() else {}
        if not isinstance(arguments, dict):
            raise FunctionError("Write the arguments as name: value, one a line")
        taken, takes_any = self._argument_names(), self._definition.written.get("additionalProperties")
        if (unknown := [name for name in arguments if name not in taken]) and not takes_any:
            raise FunctionError(
                f"{self._definition.name} has no argument {unknown[0]}; it takes {', '.join(taken) or 'none'}"
            )
        return {name: value for name, value in arguments.items() if value is not None}

    async def _async_try(self, arguments: dict[str, Any]) -> str:
        """Return the result of a call."""
        entry = self._get_entry()
        options = trusted_options(ToolboxOptions.of(entry.options, entry.entry_id), known=False)
        context = llm.LLMContext(
            platform=DOMAIN,
            context=Context(),
            language=self.hass.config.language,
            assistant="conversation",
            device_id=None,
        )
        tool = UserFunctionTool(self._definition, options)
        result = await async_call_function(self.hass, tool, arguments, context)
        value = result.data.get("error" if result.error else "result", result.data)
        return value if isinstance(value, str) else json_dumps(value)

    async def _async_save(self) -> SubentryFlowResult:
        """Store the function."""
        title = self._input.get(CONF_NAME) or self._definition.name
        data = {CONF_FUNCTION: self._input[CONF_FUNCTION], CONF_ENABLED: self._input[CONF_ENABLED]}
        if self._input[CONF_TIER] != _BY_TYPE:
            data[CONF_TIER] = self._input[CONF_TIER]
        entry = self._get_entry()
        if self._subentry is not None:
            return self.async_update_and_abort(entry, self._subentry, title=title, data=data)
        if self.source == "user":
            return self.async_create_entry(title=title, data=data)
        self._add(title, data)
        return self.async_abort(reason="copied", description_placeholders={"function": title})

    def _add(self, title: str, data: dict[str, Any]) -> None:
        """Add a function beside the one of this flow."""
        subentry = ConfigSubentry(
            data=MappingProxyType(data), subentry_type=SUBENTRY_FUNCTION, title=title, unique_id=None
        )
        self.hass.config_entries.async_add_subentry(self._get_entry(), subentry)

    async def async_step_import_list(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Import a list of functions; those with errors stay in the form with their errors."""
        errors: dict[str, str] = {}
        text, problem, count = "", "", 0
        if user_input is not None:
            text = user_input[_FUNCTIONS]
            try:
                count, left, problems = await self._async_import(text)
            except FunctionError as err:
                errors, problem = {"base": "invalid_list"}, str(err)
            else:
                if not left:
                    return self.async_abort(reason="imported", description_placeholders={"count": str(count)})
                errors, problem, text = {"base": "partly_imported"}, "; ".join(problems), left
        return self.async_show_form(
            step_id="import_list",
            data_schema=self.add_suggested_values_to_schema(
                vol.Schema({vol.Required(_FUNCTIONS): CodeSelector()}), {_FUNCTIONS: text}
            ),
            errors=errors,
            description_placeholders={"problem": problem, "count": str(count)},
        )

    async def _async_import(self, text: str) -> tuple[int, str, list[str]]:
        """Add the valid functions of a list; return their number, the list of the others, and the errors."""
        left: list[str] = []
        problems: list[FunctionError] = []
        names: set[str] = set()
        for item in await self.hass.async_add_executor_job(split_functions, text):
            try:
                definition = await self._async_validate(item.text, names)
            except FunctionError as err:
                left.append(item.text)
                problems.append(err)
            else:
                names.add(definition.name)
                self._add(definition.name, {CONF_FUNCTION: item.text, CONF_ENABLED: True})
        # Whoever is told that they were imported can use them.
        await async_load_functions(self.hass, self._get_entry())
        return len(names), *await self.hass.async_add_executor_job(_list_with_errors, left, problems)

    async def async_step_export_list(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Show all functions as a list."""
        if user_input is not None:
            return self.async_abort(reason="exported")
        texts = [subentry.data[CONF_FUNCTION] for subentry in function_subentries(self._get_entry())]
        whole = await self.hass.async_add_executor_job(join_functions, texts)
        return self.async_show_form(
            step_id="export_list",
            data_schema=self.add_suggested_values_to_schema(
                vol.Schema({vol.Optional(_FUNCTIONS): CodeSelector()}), {_FUNCTIONS: whole}
            ),
        )


def _list_with_errors(texts: list[str], problems: list[FunctionError]) -> tuple[str, list[str]]:
    """Return functions as a list, with the errors of each by line."""
    if not texts:
        return "", []
    text = join_functions(texts)
    found = zip(split_functions(text), problems, strict=True)
    return text, [str(FunctionError(error.reason, item.line + (error.line or 1) - 1)) for item, error in found]
