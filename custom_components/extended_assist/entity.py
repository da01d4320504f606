"""The base classes of the entities: those of agents, with a model, and those of the household; and their devices."""

from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import CONF_MODEL, Platform
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .calls.activity import ActivityKind, async_happened
from .calls.options import MEMORY, WISHES, ToolboxOptions
from .claude.caching import default_cache
from .claude.coordinator import ExtendedAssistConfigEntry, ServerCoordinator
from .claude.models import Abilities, async_check_model, find_model
from .claude.options import AgentOptions
from .claude.retry import Retry, Timeouts, TurnError, async_sentence
from .claude.turn import AgentTurn
from .claude.usage import TokenMeter, async_check_token_limit, is_used_up
from .const import CONF_BASE_URL, CONF_FAMILIES, DOMAIN
from .ha_compat.exposed_entities import KNOWN_ASSISTANTS
from .repair_issues.agents import async_check_left_out, async_resolve_unless_ignored
from .scheduled.manager import ScheduledTasks
from .scheduled.scheduled_task import ScheduledTask
from .tools import DEFAULT_FAMILIES


def agent_device(subentry: ConfigSubentry) -> dr.DeviceInfo:
    """Return the device of an agent, which all of its entities share."""
    return dr.DeviceInfo(
        identifiers={(DOMAIN, subentry.subentry_id)},
        name=subentry.title,
        manufacturer="Extended Assist",
        model=subentry.data[CONF_MODEL],
        entry_type=dr.DeviceEntryType.SERVICE,
    )


def entry_device(entry: ConfigEntry) -> dr.DeviceInfo:
    """Return the device of entities that belong to an entry and not to an agent."""
    return dr.DeviceInfo(
        identifiers={(DOMAIN, entry.entry_id)},
        name=entry.title,
        manufacturer="Extended Assist",
        entry_type=dr.DeviceEntryType.SERVICE,
    )


class ClaudeEntity(CoordinatorEntity[ServerCoordinator]):
    """An entity with a model."""

    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, entry: ExtendedAssistConfigEntry, subentry: ConfigSubentry, meter: TokenMeter) -> None:
        """Store the subentry and the token meter."""
        super().__init__(entry.runtime_data.coordinator)
        self._entry = entry
        self._runtime = entry.runtime_data
        self._subentry = subentry
        self._settings: Mapping[str, Any] = subentry.data
        self._attr_unique_id = subentry.subentry_id
        self._meter = meter
        self._toolbox = ToolboxOptions.of(entry.options, entry.entry_id)
        self._attr_device_info = agent_device(subentry)
        self._was_used_up = is_used_up(subentry, meter)

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the server and the model."""
        await super().async_added_to_hass()
        self.async_on_remove(self._meter.async_listen(self._async_check_token_limit))
        self._async_check_token_limit()
        async_check_model(self.hass, self._entry, self._subentry)

    @override
    async def async_will_remove_from_hass(self) -> None:
        """Delete the repair issues."""
        async_resolve_unless_ignored(self.hass, self._subentry.subentry_id)
        await super().async_will_remove_from_hass()

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        """Update the availability and the repair issue of the model."""
        super()._handle_coordinator_update()
        async_check_model(self.hass, self._entry, self._subentry)

    @callback
    def _async_check_token_limit(self) -> None:
        """Create or delete the repair issues about the monthly tokens."""
        async_check_token_limit(self.hass, self._entry.entry_id, self._subentry, self._meter)
        if (is_up := is_used_up(self._subentry, self._meter)) and not self._was_used_up:
            async_happened(
                self.hass, ActivityKind.LIMIT_REACHED, self._entry.entry_id, self._subentry.subentry_id, Context()
            )
        self._was_used_up = is_up

    @callback
    def _tell_failed(self, error: TurnError, outer: Context | None) -> None:
        """Fire an activity event for a turn without an answer, with the key of the reason."""
        context = Context(user_id=outer.user_id, parent_id=outer.id) if outer else Context()
        subentry_id = self._subentry.subentry_id
        async_happened(self.hass, ActivityKind.FAILED, self._entry.entry_id, subentry_id, context, reason=error.key)

    @callback
    def _tell_left_out(self, tools: Mapping[str, str]) -> None:
        """Create or delete the repair issue about tools that the server would refuse."""
        async_check_left_out(self.hass, self._entry.entry_id, self._subentry, tools)

    def _turn(self, chat_log: conversation.ChatLog, language: str, patience: Timeouts | None = None) -> AgentTurn:
        """Return a new turn; raises TurnError if this month's tokens are used up."""
        if is_used_up(self._subentry, self._meter):
            raise TurnError("tokens_used_up")
        config = self.hass.config
        patience = patience or Timeouts()
        location = {"country": config.country, "timezone": config.time_zone}
        return AgentTurn(
            client=self._runtime.client,
            chat_log=chat_log,
            agent_id=self.entity_id,
            options=self._runtime.refused.left(
                AgentOptions.of(
                    self._settings,
                    Abilities.of(find_model(self._runtime.models, self._settings[CONF_MODEL])),
                    {key: value for key, value in location.items() if value},
                    default_cache(self._entry.data[CONF_BASE_URL]),
                )
            ),
            cut_notice=partial(async_sentence, self.hass, language, TurnError("answer_cut_off")),
            meter=self._meter,
            language=language,
            toolbox=self._toolbox,
            note=self.coordinator.async_note,
            # Where nobody answered a moment ago, one try tells whether that has changed.
            retry=Retry(patience if self.coordinator.gone is None else replace(patience, retry_time=0.0)),
            patience=patience,
            snapshot=self._runtime.snapshots.of(chat_log, self.entity_id),
            tell_left_out=self._tell_left_out,
            refused=self._runtime.refused,
        )


HOUSEHOLD_PLATFORMS: Final[Mapping[str, tuple[Platform, ...]]] = {
    WISHES: (Platform.CALENDAR, Platform.EVENT, Platform.TODO),
    MEMORY: (Platform.TODO,),
}
"""The platforms that display the data of families of tools."""


@dataclass(slots=True, eq=False)
class _RunningAction:
    """An action that an entity performs; its context is removed at its end, also for tasks that it started."""

    entity: Entity
    context: Context | None = None


_ACTION: Final[ContextVar[_RunningAction | None]] = ContextVar(f"{DOMAIN}_running_action", default=None)


@callback
def shows(entry: ConfigEntry, family: str) -> bool:
    """Return whether an entry has a family of tools, so that its data are displayed."""
    return family in entry.options.get(CONF_FAMILIES, DEFAULT_FAMILIES)


@callback
def async_household_platforms(hass: HomeAssistant, entry: ConfigEntry) -> Iterable[Platform]:
    """Return the platforms for an entry's families, and remove the entities of families that are turned off."""
    entities = er.async_get(hass)
    for family, platforms in HOUSEHOLD_PLATFORMS.items():
        for platform in platforms if not shows(entry, family) else ():
            if entity_id := entities.async_get_entity_id(platform, DOMAIN, _unique_id(entry, family)):
                entities.async_remove(entity_id)
    return dict.fromkeys(
        one for family, platforms in HOUSEHOLD_PLATFORMS.items() if shows(entry, family) for one in platforms
    )


def hidden_at_first() -> er.EntityOptionsType:
    """Return the options of a new entity that is exposed to no assistant by default."""
    return {assistant: {"should_expose": False} for assistant in KNOWN_ASSISTANTS}


def _unique_id(entry: ConfigEntry, family: str) -> str:
    """Return the unique id of an entry's entity on a platform."""
    return f"{entry.entry_id}_{family}"


class HouseholdEntity(Entity):
    """An entity that displays the data that a family of tools stores for the household, without private data."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, entry: ConfigEntry, family: str) -> None:
        """Store the entry and the family of tools."""
        self._attr_unique_id = _unique_id(entry, family)
        self._attr_device_info = entry_device(entry)

    @override
    def get_initial_entity_options(self) -> er.EntityOptionsType:
        """Expose it to no assistant by default, although Home Assistant exposes new to-do lists."""
        return hidden_at_first()


class ActionContextEntity(Entity):
    """An entity that knows the context of the action that it performs.

    Home Assistant's intents call methods of to-do lists without an action; `Entity` then still has the context of an earlier
    action.
    """

    @override
    async def async_request_call[T](self, coro: Coroutine[Any, Any, T]) -> T:
        """Perform an action; its context counts for this action alone."""
        action = _RunningAction(self)
        token = _ACTION.set(action)
        try:
            return await super().async_request_call(coro)
        finally:
            action.context = None
            _ACTION.reset(token)

    @callback
    @override
    def async_set_context(self, context: Context) -> None:
        """Store the context of the action that runs now."""
        super().async_set_context(context)
        if (action := _ACTION.get()) is not None and action.entity is self:
            action.context = context

    @property
    def action_context(self) -> Context | None:
        """Return the context of the action that runs now; None where no action called this entity."""
        action = _ACTION.get()
        return action.context if action is not None and action.entity is self else None


class ScheduledTaskEntity(HouseholdEntity):
    """An entity that displays the household's tasks of one entry, without private tasks."""

    _attr_translation_key = "later"

    def __init__(self, entry: ConfigEntry, tasks: ScheduledTasks) -> None:
        """Store the entry and the task manager."""
        super().__init__(entry, WISHES)
        self._entry_id = entry.entry_id
        self._tasks = tasks

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the tasks."""
        await super().async_added_to_hass()
        self.async_on_remove(self._async_follow())

    @callback
    def _async_follow(self) -> CALLBACK_TYPE:
        """Follow the tasks; return the function that stops it."""
        return self._tasks.async_listen(self.async_write_ha_state)

    def _is_shown(self, task: ScheduledTask) -> bool:
        """Return whether a task is the household's and this entry's."""
        return task.is_household and task.owner.entry_id == self._entry_id

    def _household(self) -> Iterator[ScheduledTask]:
        """Yield the household's tasks of this entry, pending and ended ones."""
        return filter(self._is_shown, chain(self._tasks.standing, self._tasks.ended))
