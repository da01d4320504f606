"""Which functions an entry serves; one that cannot be served is left out, and a repair issue names it."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey

from ..calls.caller import async_outside_conversation
from ..calls.options import ToolboxOptions
from ..calls.policy import Speaker, Tier
from ..const import CONF_ENABLED, CONF_FUNCTION, CONF_TIER, DOMAIN, LOGGER, PROVIDER_TOOLS, SUBENTRY_FUNCTION
from ..llm_tools.extended_tool import ExtendedTool
from ..registry import RegisteredTool, registered_tools
from ..repair_issues.agents import (
    NOT_SERVED,
    async_raise_issue,
    async_resolve_issue,
    async_resolve_orphaned,
    async_resolve_unless_ignored,
)
from ..results import MAX_BUDGET, ToolError
from ..scheduled.scheduled_task import Owner
from ..tools import CATALOGUE
from .definition import Definition, read_definition
from .mistakes import check_function, check_spec
from .parameters import check_names
from .tool import UserFunctionTool
from .yaml_source import FunctionError, PartError, parse_yaml

_MAX_OUTCOME = 500
"""Characters that are kept of what a call said for which nobody waited."""
RESERVED = f"{DOMAIN}__"
"""Prefix of the names of our own tools."""


@dataclass(frozen=True, slots=True)
class LoadedFunction:
    """A function that is turned on and was read."""

    subentry: ConfigSubentry
    definition: Definition
    tier: Tier | None
    text: str
    """The text that it was read from: a subentry changes in place."""

    def tool(self, options: ToolboxOptions) -> UserFunctionTool:
        """Return the function as a tool."""
        return UserFunctionTool(self.definition, options, self.tier, (self.subentry.subentry_id, self.text))


_LOADED: HassKey[dict[str, list[LoadedFunction]]] = HassKey(f"{DOMAIN}_functions")

_LOADING: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_functions_loading")


@callback
def function_subentries(entry: ConfigEntry) -> list[ConfigSubentry]:
    """Return the functions of an entry, turned on or not."""
    return [subentry for subentry in entry.subentries.values() if subentry.subentry_type == SUBENTRY_FUNCTION]


async def async_load_functions(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Read the functions of an entry anew; what changes meanwhile is read after that."""
    async with hass.data.setdefault(_LOADING, asyncio.Lock()):
        hass.data.setdefault(_LOADED, {})[entry.entry_id] = await _async_read(hass, entry)


async def _async_read(hass: HomeAssistant, entry: ConfigEntry) -> list[LoadedFunction]:
    """Return the functions that an entry serves; report the others."""
    served: dict[str, LoadedFunction] = {}
    async_resolve_orphaned(hass)
    for subentry in function_subentries(entry):
        if not subentry.data.get(CONF_ENABLED, True):
            async_resolve_issue(hass, NOT_SERVED, subentry.subentry_id)
            continue
        try:
            text = subentry.data[CONF_FUNCTION]
            definition = await hass.async_add_executor_job(read_definition, text)
            _check_name(definition.name, served)
        except FunctionError as err:
            _report(hass, entry.entry_id, subentry, str(err))
            continue
        # Whether its name is free, the next turn will tell.
        async_resolve_unless_ignored(hass, subentry.subentry_id, NOT_SERVED)
        tier = tier_of(subentry.data)
        served[definition.name] = LoadedFunction(subentry, definition, tier, text)
    return list(served.values())


def tier_of(data: Mapping[str, Any]) -> Tier | None:
    """Return the tier that the user chose, or None where the type decides."""
    return Tier[data[CONF_TIER].upper()] if CONF_TIER in data else None


@callback
def unload_functions(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Serve nothing of an entry any more, and take its issues back."""
    hass.data.get(_LOADED, {}).pop(entry.entry_id, None)
    for subentry in function_subentries(entry):
        async_resolve_unless_ignored(hass, subentry.subentry_id, NOT_SERVED)


@callback
def loaded_functions(hass: HomeAssistant, entry_id: str) -> list[LoadedFunction]:
    """Return the functions that an entry serves."""
    return hass.data.get(_LOADED, {}).get(entry_id, [])


@callback
def added_tools(
    hass: HomeAssistant, entry_id: str, options: ToolboxOptions, taken: Collection[str]
) -> list[ExtendedTool]:
    """Return other integrations' tools and the user's functions; one whose name is taken is left out and reported."""
    names = dict.fromkeys(taken, "Assist")
    tools: list[ExtendedTool] = []
    registered: list[RegisteredTool] = registered_tools(hass, options)
    for tool in registered:
        if tool.name in names:
            LOGGER.warning("A tool of %s is left out: its name is taken", tool.integration)
            LOGGER.debug("Its name is %s", tool.name)
        else:
            names[tool.name] = str(tool.integration)
            tools.append(tool)
    for function in loaded_functions(hass, entry_id):
        if (owner := names.get(function.definition.name)) is not None:
            reason = f"{owner} has a tool named '{function.definition.name}' too; choose another name"
            _report(hass, entry_id, function.subentry, reason)
        else:
            async_resolve_issue(hass, NOT_SERVED, function.subentry.subentry_id)
            tools.append(function.tool(options))
    return tools


async def async_validate_function(
    hass: HomeAssistant, entry: ConfigEntry, text: str, *, without: str | None = None, taken: Collection[str] = ()
) -> Definition:
    """Return the function in a text that is to be saved; raise FunctionError for whatever is wrong with it.

    without is the subentry that it replaces; taken are names beside those of the entry.
    """
    definition = await hass.async_add_executor_job(read_definition, text)
    names = {
        one.definition.name for one in loaded_functions(hass, entry.entry_id) if one.subentry.subentry_id != without
    }
    _check_name(definition.name, names | set(taken))
    _check_what_models_take(definition, text)
    context = llm.LLMContext(platform=DOMAIN, context=None, language=None, assistant="conversation", device_id=None)
    assist = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
    owners = {tool.name: "Assist" for tool in assist.tools}
    owners |= {tool.name: str(tool.integration) for tool in registered_tools(hass, ToolboxOptions())}
    if (owner := owners.get(definition.name)) is not None:
        raise FunctionError(f"{owner} has a tool named '{definition.name}' too; choose another name")
    written = parse_yaml(text)
    first: list[str | int] = [0] if isinstance(written.value, list) else []
    whole = written.value[0] if first else written.value
    try:
        await definition.type.async_check(hass, definition.settings)
    except PartError as err:
        raise FunctionError(str(err), written.line([*first, "function", *err.path])) from err
    try:
        check_spec(whole["spec"])
        check_function(whole["spec"], whole["function"])
    except PartError as err:
        raise FunctionError(str(err), written.line([*first, *err.path])) from err
    return definition


def _check_name(name: str, others: Collection[str]) -> None:
    """Raise FunctionError for a name that is taken."""
    if name.startswith(RESERVED) or any(name == tool.name for tool in CATALOGUE):
        raise FunctionError(f"Names that begin with {RESERVED} are those of Extended Assist's own tools")
    if name in others:
        raise FunctionError(f"There is a function named '{name}' already")


def _check_what_models_take(definition: Definition, text: str) -> None:
    """Raise FunctionError for names that providers of models refuse, which would cost the agent all its tools."""
    if definition.name in PROVIDER_TOOLS:
        raise FunctionError(f"Providers of models have a tool named '{definition.name}' too; choose another name")
    try:
        check_names(definition.written)
    except PartError as err:
        written = parse_yaml(text)
        first: list[str | int] = [0] if isinstance(written.value, list) else []
        raise FunctionError(str(err), written.line([*first, "spec", "parameters", *err.path])) from err


@callback
def _report(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry, reason: str) -> None:
    """Raise the issue of a function that is left out."""
    async_raise_issue(hass, NOT_SERVED, entry_id, subentry, {"function": subentry.title, "reason": reason})


async def async_call_function(
    hass: HomeAssistant, tool: UserFunctionTool, arguments: dict[str, Any], llm_context: llm.LLMContext
) -> llm.ToolResult:
    """Call a function for somebody who is in no chat; what was said in one that started this does not count."""
    call = tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
    return await async_outside_conversation(hass, call)


def trusted_options(options: ToolboxOptions, *, known: bool) -> ToolboxOptions:
    """Return options for a call that asks nobody: of a person, an automation or the editor, not of a model.

    known says that there is a user, to whom the policy's tiers apply.
    """
    who_may = options.policy.who_may if known else dict.fromkeys(Tier, Speaker.ANYONE)
    policy = replace(options.policy, ask_first=frozenset(), allow_without_chat=True, who_may=who_may)
    return replace(options, policy=policy, budget=MAX_BUDGET, is_fixed=True)


async def async_perform_function(
    hass: HomeAssistant, owner: Owner, data: Mapping[str, Any], options: ToolboxOptions
) -> str:
    """Call a function whose time has come; the user was asked, where that was due, when it was put off."""
    name = data["function"]
    function = next((one for one in loaded_functions(hass, owner.entry_id) if one.definition.name == name), None)
    if function is None:
        raise ToolError(f"there is no function {name} any more.")
    # What somebody wanted for themselves is told to nobody.
    trusted = replace(trusted_options(options, known=True), is_told=owner.user_id is None)
    tool = function.tool(trusted)
    result = await async_call_function(hass, tool, data["arguments"], owner.llm_context())
    if result.error:
        raise ToolError(str(result.data.get("error")))
    return f"done: {str(result.data.get('result'))[:_MAX_OUTCOME]}"
