"""What sets wishes off when something happens: attached as the triggers of automations are, and again where that fails."""

from collections.abc import Callable, Iterable
from contextvars import Context as ContextVariables
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import voluptuous as vol

from homeassistant.const import EVENT_COMPONENT_LOADED
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, trigger as trigger_helper

from ..const import DOMAIN
from ..silence import QUIET, UnloggedText, log_unexpected
from .wish import Wish

RETRY = 60.0
"""Seconds after which triggers that could not be attached are tried again; a component that is loaded comes before."""


@dataclass(slots=True, eq=False)
class _Watch:
    """The triggers of one wish."""

    triggers: list[dict[str, Any]]
    detach: list[CALLBACK_TYPE] = field(default_factory=list)
    is_whole: bool = False
    """Whether all of them are attached."""
    tried: float = 0.0
    """When that was tried last, by the event loop's clock."""


class Triggers:
    """The triggers of all wishes."""

    def __init__(self, hass: HomeAssistant, fired: Callable[[str], None]) -> None:
        """Take what is called with the id of a wish when one of its triggers fires."""
        self._hass = hass
        self._fired = fired
        self._watches: dict[str, _Watch] = {}
        hass.bus.async_listen(EVENT_COMPONENT_LOADED, self._on_component)

    @callback
    def async_set(self, wishes: Iterable[Wish]) -> None:
        """Attach the triggers of these wishes, and of no others."""
        wanted = {wish.id: wish.when.triggers for wish in wishes}
        for wish_id in [key for key, watch in self._watches.items() if wanted.get(key) != watch.triggers]:
            self._leave(self._watches.pop(wish_id))
        for wish_id, triggers in wanted.items():
            if wish_id not in self._watches:
                self._watches[wish_id] = _Watch(deepcopy(triggers))
                self._try(wish_id)

    @callback
    def async_retry(self) -> None:
        """Try again what could not be attached a minute ago."""
        now = self._hass.loop.time()
        for wish_id, watch in self._watches.items():
            if not watch.is_whole and now - watch.tried >= RETRY:
                self._try(wish_id)

    @callback
    def _on_component(self, _: Event[Any]) -> None:
        """Try again when a component is loaded that may bring what was missing."""
        for wish_id, watch in self._watches.items():
            if not watch.is_whole:
                self._try(wish_id)

    @callback
    def _try(self, wish_id: str) -> None:
        """Attach the triggers of a wish, outside of any conversation."""
        watch = self._watches[wish_id]
        watch.tried = self._hass.loop.time()
        ContextVariables().run(
            self._hass.async_create_task, self._async_attach(wish_id, watch), f"{DOMAIN} attaches triggers"
        )

    async def _async_attach(self, wish_id: str, watch: _Watch) -> None:
        """Attach triggers; where that fails for one of them, those that could be attached count until it does not."""
        is_whole = True

        @callback
        def fire(_variables: dict[str, Any], _context: Context | None = None) -> None:
            if self._watches.get(wish_id) is watch:
                self._fired(wish_id)

        @callback
        def note(_level: int, message: str, **_: Any) -> None:
            nonlocal is_whole
            is_whole = False
            QUIET.debug("Triggers of a wish: %s", message)

        detach = None
        try:
            config = await trigger_helper.async_validate_trigger_config(
                self._hass, cv.TRIGGER_SCHEMA(deepcopy(watch.triggers))
            )
            detach = await trigger_helper.async_initialize_triggers(
                self._hass, config, fire, DOMAIN, UnloggedText("a wish"), note
            )
        except vol.Invalid, HomeAssistantError:
            is_whole = False
        except Exception:  # noqa: BLE001 - nobody waits for it
            log_unexpected("while triggers of a wish were attached")
            is_whole = False
        self._leave(watch)
        if detach is not None:
            watch.detach.append(detach)
        watch.is_whole = is_whole
        if self._watches.get(wish_id) is not watch:
            self._leave(watch)

    @staticmethod
    def _leave(watch: _Watch) -> None:
        """Detach what is attached."""
        while watch.detach:
            watch.detach.pop()()
