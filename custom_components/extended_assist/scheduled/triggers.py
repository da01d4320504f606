"""The triggers of tasks, attached like those of automations and retried if that fails."""

from collections.abc import Callable, Iterable
from contextvars import Context as ContextVariables
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import voluptuous as vol

from homeassistant.const import EVENT_COMPONENT_LOADED
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, trigger as trigger_helper

from ..const import DOMAIN
from ..exposure.safe_log import QUIET, UnloggedText, log_unexpected
from .scheduled_task import ScheduledTask

RETRY = 60.0
"""Seconds until a retry of triggers that could not be attached; loading a component retries them at once."""


type _Key = tuple[str, int]
"""The id of a task, and the index of a trigger in its triggers."""


@dataclass(slots=True, eq=False)
class _Watch:
    """One trigger of a task."""

    trigger: dict[str, Any]
    detach: CALLBACK_TYPE | None = None
    """The callback that detaches the trigger; None while it is not attached."""
    tried: float = 0.0
    """The time of the last attempt to attach it, by the event loop's clock."""

    def leave(self) -> None:
        """Detach the trigger."""
        if self.detach is not None:
            self.detach()
            self.detach = None


class Triggers:
    """The triggers of all tasks."""

    def __init__(self, hass: HomeAssistant, fired: Callable[[str], None]) -> None:
        """Store the callback that gets the id of a task when one of its triggers fires."""
        self._hass = hass
        self._fired = fired
        self._watches: dict[_Key, _Watch] = {}
        hass.bus.async_listen(EVENT_COMPONENT_LOADED, self._on_component)

    @callback
    def async_set(self, tasks: Iterable[ScheduledTask]) -> None:
        """Attach the triggers of these tasks and detach all others."""
        wanted = {(task.id, index): trigger for task in tasks for index, trigger in enumerate(task.when.triggers)}
        for key in [key for key, watch in self._watches.items() if wanted.get(key) != watch.trigger]:
            self._watches.pop(key).leave()
        for key, trigger in wanted.items():
            if key not in self._watches:
                self._watches[key] = _Watch(deepcopy(trigger))
                self._try(key)

    @property
    def is_missing(self) -> bool:
        """Return whether a trigger is not attached."""
        return any(watch.detach is None for watch in self._watches.values())

    @callback
    def async_retry(self) -> None:
        """Retry triggers whose last failed attempt was at least RETRY seconds ago."""
        now = self._hass.loop.time()
        for key, watch in self._watches.items():
            if watch.detach is None and now - watch.tried >= RETRY:
                self._try(key)

    @callback
    def _on_component(self, _: Event[Any]) -> None:
        """Retry all detached triggers when a component is loaded, which may be the missing one."""
        for key, watch in self._watches.items():
            if watch.detach is None:
                self._try(key)

    @callback
    def _try(self, key: _Key) -> None:
        """Attach a trigger in an empty context, outside of any conversation."""
        watch = self._watches[key]
        watch.tried = self._hass.loop.time()
        ContextVariables().run(
            self._hass.async_create_task, self._async_attach(key, watch), f"{DOMAIN} attaches a trigger"
        )

    async def _async_attach(self, key: _Key, watch: _Watch) -> None:
        """Attach one trigger separately, so that a failed one does not stop the `for` time of the others."""

        @callback
        def fire(_variables: dict[str, Any], _context: Context | None = None) -> None:
            if self._watches.get(key) is watch:
                self._fired(key[0])

        @callback
        def note(_level: int, message: str, **_: Any) -> None:
            QUIET.debug("A trigger of a scheduled task: %s", message)

        detach = None
        try:
            config = await trigger_helper.async_validate_trigger_config(
                self._hass, cv.TRIGGER_SCHEMA([deepcopy(watch.trigger)])
            )
            detach = await trigger_helper.async_initialize_triggers(
                self._hass, config, fire, DOMAIN, UnloggedText("a scheduled task"), note
            )
        except vol.Invalid, HomeAssistantError:
            pass
        except Exception:  # noqa: BLE001 - nobody waits for it
            log_unexpected("while a trigger of a scheduled task was attached")
        watch.leave()
        watch.detach = detach
        if self._watches.get(key) is not watch:
            watch.leave()
