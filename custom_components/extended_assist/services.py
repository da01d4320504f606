"""The integration's actions: calling a user's function, and editing remembered facts."""

from typing import Any, Final

import voluptuous as vol

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util import dt as dt_util

from .calls.options import MEMORY, ToolboxOptions
from .calls.policy import NotAllowedError
from .const import CONF_FUNCTION, DOMAIN
from .entity import shows
from .functions.manager import (
    LoadedFunction,
    async_call_function,
    async_load_functions,
    loaded_functions,
    trusted_options,
)
from .memory.editing import (
    HOUSEHOLD,
    ME,
    async_change,
    async_read_file,
    async_record,
    find_own,
    refusal,
    rewrite,
    to_change,
    to_yaml,
    translated,
    write,
)
from .memory.fact import Fact, now
from .memory.ownership import FactAccess, Writer, async_known_user, async_writer_of
from .memory.store import async_get_memory
from .results import MARK, ToolError, format_time

CALL_FUNCTION: Final = "call_function"
_ARGUMENTS = "arguments"
_ENTRY = "config_entry_id"
_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_FUNCTION): cv.string,
        vol.Optional(_ARGUMENTS, default=dict): dict,
        vol.Optional(_ENTRY): cv.string,
    }
)


_UNTIL: Final = "until"
_REMEMBER = vol.Schema(
    {
        vol.Required("words"): cv.string,
        vol.Optional("whose"): vol.In([HOUSEHOLD, ME]),
        vol.Optional(_UNTIL): vol.Any(None, cv.datetime),
        vol.Optional("id"): cv.string,
    }
)
_FORGET = vol.Schema(
    {
        vol.Optional("ids", default=list): vol.All(cv.ensure_list, [cv.string]),
        vol.Optional("all_own", default=False): cv.boolean,
        vol.Optional("for_good", default=False): cv.boolean,
    }
)
_IMPORT = vol.Schema({vol.Required("facts"): cv.string})


@callback
def async_register_actions(hass: HomeAssistant) -> None:
    """Register the actions, also if no entry is loaded."""
    only, optional = SupportsResponse.ONLY, SupportsResponse.OPTIONAL
    register = hass.services.async_register
    register(DOMAIN, CALL_FUNCTION, _async_call_function, schema=_SCHEMA, supports_response=optional)
    register(DOMAIN, "get_facts", _async_get, schema=vol.Schema({}), supports_response=only)
    register(DOMAIN, "remember", _async_remember, schema=_REMEMBER, supports_response=optional)
    register(DOMAIN, "forget", _async_forget, schema=_FORGET, supports_response=optional)
    register(DOMAIN, "import_facts", _async_import, schema=_IMPORT, supports_response=optional)


async def _async_call_function(call: ServiceCall) -> ServiceResponse:
    """Call a user's function outside a conversation, with the permissions of the action's user."""
    hass, name = call.hass, call.data[CONF_FUNCTION]
    entries = [
        entry
        for entry in hass.config_entries.async_loaded_entries(DOMAIN)
        if call.data.get(_ENTRY) in (None, entry.entry_id)
    ]
    if not (found := _find(hass, entries, name)):
        # It may have been added a moment ago.
        for entry in entries:
            await async_load_functions(hass, entry)
        found = _find(hass, entries, name)
    if len(found) != 1:
        key = "function_twice" if found else "function_not_found"
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key=key, translation_placeholders={"function": name}
        )
    entry, function = found[0]
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    known = call.context.user_id is not None
    tool = function.tool(trusted_options(options, known=known))
    context = llm.LLMContext(
        platform=DOMAIN,
        context=call.context,
        language=hass.config.language,
        assistant="conversation",
        device_id=None,
    )
    result = await async_call_function(hass, tool, call.data[_ARGUMENTS], context)
    if result.error:
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="function_failed",
            translation_placeholders={"function": name, "reason": str(result.data.get("error"))},
        )
    return {key: value for key, value in result.data.items() if key != MARK}


def _find(hass: HomeAssistant, entries: list[ConfigEntry], name: str) -> list[tuple[ConfigEntry, LoadedFunction]]:
    """Return the functions with a name, with their entries."""
    return [
        (entry, function)
        for entry in entries
        for function in loaded_functions(hass, entry.entry_id)
        if function.definition.name == name
    ]


async def _async_get(call: ServiceCall) -> ServiceResponse:
    """Return the household's facts and the user's own, as a list and in the format of the import."""
    _options(call.hass)
    ears = FactAccess(household=True, user_id=await async_known_user(call.hass, call.context.user_id))
    facts = [fact for fact in (await async_get_memory(call.hass)).held if ears.hears(fact)]
    return {"facts": [_told(fact) for fact in facts], "yaml": await call.hass.async_add_executor_job(to_yaml, facts)}


async def _async_remember(call: ServiceCall) -> ServiceResponse:
    """Store a fact, or change one; fields that are not given keep their values."""
    memory, given = await async_get_memory(call.hass), call.data
    with translated():
        writer = await _async_writer(call)
        until = dt_util.as_local(given[_UNTIL]).timestamp() if given.get(_UNTIL) else None
        if until is not None and until <= now():
            raise ToolError("over")
        if wanted := given.get("id"):
            is_own = given["whose"] == ME if "whose" in given else None

            def change(before: Fact) -> Fact:
                then = until if _UNTIL in given else before.until
                return rewrite(call.hass, writer, before, given["words"], is_own=is_own, until=then)

            fact = await async_change(call.hass, memory, writer, wanted, change)
        else:
            fact = write(call.hass, writer, given["words"], is_own=given.get("whose") == ME, until=until)
            await memory.async_add([fact])
            await async_record(call.hass, writer, to_change(fact))
    return _told(fact)


async def _async_forget(call: ServiceCall) -> ServiceResponse:
    """Forget facts, or delete them for good; all of a user's own facts are always deleted for good."""
    memory, given = await async_get_memory(call.hass), call.data
    with translated():
        writer = await _async_writer(call)
        ids = {find_own(memory, writer, one).id for one in given["ids"]}
        if given["all_own"] and writer.user_id is None:
            raise NotAllowedError("Nobody is known whose own this could be.")
        if given["for_good"] or given["all_own"]:
            own = writer.user_id if given["all_own"] else None

            def goes(fact: Fact) -> bool:
                return (fact.id in ids and writer.may_change(fact)) or _is_of(fact, own)

            return {"forgotten": await memory.async_delete(goes, own)}
        await memory.async_end(ids, may_end=writer.may_change)
        await async_record(call.hass, writer, to_change(None, ids))
    return {"forgotten": len(ids)}


async def _async_import(call: ServiceCall) -> ServiceResponse:
    """Store the facts of a file that are not stored yet; if one is invalid, none is stored."""
    memory = await async_get_memory(call.hass)
    with translated():
        facts = await async_read_file(call.hass, call.data["facts"], await _async_writer(call), memory)
        await memory.async_add(facts)
    return {"imported": len(facts)}


async def _async_writer(call: ServiceCall) -> Writer:
    """Return the user who changes facts; raises NotAllowedError if they may not."""
    return await async_writer_of(call.hass, call.context, _options(call.hass))


def _options(hass: HomeAssistant) -> ToolboxOptions:
    """Return the options that apply: of the entries with memory, those that allow automations most."""
    entries = [entry for entry in hass.config_entries.async_loaded_entries(DOMAIN) if shows(entry, MEMORY)]
    if not entries:
        raise refusal("memory_off")
    options = [ToolboxOptions.of(entry.options, entry.entry_id) for entry in entries]
    return max(options, key=lambda one: one.memory_automations)


def _is_of(fact: Fact, user_id: str | None) -> bool:
    """Return whether a fact is a user's own."""
    return user_id is not None and fact.user_id == user_id


def _told(fact: Fact) -> dict[str, Any]:
    """Return a fact as the response shows it."""
    told = {
        "id": fact.id,
        "words": fact.words,
        "whose": HOUSEHOLD if fact.user_id is None else ME,
        "said": format_time(fact.said),
    }
    return told | ({_UNTIL: format_time(fact.until)} if fact.until is not None else {})
