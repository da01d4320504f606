"""Targets of actions in a home of 5,000 entities, expanded by the tool and by Home Assistant itself."""

from collections.abc import Callable
from contextlib import suppress
import gc
from statistics import median
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import SOURCE_USER, ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids

from .hass import running_home_assistant
from .table import Row

if TYPE_CHECKING:
    from custom_components.extended_assist.actions.targets import Fits

_ENTITIES = 5_000
_AREAS = 50
_FLOORS = 4
_PER_DEVICE = 5
_HIDDEN = "9"
"""The last digit of entities that are not exposed."""
_TURNS = 40
_WARM_UP = 5
_LIMIT = 10.0
"""Milliseconds on the event loop that go unnoticed."""


async def run() -> list[Row]:
    """Measure target by target, ours and theirs in alternation."""
    async with running_home_assistant("homeassistant:\nconversation:\nsensor:\nlight:\n") as hass:
        # After Home Assistant has put its folder of custom components in place.
        from custom_components.extended_assist.actions.targets import Fits  # noqa: PLC0415
        from custom_components.extended_assist.exposure.name_index import async_get_names  # noqa: PLC0415

        targets = _fill(hass)
        light = Fits("light.turn_on", frozenset({"light"}), ({"domain": ["light"]},))
        await async_get_names(hass).async_fill()
        rows = [row for case, target in targets.items() for row in _measure(hass, case, target, light)]
        return rows + _names(hass)


def _fill(hass: HomeAssistant) -> dict[str, dict[str, Any]]:
    """Add the entities, half lights and half sensors, on devices in areas on floors; return the targets to expand."""
    floors = [fr.async_get(hass).async_create(f"Floor {index}") for index in range(_FLOORS)]
    areas = [
        ar.async_get(hass).async_create(f"Area {index}", floor_id=floors[index % _FLOORS].floor_id)
        for index in range(_AREAS)
    ]
    label = lr.async_get(hass).async_create("Cosy")
    entry = ConfigEntry(
        data={},
        discovery_keys=MappingProxyType({}),
        domain="bench",
        minor_version=1,
        options={},
        source=SOURCE_USER,
        subentries_data=None,
        title="",
        unique_id=None,
        version=1,
    )
    hass.config_entries._entries[entry.entry_id] = entry  # noqa: SLF001 - devices need one, and it is never set up
    registry = er.async_get(hass)
    for index in range(_ENTITIES):
        domain = "light" if index % 2 else "sensor"
        number = index // _PER_DEVICE
        device = dr.async_get(hass).async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("bench", str(number))}, name=f"Device {number}"
        )
        if index % _PER_DEVICE == 0:
            dr.async_get(hass).async_update_device(device.id, area_id=areas[number % _AREAS].id)
        registry.async_get_or_create(
            domain, "bench", str(index), suggested_object_id=f"number_{index}", device_id=device.id
        )
        entity_id = f"{domain}.number_{index}"
        if index % 3 == 0:
            registry.async_update_entity(entity_id, labels={label.label_id})
        hass.states.async_set(entity_id, "on", {"friendly_name": f"Number {index}"})
    for entity_id in hass.states.async_entity_ids():
        async_expose_entity(hass, "conversation", entity_id, not entity_id.endswith(_HIDDEN))
    return {
        "an entity by id": {"entity_id": ["light.number_11"]},
        "an entity by name": {"entity_id": ["Number 11"]},
        "a device": {"device_id": [device.id]},
        "a device by name": {"device_id": ["Device 11"]},
        "an area": {"area_id": [areas[3].id]},
        "a floor": {"floor_id": [floors[1].floor_id]},
        "a label": {"label_id": [label.label_id]},
        "all": {"entity_id": ["all"]},
    }


def _names(hass: HomeAssistant) -> list[Row]:
    """Time how long the event loop is held by a name, an id and a wrong name, in turn."""
    from custom_components.extended_assist.exposure.entities import Exposure, NotExposedError  # noqa: PLC0415

    times: dict[str, list[float]] = {"light.number_11": [], "Number 11": [], "Numbr 11": []}
    for _ in range(_WARM_UP + _TURNS):
        for text, taken in times.items():
            start = perf_counter()
            with suppress(NotExposedError):
                Exposure(hass, "conversation").resolve(text)
            taken.append((perf_counter() - start) * 1000)
    by_id, by_name, wrong = (median(taken[_WARM_UP:]) for taken in times.values())
    where = f"of {_ENTITIES} entities"
    return [
        Row.of("targets", f"one by name, {where}, against one by id (ms)", by_name, by_id, goal=2.0),
        Row.of("targets", f"a wrong name, {where}, on the event loop, against the limit (ms)", wrong, _LIMIT, goal=1.0),
    ]


def _measure(hass: HomeAssistant, case: str, target: dict[str, Any], fits: Fits) -> list[Row]:
    """Time one target: the tool's expansion, and Home Assistant's, which sees no exposure and no names."""
    from custom_components.extended_assist.actions.targets import Expander  # noqa: PLC0415
    from custom_components.extended_assist.exposure.entities import Exposure  # noqa: PLC0415

    def ours() -> set[str]:
        return set(Expander(hass, Exposure(hass, "conversation"), fits).expand(target).entity_ids)

    def theirs() -> set[str]:
        if target == {"entity_id": ["all"]}:  # Home Assistant's entity machinery goes through all states.
            return set(hass.states.async_entity_ids("light"))
        found = async_extract_referenced_entity_ids(hass, TargetSelection(target))
        return {entity_id for entity_id in found.referenced | found.indirectly_referenced if entity_id[:6] == "light."}

    kinds: dict[str, Callable[[], set[str]]] = {"ours": ours, "theirs": theirs}
    times: dict[str, list[float]] = {name: [] for name in kinds}
    found: dict[str, set[str]] = {}
    for index in range(_WARM_UP + _TURNS):
        gc.collect(0)
        for name in sorted(kinds, reverse=bool(index % 2)):
            start = perf_counter()
            found[name] = kinds[name]()
            if index >= _WARM_UP:
                times[name].append((perf_counter() - start) * 1000)
    ours_ms, theirs_ms = (median(times[name]) for name in ("ours", "theirs"))
    where = f"{case}, {len(found['ours'])} of {_ENTITIES} entities"
    rows = [Row.of("targets", f"{where}, against the limit (ms)", ours_ms, _LIMIT, goal=1.0)]
    if found["theirs"]:  # It knows no names.
        hidden = {entity_id for entity_id in found["theirs"] if entity_id.endswith(_HIDDEN)}
        assert found["ours"] == found["theirs"] - hidden, case
        rows.append(Row.of("targets", f"{where}, against Home Assistant (ms)", ours_ms, theirs_ms, goal=None))
    assert found["ours"], case
    return rows
