"""The journal and the agents' usage for the panel, and undo of a journal entry."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.auth.models import User
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_MODEL, Platform
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, device_registry as dr, entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.json import JsonObjectType

from ..calls.activity import ActivityKind
from ..calls.background_calls import check_nothing_goes_on
from ..calls.call import ToolCall
from ..calls.journal import ASPECTS, AUTOMATION, FACT, PRIVATE, SCENE, SCRIPT, STATES, Change, async_get_journal
from ..calls.options import ToolboxOptions
from ..calls.plan import Plan
from ..calls.policy import Tier
from ..claude.usage import REQUESTS, TOKENS, async_get_meters
from ..confirmation.untrusted_text import marked
from ..const import CONF_MONTHLY_TOKENS, DOMAIN
from ..exposure.entities import Exposure
from ..llm_tools.extended_tool import ExtendedTool
from ..memory.references import is_fact_visible
from ..memory.store import async_get_memory
from ..results import ToolError, format_time
from ..scheduled.description import is_task_visible, seen
from ..scheduled.manager import async_get_scheduled_tasks
from ..scheduled.ownership import may_see
from ..undo.undoers import UNDOERS, async_plan_undo, async_undo, undo_lock
from .manual_calls import async_call_by_hand, for_reader

MAX_ENTITIES: Final = 20
"""The most entities of one change."""
_WRITTEN: Final[Mapping[str, str]] = {AUTOMATION: AUTOMATION, SCRIPT: SCRIPT, SCENE: "homeassistant"}
"""The domains whose entities have a config in a file."""
_COLOR_MODE: Final = "color_mode"
"""An attribute that repeats the colour."""
_GONE: Final = "That change is not there any more, or is undone already."
_RULELESS: Final = "The assistant that did this was removed from Home Assistant, and its rules with it. Ask an administrator to undo it."


@callback
def is_for(change: Change, user: User) -> bool:
    """Return whether a user may see a change: their own, or any as an administrator."""
    return user.is_admin or change.user_id == user.id


async def async_rows(hass: HomeAssistant, user: User, language: str) -> list[dict[str, Any]]:
    """Return the journal rows of a user, newest first."""
    changes = [change for change in reversed((await async_get_journal(hass)).changes) if is_for(change, user)]
    actions = {change.what.partition(".")[0] for change in changes if "." in change.what}
    texts = await async_get_translations(hass, language, "services", actions & hass.config.components)
    users = {one.id: one.name for one in await hass.auth.async_get_users()}
    exposures: dict[str, Exposure] = {}
    rows = []
    for change in changes:
        exposure = exposures.setdefault(str(change.assistant), Exposure(hass, str(change.assistant), reader=user))
        entities, more = _entities(exposure, change)
        rows.append(
            {
                "id": change.id,
                "time": change.time,
                "kind": STATES if change.kind == ASPECTS else change.kind,
                "action": _action(exposure, change, texts),
                "title": await _async_title(hass, exposure, change, user),
                "user": users.get(change.user_id) if change.user_id else None,
                "user_gone": change.user_id is not None and change.user_id not in users,
                "device": _device(hass, change.device_id),
                "entities": entities,
                "more": more,
                "undone": change.undone,
                "can_undo": not change.undone and change.kind in UNDOERS,
            }
        )
    return rows


def _action(exposure: Exposure, change: Change, texts: Mapping[str, str]) -> str:
    """Return the name of an action in the user's language if Home Assistant has it; empty for a tool."""
    what = exposure.visible_value(change.what) or ""
    return texts.get(f"component.{what.replace('.', '.services.')}.name", "" if "__" in what else what)


async def _async_title(hass: HomeAssistant, exposure: Exposure, change: Change, user: User) -> str:
    """Return the subject of a change as far as the user may see it; empty if its entities say it."""
    wanted = str(change.details.get("id") or change.details.get("added") or "")
    if platform := _WRITTEN.get(change.kind):
        entity_id = er.async_get(hass).async_get_entity_id(change.kind, platform, wanted)
        return entity.name if entity_id and (entity := exposure.entity(entity_id)) else ""
    if change.kind == FACT:
        fact = (await async_get_memory(hass)).find(wanted)
        is_theirs = fact is not None and fact.user_id in (None, user.id)
        return fact.words if fact and is_theirs and is_fact_visible(hass, exposure, fact) else ""
    task = (await async_get_scheduled_tasks(hass)).find(wanted)
    return seen(exposure, task.name) if task and is_task_visible(exposure, task) and may_see(task, user) else ""


def _entities(exposure: Exposure, change: Change) -> tuple[list[dict[str, Any]], int]:
    """Return the changed entities, and the number of further and of hidden ones."""
    kept: Mapping[str, Any] = change.details.get(STATES, {})
    found = [(entity, kept[entity_id]) for entity_id in kept if (entity := exposure.entity(entity_id))]
    rows = [
        {"entity_id": entity.entity_id, "name": entity.name, "changes": list(_changes(exposure, one))}
        for entity, one in found[:MAX_ENTITIES]
    ]
    return rows, len(kept) - len(rows) + change.details.get("more", 0)


def _changes(exposure: Exposure, kept: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the changed values of an entity, old and new."""
    for aspect in kept.get("aspects", {}).values():
        before, after = aspect.get("before") or {}, aspect.get("after") or {}
        for name, value in after.items():
            if value != before.get(name) and name != _COLOR_MODE:
                told = [exposure.visible_value(each) for each in (before.get(name), value)]
                yield {"name": name, "before": told[0], "after": told[1]}


def _device(hass: HomeAssistant, device_id: str | None) -> str | None:
    """Return the name of the device that the user spoke to."""
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    return (device.name_by_user or device.name) if device else None


async def async_undo_by_hand(
    hass: HomeAssistant, entries: list[ConfigEntry], change_id: str, context: Context, language: str
) -> dict[str, Any]:
    """Ask a user whether to undo a change, with the assistant and the rules of the entry that made it."""
    change = (await async_get_journal(hass)).find(change_id)
    options = await _async_options_for(hass, entries, change)
    return await async_call_by_hand(
        hass,
        UndoChangeTool(options),
        {"id": change_id},
        context,
        language,
        assistant=change.assistant if change else None,
    )


async def _async_options_for(hass: HomeAssistant, entries: list[ConfigEntry], change: Change | None) -> ToolboxOptions:
    """Return the options for a change: of its task's entry, of an entry with memory for a fact, or of the entry that made it."""
    options = [ToolboxOptions.of(entry.options, entry.entry_id) for entry in entries]
    if change is None:
        return options[0]
    entry = hass.config_entries.async_get_entry(change.entry_id) if change.entry_id else None
    if entry is not None:
        # Also where it is not loaded: its rules are still there.
        options.insert(0, ToolboxOptions.of(entry.options, entry.entry_id))
    if change.kind == FACT:
        return next((one for one in options if one.has_memory), options[0])
    if task := (await async_get_scheduled_tasks(hass)).find(str(change.details.get("id"))):
        return next((one for one in options if one.entry_id == task.owner.entry_id), options[0])
    return ToolboxOptions() if _is_ruleless(hass, change) else options[0]


@callback
def _is_ruleless(hass: HomeAssistant, change: Change) -> bool:
    """Return whether the rules of a change no longer exist; facts always have the household's."""
    return (
        change.entry_id is not None
        and change.kind != FACT
        and hass.config_entries.async_get_entry(change.entry_id) is None
    )


class UndoChangeTool(ExtendedTool):
    """Undo one change of the journal manually, after a question."""

    name = "extended_assist__undo_change"
    title = "Undo change"
    description = "Undo one change of the journal."
    annotations = llm.ToolAnnotations(read_only=False, destructive=True, idempotent=False, open_world=False)
    family = "actions"
    tier = Tier.CONTROL
    can_be_undone = False
    happens = ActivityKind.UNDONE
    asks_others = False
    parameters = vol.Schema({vol.Required("id", description="The change."): cv.string})

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Always ask."""
        return True

    @override
    def current_options(self, hass: HomeAssistant) -> ToolboxOptions:
        """Return the current options, also of an entry that is not loaded or whose family is off: undo still works then."""
        return self._options.as_of_now(hass)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Undo the change."""
        async with undo_lock(call.hass):
            call, change = await _async_change(call)
            answer = await async_undo(call, await async_get_journal(call.hass), change)
        return marked(answer, when=" failed: " in json_dumps(answer))

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of the undo."""
        call, change = await _async_change(call)
        call.recording.is_told = change.kind not in PRIVATE
        what = call.exposure.visible_value(change.what) or "running a script"
        return await async_plan_undo(call, change, f"Undo {what} of {format_time(change.time)}")


async def _async_change(call: ToolCall) -> tuple[ToolCall, Change]:
    """Return the call limited to its user's read rights, and the change; raises ToolError if they may not see it."""
    check_nothing_goes_on(call.hass, call.caller)
    change = (await async_get_journal(call.hass)).find(call.arguments["id"])
    user = await call.caller.async_user(call.hass)
    if change is None or change.undone or user is None or not user.is_active or not is_for(change, user):
        raise ToolError(_GONE)
    if _is_ruleless(call.hass, change) and not user.is_admin:
        raise ToolError(_RULELESS)
    return for_reader(call, user), change


async def async_usage(hass: HomeAssistant, entries: list[ConfigEntry]) -> list[dict[str, Any]]:
    """Return the agents of entries with their usage sensors."""
    meters, entities = await async_get_meters(hass), er.async_get(hass)
    return [
        {
            "id": subentry.subentry_id,
            "name": subentry.title,
            "model": subentry.data[CONF_MODEL],
            "month_tokens": meters.of(subentry.subentry_id).month_tokens,
            "monthly_limit": subentry.data.get(CONF_MONTHLY_TOKENS),
            "sensors": {
                kind: entity_id
                for kind in (*TOKENS, REQUESTS)
                if (
                    entity_id := entities.async_get_entity_id(Platform.SENSOR, DOMAIN, f"{subentry.subentry_id}_{kind}")
                )
            },
        }
        for entry in entries
        for subentry in entry.subentries.values()
        if CONF_MODEL in subentry.data
    ]
