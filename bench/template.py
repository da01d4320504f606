"""Templates over a home of 2,000 exposed entities, rendered by the tool and by Home Assistant itself."""

from collections.abc import Awaitable, Callable
import gc
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.template import Template

from .hass import running_home_assistant
from .table import Row

if TYPE_CHECKING:
    from custom_components.extended_assist.exposure.entities import Exposure

_ENTITIES = 2_000
_AREAS = 20
_TURNS = 60
_WARM_UP = 5
_GOAL = 1.5
_TIME_LIMIT = 3.0
_TEMPLATES = {
    "one state": "{{ states('light.number_11') }}",
    "lights on, counted": "{{ states.light | selectattr('state', 'eq', 'on') | list | count }}",
    "a loop over all states": "{% for s in states %}{% if s.state == 'on' %}{{ s.entity_id }} {% endif %}{% endfor %}",
    "an attribute of all states": "{{ states.sensor | selectattr('attributes.device_class', 'defined') | list | count }}",
    "an area": "{{ area_entities('Area 3') | select('is_state', 'on') | list | count }}",
    "all areas": "{% for a in areas() %}{{ area_name(a) }}: {{ area_entities(a) | select('is_state', 'on') | list | count }} {% endfor %}",
}


async def run() -> list[Row]:
    """Measure template by template, ours and theirs in alternation."""
    async with running_home_assistant("homeassistant:\nconversation:\nsensor:\nlight:\n") as hass:
        # After Home Assistant has put its folder of custom components in place.
        from custom_components.extended_assist.exposure.entities import Exposure  # noqa: PLC0415

        _fill(hass)
        return [
            row
            for case, template in _TEMPLATES.items()
            for row in await _measure(hass, lambda: Exposure(hass, "conversation"), case, template)
        ]


def _fill(hass: HomeAssistant) -> None:
    """Add the entities, half lights and half sensors, each in an area, all of them exposed."""
    areas = [ar.async_get(hass).async_create(f"Area {index}") for index in range(_AREAS)]
    registry = er.async_get(hass)
    for index in range(_ENTITIES):
        domain = "light" if index % 2 else "sensor"
        entity_id = f"{domain}.number_{index}"
        registry.async_get_or_create(domain, "bench", str(index), suggested_object_id=f"number_{index}")
        registry.async_update_entity(entity_id, area_id=areas[index % _AREAS].id)
        attributes = {"friendly_name": f"Number {index}"} | (
            {"brightness": 120, "supported_color_modes": ["brightness"], "color_mode": "brightness"}
            if domain == "light"
            else {"unit_of_measurement": "W", "device_class": "power", "state_class": "measurement"}
        )
        hass.states.async_set(entity_id, "on" if index % 4 == 1 else "17.25", attributes)
    # Those that Home Assistant brought as well, so that both see the same.
    for entity_id in hass.states.async_entity_ids():
        async_expose_entity(hass, "conversation", entity_id, True)


async def _measure(hass: HomeAssistant, exposure: Callable[[], Exposure], case: str, template: str) -> list[Row]:
    """Time one template: the tool's rendering, Home Assistant's tool's, and a rendering alone."""
    from custom_components.extended_assist.templates import async_render  # noqa: PLC0415

    async def ours() -> str:
        return await async_render(hass, exposure(), template)

    async def theirs() -> str:
        # As Home Assistant's own tool for agents does: in a thread under a time limit first, then again.
        found = Template(template, hass)
        assert not await found.async_render_will_timeout(_TIME_LIMIT)
        return str(found.async_render(parse_result=False))

    async def alone() -> str:
        return str(Template(template, hass).async_render(parse_result=False))

    kinds: dict[str, Callable[[], Awaitable[str]]] = {"ours": ours, "theirs": theirs, "alone": alone}
    found: dict[str, list[float]] = {name: [] for name in kinds}
    results = set()
    for index in range(_WARM_UP + _TURNS):
        gc.collect(0)
        for name in sorted(kinds, reverse=bool(index % 2)):
            start = perf_counter()
            results.add(await kinds[name]())
            if index >= _WARM_UP:
                found[name].append((perf_counter() - start) * 1000)
    assert len(results) == 1, results
    medians = {name: median(times) for name, times in found.items()}
    where = f"{case}, {_ENTITIES} entities"
    return [
        Row.of("template", f"{where}, against its tool (ms)", medians["ours"], medians["theirs"], goal=_GOAL),
        Row.of(
            "template",
            f"{where}, against a render in the event loop (ms)",
            medians["ours"],
            medians["alone"],
            goal=None,
        ),
    ]
