"""Find tasks whose trigger entities are gone or no longer exposed, and notify their owners."""

from collections.abc import Callable
from contextvars import Context as ContextVariables
from typing import Any, Final

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_call_later

from ..actions.sequences import SequenceWalker
from ..exposure.safe_log import log_unexpected
from ..ha_compat.exposed_entities import async_listen_entity_updates
from ..results import ToolError
from .execution import async_tell_in_vain
from .lifecycle import waits_for_triggers
from .scheduled_task import ScheduledTask
from .store import ScheduledTaskStore
from .tool_call import async_call

SETTLE: Final = 2.0
"""Seconds from a change to the check: people often hide or remove several entities at once."""


class BrokenTriggers:
    """The check for tasks whose triggers refer to missing or hidden entities; each owner is notified once."""

    def __init__(
        self, hass: HomeAssistant, store: ScheduledTaskStore, is_fulfilled: Callable[[ScheduledTask], bool]
    ) -> None:
        """Store the task store and the function that says whether a task's entry is started."""
        self._hass = hass
        self._store = store
        self._is_fulfilled = is_fulfilled
        self._timer: CALLBACK_TYPE | None = None
        self._at = 0.0
        """The time of the pending check, by the event loop's clock; valid only while there is a timer."""
        self._listening: set[str] = set()
        hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._on_other, _is_other)

    @callback
    def async_follow(self, task: ScheduledTask) -> None:
        """Listen for exposure changes of the task's assistant."""
        if (assistant := task.owner.assistant) not in self._listening:
            self._listening.add(assistant)
            async_listen_entity_updates(self._hass, assistant, self.async_look_later)

    @callback
    def _on_other(self, _: Any) -> None:
        """Schedule a check after an entity was added, removed, enabled or disabled."""
        self.async_look_later()

    @callback
    def async_look_later(self, after: float = SETTLE) -> None:
        """Schedule one check in `after` seconds; a later time that was already scheduled stays."""
        now = self._hass.loop.time()
        self._at = max(now + after, self._at if self._timer is not None else 0.0)
        self.async_stop()
        if any(map(self._is_meant, self._store.standing)):
            self._timer = ContextVariables().run(async_call_later, self._hass, self._at - now, self._async_look)

    @callback
    def async_stop(self) -> None:
        """Cancel the pending check."""
        if self._timer is not None:
            self._timer()
            self._timer = None

    def _is_meant(self, task: ScheduledTask) -> bool:
        return waits_for_triggers(task) and self._is_fulfilled(task)

    async def async_is_broken(self, task: ScheduledTask) -> bool:
        """Check and store whether a trigger entity is gone or hidden; the old value stays if the task may not run."""
        try:
            call = await async_call(self._hass, task)
        except ToolError:
            return task.progress.in_vain
        try:
            await SequenceWalker(call, keep=True).async_triggers(task.when.triggers)
        except ToolError:
            task.progress.in_vain = True
        else:
            task.progress.in_vain = False
        return task.progress.in_vain

    async def _async_look(self, _: Any = None) -> None:
        """Check all waiting tasks; save each change before the owner is notified."""
        self._timer = None
        for task in filter(self._is_meant, self._store.standing):
            try:
                before = task.progress.in_vain
                if await self.async_is_broken(task) is before:
                    continue
                await self._store.async_save()
                if task.progress.in_vain and task.is_standing:
                    await async_tell_in_vain(self._hass, task)
                    await self._store.async_save()
            except Exception:  # noqa: BLE001 - nobody waits for it
                log_unexpected("while the triggers of scheduled tasks were checked")


@callback
def _is_other(data: er.EventEntityRegistryUpdatedData) -> bool:
    """Return whether an entity was added, removed, enabled or disabled."""
    return data["action"] != "update" or "disabled_by" in data["changes"]
