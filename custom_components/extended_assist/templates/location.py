"""The home as a template sees it: only exposed entities exist."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from threading import get_ident
from typing import Any

from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.util import dt as dt_util
from homeassistant.util.async_ import run_callback_threadsafe

from ..exposure.entities import Exposure
from ..exposure.fixed_values import is_fixed_attribute, is_fixed_name, is_fixed_state, is_plain

PLAIN_TYPES = (str, int, float, type(None))

HOME_ZONE = "zone.home"


class Home:
    """The home for one rendering; an area, floor, label or device exists only if it has an exposed entity."""

    def __init__(self, hass: HomeAssistant, exposure: Exposure) -> None:
        """Store the exposure."""
        self.hass = hass
        self.exposure = exposure
        self.moment = dt_util.utcnow()
        """The time of the rendering."""
        self.has_free_text = False
        """True once the rendering has read free text."""
        self.decided: dict[str, State | None] = {}
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._areas: dict[str, list[str]] = {}
        self._devices: dict[str, bool] = {}
        self._labels: dict[str, bool] = {}

    def ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Answer a question about the registries from any thread.

        Templates run in a thread of their own, and the registries belong to the event loop, where they may change between
        two steps of a thread. So each question is one callback on the event loop, the same code as in a callback.
        Arguments are plain values: anything else could run parts of the template there. The same question has the same
        answer during a rendering, and is asked once: what is hidden takes no longer the more often it is asked for.
        """
        given = (*args, *kwargs.values())
        if not all(isinstance(arg, PLAIN_TYPES) for arg in given):
            raise TypeError(f"{function.__name__} expects text, got {', '.join(type(arg).__name__ for arg in given)}")
        key = (function, *kwargs, *((type(arg), arg) for arg in given))
        if key not in self._answers:
            question = partial(function, self, *args, **kwargs)
            on_loop = get_ident() == self.hass.loop_thread_id
            self._answers[key] = question() if on_loop else run_callback_threadsafe(self.hass.loop, question).result()
        return self._answers[key]

    def read_state(self, state: State) -> str:
        """Return a state, and note whether it is free text."""
        self.has_free_text = self.has_free_text or not is_fixed_state(self.hass, state)
        return state.state

    def read_name(self, state: State) -> None:
        """Note whether the name of an entity is free text."""
        self.has_free_text = self.has_free_text or not is_fixed_name(self.hass, state)

    def read_text[T](self, value: T, *, is_fixed: bool) -> T:
        """Return a value of a registry, and note whether it is free text."""
        self.has_free_text = self.has_free_text or not (is_fixed or is_plain(value))
        return value

    def read_attribute(self, state: State, name: str) -> Any:
        """Return an attribute that may be seen, and note whether it is free text."""
        value = self.exposure.visible_attribute(state, name)
        # The template itself says the name of the attribute.
        if name in state.attributes and not (is_plain(value) or is_fixed_attribute(self.hass, state, name, value)):
            self.has_free_text = True
        return value

    @callback
    def state(self, entity_id: str) -> State | None:
        """Return the state of an exposed entity; each entity is checked once."""
        entity_id = entity_id.lower()
        if entity_id not in self.decided:
            exists = self.hass.states.get(entity_id) is not None
            # What does not exist takes as long as what is hidden.
            found = self.exposure.state(entity_id if exists else HOME_ZONE)
            self.decided[entity_id] = found if exists else None
        return self.decided[entity_id]

    @callback
    def entry(self, entity_id: Any) -> er.RegistryEntry | None:
        """Return the registry entry of an exposed entity."""
        state = self.state(entity_id) if isinstance(entity_id, str) else None
        return er.async_get(self.hass).async_get(state.entity_id) if state else None

    @callback
    def exposed(self, entity_ids: Iterable[str]) -> list[str]:
        """Return the exposed entities of a list, and note whether an id comes from free text."""
        found = [state for state in map(self.state, entity_ids) if state]
        for state in found:
            self.read_name(state)
        return [state.entity_id for state in found]

    @callback
    def area_of(self, entry: er.RegistryEntry) -> str | None:
        """Return the area of an entity or of its device."""
        if entry.area_id or not entry.device_id:
            return entry.area_id
        device = dr.async_get(self.hass).async_get(entry.device_id)
        return dr.async_get_effective_area_id(self.hass, device) if device else None

    @callback
    def area_entities(self, area_id: str) -> list[str]:
        """Return the exposed entities of an area, those with their own area first."""
        if area_id not in self._areas:
            registry = er.async_get(self.hass)
            own = [entry.entity_id for entry in er.async_entries_for_area(registry, area_id)]
            inherited = [
                entry.entity_id
                for device in dr.async_entries_for_area(dr.async_get(self.hass), area_id)
                for entry in er.async_entries_for_device(registry, device.id)
                if entry.area_id is None
            ]
            self._areas[area_id] = self.exposed(own + inherited)
        return self._areas[area_id]

    @callback
    def area(self, area_id: Any) -> ar.AreaEntry | None:
        """Return an area by id, if it has an exposed entity."""
        area = ar.async_get(self.hass).async_get_area(area_id) if isinstance(area_id, str) else None
        return area if area and self.area_entities(area.id) else None

    @callback
    def device(self, device_id: Any) -> dr.AnyDeviceEntry | None:
        """Return a device by id, if it has an exposed entity."""
        registry = dr.async_get(self.hass)
        device = registry.async_get(device_id) if isinstance(device_id, str) else None
        if device and device.id not in self._devices:
            entries = er.async_entries_for_device(er.async_get(self.hass), device.id)
            self._devices[device.id] = any(self.state(entry.entity_id) for entry in entries)
        return device if device and self._devices[device.id] else None

    @callback
    def label(self, label_id: Any) -> lr.LabelEntry | None:
        """Return a label by id, if an exposed entity, or its device or area, has it."""
        label = lr.async_get(self.hass).async_get_label(label_id) if isinstance(label_id, str) else None
        if label and label.label_id not in self._labels:
            self._labels[label.label_id] = bool(
                any(
                    self.state(entry.entity_id)
                    for entry in er.async_entries_for_label(er.async_get(self.hass), label.label_id)
                )
                or any(
                    self.device(device.id)
                    for device in dr.async_entries_for_label(dr.async_get(self.hass), label.label_id)
                )
                or any(
                    self.area(area.id) for area in ar.async_entries_for_label(ar.async_get(self.hass), label.label_id)
                )
            )
        return label if label and self._labels[label.label_id] else None


@dataclass(frozen=True, slots=True)
class TemplateFunction:
    """A template function, and whether it is a function, filter or test."""

    run: Callable[..., Any]
    """The function; it gets the home and the arguments of the template."""
    named: str = ""
    """The name in templates, if it differs from the function's."""
    is_global: bool = True
    is_filter: bool = True
    is_test: bool = False
    on_loop: bool = True
    """True if it reads the registries and has to run on the event loop."""

    @property
    def name(self) -> str:
        """Return the name in templates."""
        return self.named or self.run.__name__
