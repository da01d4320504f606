"""Which functions an entry serves; one that cannot be served is left out, and a repair issue names it."""

import asyncio
from collections.abc import Collection, Mapping
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey

from ..actions.schedule import performs
from ..actions.scheduled import ScheduledAction
from ..call import ToolboxOptions
from ..const import CONF_ENABLED, CONF_FUNCTION, CONF_TIER, DOMAIN, LOGGER, SUBENTRY_FUNCTION
from ..issues import NOT_SERVED, async_put_aside, async_raise, async_settle, async_settle_gone
from ..policy import Speaker, Tier
from ..registry import RegisteredTool, registered_tools
from ..results import MAX_BUDGET, ToolError
from ..tools import CATALOGUE
from ..tools.base import ExtendedTool
from .definition import Definition, read_definition
from .reading import FunctionError, PartError, read
from .tool import CALL_FUNCTION, UserFunctionTool

_MAX_OUTCOME = 500
"""Characters that are kept of what a call said for which nobody waited."""
RESERVED = f"{DOMAIN}__"
"""How the names of our own tools begin."""


@dataclass(frozen=True, slots=True)
class ServedFunction:
    """A function that is turned on and was read."""

    subentry: ConfigSubentry
    definition: Definition
    tier: Tier | None

    def tool(self, options: ToolboxOptions) -> UserFunctionTool:
        """Return the function as a tool."""
        return UserFunctionTool(self.definition, options, self.tier)


_SERVED: HassKey[dict[str, list[ServedFunction]]] = HassKey(f"{DOMAIN}_functions")

_LOADING: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_functions_loading")


@callback
def function_subentries(entry: ConfigEntry) -> list[ConfigSubentry]:
    """Return the functions of an entry, turned on or not."""
    return [subentry for subentry in entry.subentries.values() if subentry.subentry_type == SUBENTRY_FUNCTION]


async def async_load_functions(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Read the functions of an entry anew; what changes meanwhile is read after that."""
    async with hass.data.setdefault(_LOADING, asyncio.Lock()):
        hass.data.setdefault(_SERVED, {})[entry.entry_id] = await _async_read(hass, entry)


async def _async_read(hass: HomeAssistant, entry: ConfigEntry) -> list[ServedFunction]:
    """Return the functions that an entry serves; report the others."""
    served: dict[str, ServedFunction] = {}
    async_settle_gone(hass)
    for subentry in function_subentries(entry):
        if not subentry.data.get(CONF_ENABLED, True):
            async_settle(hass, NOT_SERVED, subentry.subentry_id)
            continue
        try:
            definition = await hass.async_add_executor_job(read_definition, subentry.data[CONF_FUNCTION])
            _check_name(definition.name, served)
        except FunctionError as err:
            _report(hass, entry.entry_id, subentry, str(err))
            continue
        # Whether its name is free, the next turn will tell.
        async_put_aside(hass, subentry.subentry_id, NOT_SERVED)
        tier = tier_of(subentry.data)
        served[definition.name] = ServedFunction(subentry, definition, tier)
    return list(served.values())


def tier_of(data: Mapping[str, Any]) -> Tier | None:
    """Return the tier that the user chose, or None where the type decides."""
    return Tier[data[CONF_TIER].upper()] if CONF_TIER in data else None


@callback
def forget_functions(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Serve nothing of an entry any more, and take its issues back."""
    hass.data.get(_SERVED, {}).pop(entry.entry_id, None)
    for subentry in function_subentries(entry):
        async_put_aside(hass, subentry.subentry_id, NOT_SERVED)


@callback
def served_functions(hass: HomeAssistant, entry_id: str) -> list[ServedFunction]:
    """Return the functions that an entry serves."""
    return hass.data.get(_SERVED, {}).get(entry_id, [])


@callback
def added_tools(
    hass: HomeAssistant, entry_id: str, options: ToolboxOptions, taken: Collection[str]
) -> list[ExtendedTool]:
    """Return what users and other integrations add to a toolbox; a name that is taken already is left out and reported."""
    names = dict.fromkeys(taken, "Assist")
    tools: list[ExtendedTool] = []
    registered: list[RegisteredTool] = registered_tools(hass, options)
    for tool in registered:
        if tool.name in names:
            LOGGER.warning("The tool %s of %s is left out: its name is taken", tool.name, tool.integration)
        else:
            names[tool.name] = str(tool.integration)
            tools.append(tool)
    for function in served_functions(hass, entry_id):
        if (owner := names.get(function.definition.name)) is not None:
            reason = f"{owner} has a tool named '{function.definition.name}' too; choose another name"
            _report(hass, entry_id, function.subentry, reason)
        else:
            async_settle(hass, NOT_SERVED, function.subentry.subentry_id)
            tools.append(function.tool(options))
    return tools


async def async_validate(
    hass: HomeAssistant, entry: ConfigEntry, text: str, *, without: str | None = None, taken: Collection[str] = ()
) -> Definition:
    """Return the function in a text that is to be saved; raise FunctionError for whatever is wrong with it.

    without is the subentry that it replaces; taken are names beside those of the entry.
    """
    definition = await hass.async_add_executor_job(read_definition, text)
    names = {
        one.definition.name for one in served_functions(hass, entry.entry_id) if one.subentry.subentry_id != without
    }
    _check_name(definition.name, names | set(taken))
    context = llm.LLMContext(platform=DOMAIN, context=None, language=None, assistant="conversation", device_id=None)
    assist = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
    owners = {tool.name: "Assist" for tool in assist.tools}
    owners |= {tool.name: str(tool.integration) for tool in registered_tools(hass, ToolboxOptions())}
    if (owner := owners.get(definition.name)) is not None:
        raise FunctionError(f"{owner} has a tool named '{definition.name}' too; choose another name")
    try:
        await definition.step.async_check(hass)
    except PartError as err:
        written = read(text)
        first: list[str | int] = [0] if isinstance(written.value, list) else []
        raise FunctionError(str(err), written.line([*first, "function", *err.path])) from err
    return definition


def _check_name(name: str, others: Collection[str]) -> None:
    """Raise FunctionError for a name that is taken."""
    if name.startswith(RESERVED) or any(name == tool.name for tool in CATALOGUE):
        raise FunctionError(f"Names that begin with {RESERVED} are those of Extended Assist's own tools")
    if name in others:
        raise FunctionError(f"There is a function named '{name}' already")


@callback
def _report(hass: HomeAssistant, entry_id: str, subentry: ConfigSubentry, reason: str) -> None:
    """Raise the issue of a function that is left out."""
    async_raise(hass, NOT_SERVED, entry_id, subentry, {"function": subentry.title, "reason": reason})


async def async_call_function(
    hass: HomeAssistant, tool: UserFunctionTool, arguments: dict[str, Any], llm_context: llm.LLMContext
) -> llm.ToolResult:
    """Call a function for somebody who is in no chat; what was said in one that started this does not count."""
    context = copy_context()
    context.run(current_chat_log.set, None)
    call = tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
    return await asyncio.create_task(call, context=context)


def for_trusted(options: ToolboxOptions, *, known: bool) -> ToolboxOptions:
    """Return options for a call that asks nobody: of a person, an automation or the editor, not of a model.

    known says that there is a user, to whom the policy's tiers apply.
    """
    who_may = options.policy.who_may if known else dict.fromkeys(Tier, Speaker.ANYONE)
    policy = replace(options.policy, ask_first=frozenset(), allow_without_chat=True, who_may=who_may)
    return replace(options, policy=policy, budget=MAX_BUDGET)


@performs(CALL_FUNCTION)
async def _async_perform(hass: HomeAssistant, item: ScheduledAction, options: ToolboxOptions) -> str:
    """Call a function whose time has come; the user was asked, where that was due, when it was scheduled."""
    name = item.data["function"]
    function = next((one for one in served_functions(hass, item.entry_id) if one.definition.name == name), None)
    if function is None:
        raise ToolError(f"there is no function {name} any more.")
    tool = function.tool(for_trusted(options, known=True))
    result = await async_call_function(hass, tool, item.data["arguments"], item.llm_context())
    if result.error:
        raise ToolError(str(result.data.get("error")))
    return f"done: {str(result.data.get('result'))[:_MAX_OUTCOME]}"
