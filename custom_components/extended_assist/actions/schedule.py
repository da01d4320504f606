"""Actions that are performed later: stored, at most once, and checked again when they are due."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import Context as ContextVariables
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import async_track_point_in_utc_time
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import CONF_FAMILIES, DOMAIN
from ..exposure import Exposure
from ..results import ToolError
from ..silence import log_unexpected
from ..storage import async_load
from ..toolbox.acts import Recording, recording
from ..toolbox.call import ToolCall
from ..toolbox.journal import SCHEDULED, Change, async_get_journal
from ..toolbox.options import ToolboxOptions
from ..toolbox.policy import Tier, async_check_speaker
from .check import async_check_action
from .perform import async_perform
from .scheduled import Outcome, ScheduledAction, read_stored

MAX_WAITING = 50
MAX_DELAY = timedelta(days=31)
MAX_LATE = timedelta(minutes=5)
"""How late an action may be, after a restart: a light that goes on hours too late is worse than one that does not."""
MAX_OUTCOMES = 20

_VERSION = 1


type Performer = Callable[[HomeAssistant, ScheduledAction, ToolboxOptions], Awaitable[str]]
"""Does what was scheduled under a name of its own, and says what happened; raises ToolError."""
type Performers = Mapping[str, Performer]


class Schedule:
    """The scheduled actions of all entries."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take where they are stored; load before use."""
        self._hass = hass
        self._store: Store[dict[str, list[dict[str, Any]]]] = Store(hass, _VERSION, f"{DOMAIN}.schedule", private=True)
        self._waiting: dict[str, ScheduledAction] = {}
        self._timers: dict[str, CALLBACK_TYPE] = {}
        self._performers: dict[str, Performers] = {}
        """What performs the actions of each started entry that are none of Home Assistant's."""
        self.outcomes: list[Outcome] = []

    async def async_load(self) -> None:
        """Read what was stored."""
        waiting, self.outcomes = await async_load(self._hass, self._store, read_stored)
        self._waiting = {item.id: item for item in waiting}

    @property
    def waiting(self) -> list[ScheduledAction]:
        """Return what is still to be done, next first."""
        return sorted(self._waiting.values(), key=lambda item: item.due)

    @callback
    def async_start(self, entry: ConfigEntry, performers: Performers) -> CALLBACK_TYPE:
        """Begin to perform what was scheduled under an entry; return what ends that."""

        @callback
        def arm(_: HomeAssistant) -> None:
            self._performers[entry.entry_id] = performers
            for item in self._waiting.values():
                if item.entry_id == entry.entry_id:
                    self._arm(item)

        cancel_start = async_at_started(self._hass, arm)

        @callback
        def stop() -> None:
            cancel_start()
            self._performers.pop(entry.entry_id, None)
            for item in self._waiting.values():
                if item.entry_id == entry.entry_id:
                    self._disarm(item.id)

        return stop

    async def async_add(self, item: ScheduledAction) -> None:
        """Store an action, then wait for its time."""
        if len(self._waiting) >= MAX_WAITING:
            raise ToolError(f"{MAX_WAITING} actions are waiting already. Cancel some of them first.")
        self._waiting[item.id] = item
        await self._async_save()
        self._arm(item)

    async def async_cancel(self, item_id: str) -> ScheduledAction | None:
        """Take an action out and return it, or None when it is not waiting."""
        if (item := self._waiting.pop(item_id, None)) is not None:
            self._disarm(item_id)
            await self._async_save()
        return item

    async def async_forget(self, entry_id: str) -> None:
        """Drop what was scheduled under an entry that is removed."""
        for item in [item for item in self._waiting.values() if item.entry_id == entry_id]:
            self._disarm(item.id)
            del self._waiting[item.id]
        self.outcomes = [outcome for outcome in self.outcomes if outcome.scheduled.entry_id != entry_id]
        if self._waiting or self.outcomes:
            await self._async_save()
        else:
            await self._store.async_remove()

    @callback
    def _arm(self, item: ScheduledAction) -> None:
        """Wait for the time of an action, if it is not cancelled and its entry not unloaded by now."""
        self._disarm(item.id)
        if item.id not in self._waiting or item.entry_id not in self._performers:
            return
        # What is performed later is no part of the conversation in which it was asked for.
        self._timers[item.id] = ContextVariables().run(
            async_track_point_in_utc_time,
            self._hass,
            partial(self._async_due, item.id),
            dt_util.utc_from_timestamp(item.due),
        )

    @callback
    def _disarm(self, item_id: str) -> None:
        """Wait no more."""
        if (timer := self._timers.pop(item_id, None)) is not None:
            timer()

    async def _async_due(self, item_id: str, _: datetime) -> None:
        """Perform an action, once: it is out of the store before it begins."""
        self._timers.pop(item_id, None)
        # While Home Assistant stops, nothing is written until the end: it could be done now and again after the start.
        if self._hass.is_stopping or (item := self._waiting.pop(item_id, None)) is None:
            return
        outcome = Outcome(item, "begun; Home Assistant stopped before it was over")
        self.outcomes = [*self.outcomes, outcome][-MAX_OUTCOMES:]
        await self._async_save()
        try:
            outcome.result = await self._async_perform(item)
        except ToolError as err:
            outcome.result = f"not done: {err}"
        except Exception:  # noqa: BLE001 - nobody waits for it
            log_unexpected("in a scheduled action")
            outcome.result = "failed unexpectedly"
        await self._async_save()

    async def _async_perform(self, item: ScheduledAction) -> str:
        """Check everything again as of now, perform, and say what happened."""
        late = dt_util.utcnow().timestamp() - item.due
        if late > MAX_LATE.total_seconds():
            return f"missed: Home Assistant was not running, and {round(late / 60)} minutes late is too late"
        if (perform := self._performers.get(item.entry_id, {}).get(item.action)) is not None:
            return await perform(self._hass, item, await _async_options(self._hass, item))
        call = await _async_call(self._hass, item)
        exposed = [entity_id for entity_id in item.entity_ids if call.exposure.is_exposed(entity_id)]
        if item.entity_ids and not exposed:
            raise ToolError("none of its entities is exposed any more.")
        target = {"entity_id": exposed} if item.targeted else {}
        action = await async_check_action(call, item.action, target, item.data)
        journal = await async_get_journal(self._hass)
        with recording(self._hass, journal, call.exposure, call.caller, call.recording):
            answer = await async_perform(call, action)
        entities = answer.get("entities")
        reports = "; ".join(f"{key}: {value}" for key, value in entities.items()) if isinstance(entities, dict) else ""
        left_out = len(item.entity_ids) - len(exposed)
        return "done" + (f": {reports}" if reports else "") + (f"; {left_out} not exposed any more" if left_out else "")

    async def _async_save(self) -> None:
        """Store everything now."""
        await self._store.async_save(
            {
                "waiting": [asdict(item) for item in self._waiting.values()],
                "outcomes": [asdict(outcome) for outcome in self.outcomes],
            }
        )


async def _async_options(hass: HomeAssistant, item: ScheduledAction) -> ToolboxOptions:
    """Return the options under which something is due; raises ToolError when its speaker is gone."""
    entry = hass.config_entries.async_get_entry(item.entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        raise ToolError("the assistant's entry is not loaded.")
    user = await item.caller().async_user(hass)
    if item.user_id is not None and (user is None or not user.is_active):
        raise ToolError("the user who scheduled it is gone.")
    return ToolboxOptions.of(entry.options, entry.entry_id)


async def _async_call(hass: HomeAssistant, item: ScheduledAction) -> ToolCall:
    """Return the call of an action that is due; raises ToolError when its speaker may not do it any more."""
    options = await _async_options(hass, item)
    entry = hass.config_entries.async_get_known_entry(item.entry_id)
    if CONF_FAMILIES in entry.options and "actions" not in entry.options[CONF_FAMILIES]:
        raise ToolError("actions were turned off in the options.")
    caller = item.caller()
    await async_check_speaker(hass, options.policy, Tier.CONTROL, caller)
    return ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, item.assistant, options.external_statistics),
        caller=caller,
        options=options,
        recording=Recording(item.action),
    )


_SCHEDULE: HassKey[Schedule] = HassKey(f"{DOMAIN}_schedule")


@singleton(_SCHEDULE, async_=True)
async def async_get_schedule(hass: HomeAssistant) -> Schedule:
    """Return the schedule of this Home Assistant."""
    schedule = Schedule(hass)
    await schedule.async_load()
    return schedule


async def async_schedule(
    call: ToolCall,
    due: datetime,
    action: str,
    data: dict[str, Any],
    *,
    name: str,
    entity_ids: Iterable[str] = (),
    targeted: bool = False,
) -> ScheduledAction:
    """Store an action of a caller for later, so that it can be undone; name is how the caller knows it.

    Raises ToolError where nothing can be scheduled.
    """
    if (entry_id := call.options.entry_id) is None:
        raise ToolError("Nothing can be scheduled from here. Call without a delay.")
    caller = call.caller
    item = ScheduledAction(
        due=due.timestamp(),
        action=action,
        entity_ids=list(entity_ids),
        data=data,
        targeted=targeted,
        entry_id=entry_id,
        platform=caller.llm_context.platform,
        assistant=caller.assistant,
        language=caller.llm_context.language,
        device_id=caller.device_id,
        user_id=caller.user_id,
        conversation_id=caller.conversation_id,
    )
    await (await async_get_schedule(call.hass)).async_add(item)
    call.recording.changes.append(Change(SCHEDULED, f"scheduling {name}", {"id": item.id}))
    return item
