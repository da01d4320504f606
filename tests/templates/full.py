"""A home for templates that Home Assistant's full environment renders: what is hidden and what is secret bears a mark."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from custom_components.extended_assist.actions.text_check import RunNames
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.templates import Reach, check_reach, read_form
from custom_components.extended_assist.templates.forms import Form
from homeassistant.core import Context, HomeAssistant, State
from homeassistant.helpers import area_registry as ar, entity_registry as er, label_registry as lr
from homeassistant.helpers.template import Template, TemplateEnvironment
from homeassistant.setup import async_setup_component
from tests.conftest import ASSISTANT, expose

EXPOSED = (
    "light.lamp",
    "sensor.power",
    "lock.door",
    "weather.home",
    "calendar.family",
    "input_datetime.alarm",
    "group.lights",
)
HIDDEN = ("sensor.zebra", "light.zebra", "camera.zebra", "person.zebra")
WRITTEN = {
    "triggers": [{"trigger": "state", "entity_id": ["light.lamp"]}],
    "variables": {"x": "a"},
    "actions": [
        {"action": "calendar.get_events", "response_variable": "agenda"},
        {"action": "media_player.browse_media", "response_variable": "answer"},
    ],
}
"""An automation that defines the names of the templates."""


async def build(hass: HomeAssistant) -> None:
    """Make what is exposed and what is hidden, in the same room and with the same label."""
    for domain in ("homeassistant", "sensor", "light"):
        assert await async_setup_component(hass, domain, {})
    area, label = ar.async_get(hass).async_create("Kitchen"), lr.async_get(hass).async_create("Night")
    registry = er.async_get(hass)
    for entity_id in ("light.lamp", "light.zebra", "sensor.zebra"):
        domain, name = entity_id.split(".")
        registry.async_get_or_create(domain, "demo", name, suggested_object_id=name)
        registry.async_update_entity(entity_id, area_id=area.id, labels={label.label_id})
    TemplateEnvironment(hass).loader.sources = {
        "leak.jinja": "{% macro tell() %}{{ states('sensor.zebra') }}{% endmacro %}{{ tell() }}"
    }
    fill(hass, "canary")
    expose(hass, *EXPOSED)


def fill(hass: HomeAssistant, mark: str) -> None:
    """Set all states at one moment; without a mark, there is nothing hidden, and no credential."""

    def put(entity_id: str, state: str, attributes: dict[str, Any]) -> None:
        hass.states.async_set(
            entity_id, state, attributes, force_update=True, context=_context(mark), timestamp=1_790_000_000
        )

    credentials = {
        "access_token": mark,
        "entity_picture": f"/api/camera?token={mark}",
        "config": {"api_key": mark},
        "stream": f"http://user:{mark}@host/",
    }
    lamp = {
        "friendly_name": "Lamp",
        "brightness": 180,
        "rgb_color": (255, 10, 0),
        "summary": "words",
        "icon": "mdi:lamp",
    }
    put("light.lamp", "on", lamp | (credentials if mark else {}))
    put("sensor.power", "1234.5678", {"unit_of_measurement": "W", "device_class": "power"})
    put("lock.door", "locked", {"code": mark} if mark else {})
    put("weather.home", "sunny", {"temperature": 12, "forecast": [{"temperature": 1, "condition": "rainy"}]})
    put("calendar.family", "off", {"message": "Dinner", "all_day": False})
    put("input_datetime.alarm", "2026-11-20 07:30:00", {"has_date": True, "has_time": True, "timestamp": 1})
    put("group.lights", "on", {"entity_id": ["light.lamp", *(["light.zebra", "sensor.zebra"] if mark else [])]})
    for entity_id in HIDDEN:
        if mark:
            put(entity_id, mark, {"access_token": mark, "friendly_name": mark})
        else:
            hass.states.async_remove(entity_id)


def _context(mark: str) -> Context:
    """Return who did it."""
    return Context(user_id=f"user {mark}", id="01")


def variables(hass: HomeAssistant, mark: str) -> dict[str, Any]:
    """Return what Home Assistant hands to a template while an automation runs, and in a numeric state."""
    state = hass.states.get("light.lamp")
    before = State("light.lamp", "off", {"access_token": mark}, state.last_changed, context=_context(mark))
    trigger = {
        "id": "0",
        "idx": "0",
        "alias": None,
        "platform": "state",
        "entity_id": "light.lamp",
        "from_state": before,
    }
    trigger |= {"to_state": state, "for": None, "attribute": None, "description": "state of light.lamp"}
    thumbnail = {"title": "a", "thumbnail": f"/api?token={mark}"}
    return {
        "x": "a",
        "state": state,
        "trigger": trigger,
        "context": _context(mark),
        "this": {
            "entity_id": "automation.a",
            "state": "on",
            "attributes": {"mode": "single"},
            "context": {"user_id": mark},
        },
        "wait": {"completed": True, "remaining": 1.5, "trigger": trigger},
        "repeat": {"first": True, "index": 1, "last": False, "item": {"name": "a"}},
        "agenda": {"calendar.family": {"events": [{"summary": "Dinner", "start": "2026-11-22"}]}},
        "answer": {"title": "a", "children": [thumbnail]},
    }


def rendered(hass: HomeAssistant, template: str, mark: str) -> str:
    """Return what Home Assistant makes of a template."""
    return str(Template(template, hass).async_render(variables(hass, mark), parse_result=False))


@cache
def _names() -> Mapping[str, Form]:
    """Return what the names stand for that the automation defines."""
    names = RunNames()
    names.add(WRITTEN)
    return names.forms(of_state=True)


def reach_of(hass: HomeAssistant, template: str) -> Reach | str:
    """Return the reach of a template that may be written, or why it is refused."""
    try:
        reach = read_form(template, _names())
        check_reach(hass, Exposure(hass, ASSISTANT), reach)
    except ToolError as err:
        return str(err)
    return reach
