"""Extended Assist: a Claude agent, and tools for any agent that are limited to exposed entities."""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigEntry, UpdateListenerType
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from homeassistant.helpers import config_validation as cv

# Not the module: Python puts our own platform of that name in its place.
from homeassistant.helpers.llm import async_register_api
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.typing import ConfigType
from homeassistant.util.hass_dict import HassKey

from .api.assist_tools import async_offer_in_assist
from .api.instance import ExtendedAssistAPI, api_id
from .automations.store import async_forget, async_recover
from .calls.activity import async_get_activity
from .calls.chat_images import async_get_gallery, async_register_view
from .calls.journal import async_get_journal
from .calls.options import WISHES
from .cameras.image_cache import ImageCache
from .claude.client import async_create_client
from .claude.coordinator import ExtendedAssistConfigEntry, RuntimeData, ServerCoordinator, has_connection
from .claude.usage import async_get_meters
from .claude.vision_model import async_find_vision_model
from .const import CONF_ASK_FIRST, CONF_BASE_URL, CONF_FALLBACK_AGENT, CONF_FAMILIES, DOMAIN, LOGGER, SUBENTRY_FUNCTION
from .entity import async_household_platforms
from .exposure.name_index import async_get_names
from .functions.manager import async_load_functions, async_perform_function, unload_functions
from .functions.tool import CALL_FUNCTION
from .habits.dismissed import async_get_declined
from .memory.store import async_get_memory
from .panel.registering import async_show
from .recorder.unavailable_hours import async_get_kept
from .repair_issues.agents import async_resolve_orphaned, async_watch_others
from .repair_issues.entries import ASKS_NOW, async_raise_entry_issue
from .scheduled.manager import async_get_scheduled_tasks
from .services import async_register_actions
from .websocket import async_register_commands

PERFORMERS = {CALL_FUNCTION: async_perform_function}
"""Functions that run scheduled actions which are not actions of Home Assistant."""

_ASKS_FROM = 2
"""The minor version from which new entries ask before consequential actions."""
_LATER_FROM = 3
"""The minor version from which scheduled tasks have tools of their own."""
_OTHER_NAMES = {"scheduled_actions": "pending"}
"""Renamed tools of the first release, old to new."""

PLATFORMS = (Platform.AI_TASK, Platform.CONVERSATION, Platform.SENSOR)
"""The platforms of an entry with a server."""

ALWAYS = (Platform.EVENT,)
"""The platforms of every entry."""

_SET_UP: HassKey[dict[str, tuple[Platform, ...]]] = HassKey(f"{DOMAIN}_platforms")
"""The platforms of each loaded entry; its options may have changed by the time it is unloaded."""


CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register actions, commands and views, and start to watch activity and unavailable sensors."""
    async_register_actions(hass)
    async_register_commands(hass)
    async_register_view(hass)
    async_get_activity(hass)
    await async_get_kept(hass)
    return True


async def async_migrate_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Announce new behaviour to entries of earlier versions, and add the tools for scheduled tasks."""
    if entry.minor_version < _ASKS_FROM:
        async_raise_entry_issue(hass, ASKS_NOW, entry.entry_id)
    if entry.minor_version < _LATER_FROM:
        options = _with_later(entry.options)
        hass.config_entries.async_update_entry(entry, options=options, minor_version=_LATER_FROM)
    return True


def _with_later(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the family of scheduled tasks, which an earlier version had inside that of actions."""
    changed = {**options}
    families = options.get(CONF_FAMILIES, ())
    if "actions" in families and WISHES not in families:
        changed[CONF_FAMILIES] = [*families, WISHES]
    if CONF_ASK_FIRST in options:
        changed[CONF_ASK_FIRST] = list(dict.fromkeys(_OTHER_NAMES.get(name, name) for name in options[CONF_ASK_FIRST]))
    return changed


async def async_setup_entry(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> bool:
    """Set up the connection, the LLM API and the agents of an entry."""
    async_resolve_orphaned(hass)
    await async_get_names(hass).async_fill()
    if has_connection(entry):
        entry.runtime_data = await _async_connect(hass, entry)
    await async_load_functions(hass, entry)
    entry.async_on_unload(lambda: unload_functions(hass, entry))
    entry.async_on_unload(async_register_api(hass, ExtendedAssistAPI(hass, entry)))
    entry.async_on_unload(await async_offer_in_assist(hass, entry))
    entry.async_on_unload(
        (await async_get_scheduled_tasks(hass)).async_start(entry, PERFORMERS, async_find_vision_model)
    )
    entry.async_on_unload(async_at_started(hass, async_recover))
    if has_connection(entry):
        _adopt_own_api(hass, entry)
        await _async_forget_meters(hass)
    await _async_set_up_platforms(hass, entry)
    await async_show(hass)
    entry.async_on_unload(async_watch_others(hass))
    # Where looking was turned off, nothing that was seen is left.
    entry.async_on_unload(ImageCache.of(hass).clear)
    entry.async_on_unload(async_get_gallery(hass).clear)
    entry.async_on_unload(entry.add_update_listener(_reload_when_changed(entry)))
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> bool:
    """Unload an entry."""
    platforms = hass.data.get(_SET_UP, {})
    if unloaded := await hass.config_entries.async_unload_platforms(entry, platforms.get(entry.entry_id, ())):
        platforms.pop(entry.entry_id, None)
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> None:
    """Delete the scheduled tasks of a removed entry; with the last entry, delete all stored data."""
    async_resolve_orphaned(hass)
    await (await async_get_scheduled_tasks(hass)).async_forget(entry.entry_id)
    if hass.config_entries.async_entries(DOMAIN):
        await _async_forget_meters(hass)
    else:
        await (await async_get_journal(hass)).async_clear()
        await (await async_get_memory(hass)).async_clear()
        await (await async_get_declined(hass)).async_clear()
        await async_forget(hass)
        await (await async_get_meters(hass)).async_clear()
        await (await async_get_kept(hass)).async_clear()


async def _async_set_up_platforms(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> None:
    """Set up the platforms of an entry, and remove the entities of families that are turned off."""
    platforms = (*(PLATFORMS if has_connection(entry) else ()), *ALWAYS, *async_household_platforms(hass, entry))
    platforms = tuple(dict.fromkeys(platforms))
    hass.data.setdefault(_SET_UP, {})[entry.entry_id] = platforms
    await hass.config_entries.async_forward_entry_setups(entry, platforms)


async def _async_forget_meters(hass: HomeAssistant) -> None:
    """Delete the usage of removed agents."""
    entries = hass.config_entries.async_entries(DOMAIN)
    (await async_get_meters(hass)).async_keep(subentry_id for entry in entries for subentry_id in entry.subentries)


async def _async_connect(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> RuntimeData:
    """Return the connection once the server has answered, or at once if an agent has a fallback."""
    client = await async_create_client(hass, entry.data[CONF_API_KEY], entry.data[CONF_BASE_URL])
    coordinator = ServerCoordinator(hass, entry, client)
    try:
        await coordinator.async_config_entry_first_refresh()
    except (ConfigEntryAuthFailed, ConfigEntryNotReady) as err:
        if not any(subentry.data.get(CONF_FALLBACK_AGENT) for subentry in entry.subentries.values()):
            raise
        LOGGER.error("Error fetching %s data: %s", coordinator.name, err)
        if isinstance(err, ConfigEntryAuthFailed):
            entry.async_start_reauth(hass)
    return RuntimeData(client, coordinator)


@callback
def _adopt_own_api(hass: HomeAssistant, entry: ExtendedAssistConfigEntry) -> None:
    """Replace the placeholder for the entry's own API in new agents: its id is known only after the entry exists."""
    for subentry in list(entry.subentries.values()):
        apis = subentry.data.get(CONF_LLM_HASS_API, [])
        if DOMAIN in apis:
            adopted = [api_id(entry.entry_id) if api == DOMAIN else api for api in apis]
            hass.config_entries.async_update_subentry(
                entry, subentry, data={**subentry.data, CONF_LLM_HASS_API: adopted}
            )


def _reload_when_changed(entry: ConfigEntry) -> UpdateListenerType:
    """Return a listener for changed settings: it reloads the entry, or only the functions if nothing else changed."""
    known = _settings_of(entry)

    async def update(hass: HomeAssistant, entry: ConfigEntry) -> None:
        if _settings_of(entry) == known:
            await async_load_functions(hass, entry)
        else:
            await hass.config_entries.async_reload(entry.entry_id)

    return update


def _settings_of(entry: ConfigEntry) -> Any:
    """Return all settings of an entry except its functions."""
    # Taken apart: Home Assistant changes subentries in place.
    others = [
        (subentry.subentry_id, subentry.title, subentry.data)
        for subentry in entry.subentries.values()
        if subentry.subentry_type != SUBENTRY_FUNCTION
    ]
    return (entry.title, entry.data, entry.options, others)
