"""What a template names is read from its syntax, and what cannot be read is called dynamic."""

import pytest

from custom_components.extended_assist.exposure import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.templates import async_validate, referenced
from homeassistant.core import HomeAssistant
from tests.conftest import ASSISTANT

from .home import Ids

# Each with the entities it names, and the lookups as function=argument.
STATIC = {
    "plain text, sensor.zebra": "",
    "{{ 1 + 1 }}": "",
    "{{ states('light.lamp') }}": "light.lamp",
    '{{ states("light.lamp") }}': "light.lamp",
    "{{ states('LIGHT.Lamp') }}": "light.lamp",
    "{{ states.light.lamp.state }}": "light.lamp",
    "{{ states.light.lamp }}": "light.lamp",
    "{{ states.light.secret.state }}": "light.secret",
    "{{ states['lock.pin'].state }}": "lock.pin",
    "{{ states('sensor.front_door_code') }}": "sensor.front_door_code",
    "{{ state_attr('light.lamp', 'code_format') }}": "light.lamp",
    "Enter the code {{ states('light.lamp') }}": "light.lamp",
    "{{ 'The password is not told.' ~ states('light.lamp') }}": "light.lamp",
    "{{ states.light.lamp.attributes[states('sensor.a')] }}": "light.lamp sensor.a",
    "{{ states['light.lamp'].attributes.brightness }}": "light.lamp",
    "{{ states['light']['lamp'].state }}": "light.lamp",
    "{{ states.light['lamp'].last_changed }}": "light.lamp",
    "{{ 'light.lamp' | states }}": "light.lamp",
    "{{ 'light.lamp' is is_state('on') }}": "light.lamp",
    "{{ is_state('light.lamp', 'on') and not is_state('lock.door', ['locked', 'locking']) }}": "light.lamp lock.door",
    "{{ state_attr('light.lamp', 'brightness') | int(0) > 100 }}": "light.lamp",
    "{{ is_state_attr('light.lamp', 'x', 1) or has_value('sensor.a') }}": "light.lamp sensor.a",
    "{{ ['light.a', 'light.b'] | map('states') | list }}": "light.a light.b",
    "{{ ('light.a', 'light.b') | select('is_state', 'on') | list | count }}": "light.a light.b",
    "{{ ['light.a'] | reject('has_value') | list }}": "light.a",
    "{% if is_state('light.a', 'on') %}{{ states('light.b') }}{% else %}{{ states('light.c') }}{% endif %}":
        "light.a light.b light.c",
    "{% for i in range(3) %}{{ states('light.a') }}{{ i }}{% endfor %}": "light.a",
    "{% macro m(x) %}{{ x }}{{ states('light.a') }}{% endmacro %}{{ m(1) }}": "light.a",
    "{% set x = states('light.a') %}{{ x | float(0) + 1 }}": "light.a",
    "{{ trigger.to_state.state }} {{ this.state }} {{ wait.completed }} {{ repeat.index }}": "",
    "{{ (now() - states.light.a.last_changed).total_seconds() > 60 }}": "light.a",
    "{{ 'text with light.lamp inside' }}": "",
    "{{ area_entities('Kitchen') | count }}": "area_entities=Kitchen",
    "{{ 'Kitchen' | area_entities | list }}": "area_entities=Kitchen",
    "{{ area_name('light.lamp') }}": "light.lamp",
    "{{ area_id('Kitchen') }}": "area_id=Kitchen",
    "{{ floor_entities('Ground floor') }} {{ label_entities('night') }} {{ labels('kitchen') }}":
        "floor_entities=Ground floor,label_entities=night,labels=kitchen",
    "{{ expand('group.lights', 'light.a') | list }}": "group.lights light.a,expand=group.lights,expand=light.a",
    "{{ device_attr('light.lamp', 'model') }} {{ device_entities('abc') }}": "light.lamp,device_entities=abc",
    "{{ ['Kitchen', 'Bedroom'] | map('area_entities') | list }}": "area_entities=Kitchen,area_entities=Bedroom",
    "{{ integration_entities('hue') }}": "integration_entities=hue",
    "{% raw %}{{ states.light }}{% endraw %}": "",
}  # fmt: skip

DYNAMIC = [
    "{{ states }}",
    "{{ states | list }}",
    "{{ states.light | list }}",
    "{{ states.light | selectattr('state', 'eq', 'on') | list }}",
    "{{ states['light'] | list }}",
    "{% for s in states %}{{ s.state }}{% endfor %}",
    "{{ states[x] }}",
    "{{ states[x].zebra.state }}",
    "{{ states['sen' ~ 'sor'].zebra }}",
    "{{ states.sensor['ze' ~ 'bra'] }}",
    "{{ states('sensor.' ~ 'zebra') }}",
    "{{ states('sensor.%s' % 'zebra') }}",
    "{{ states(x) }}",
    "{{ states(*x) }}",
    "{{ states(**x) }}",
    "{{ states(entity_id=x) }}",
    "{{ ('sensor.' ~ 'zebra') | states }}",
    "{{ 'arbez.rosnes' | reverse | states }}",
    "{{ x is is_state('on') }}",
    "{{ [x] | map('states') | list }}",
    "{{ x | map('states') | list }}",
    "{{ ['sensor.zebra'] | map(x) | list }}",
    "{{ ['sensor.zebra'] | map(*['states']) | list }}",
    "{{ x | select('is_state', 'on') | list }}",
    "{{ x | selectattr('entity_id', 'is_state', 'on') | list }}",
    "{{ x | rejectattr('entity_id', 'has_value') | list }}",
    "{{ area_entities(x) }}",
    "{{ areas() }}",
    "{{ areas() | map('area_entities') | list }}",
    "{{ floors() }}",
    "{{ labels() }}",
    "{{ labels(x) }}",
    "{{ expand(x) }}",
    "{{ expand('light.a', x) }}",
    "{{ expand(states.light) }}",
    "{% set f = states %}{{ f('sensor.zebra') }}",
    "{% set f = state_attr %}{{ f(x, 'y') }}",
    "{{ [states][0](x) }}",
    "{{ namespace(f=state_attr).f(x, 'y') }}",
    "{{ 'sensor.zebra' | apply(states) }}",
    "{{ apply('sensor.zebra', states) }}",
    "{{ ['sensor.zebra'] | map('apply', states) | list }}",
    "{{ (states).sensor }}",
    "{{ dict(f=has_value).f(x) }}",
    "{% set f = x %}{{ f('sensor.zebra') }}",
    "{{ x('sensor.zebra') }}",
    "{{ '{0.sensor.zebra}'.format(states) }}",
    "{{ states.light.lamp.attributes[states(x)] }}",
    "{{ state_attr('camera.door', 'access' ~ '_token') }}",
    "{{ state_attr('camera.door', name=x) }}",
    "{% filter states %}sensor.zebra{% endfilter %}",
    "{% call(x) states(x) %}{% endcall %}",
]

UNAVAILABLE = [
    "{{ closest(trigger.to_state) }}",
    "{{ distance('zone.home') }}",
    "{{ 'light.lamp' | closest }}",
    "{{ issues() }}",
    "{{ config_entry_attr('x', 'title') }}",
    "{{ 'x' | issue }}",
    "{% set f = closest %}{{ f(1) }}",
    "{{ [closest][0](1) }}",
    "{{ 'x' | apply(issues) }}",
    "{{ ['light.lamp'] | map('closest') | list }}",
    "{{ ['x'] | map('config_entry_attr', 'title') | list }}",
    "{{ ['x'] | select('no_such_test') | list }}",
    "{{ unknown_variable }}",
    "{{ state_attr('camera.door', 'access_token') }}",
    "{{ states.camera.door.attributes.entity_picture }}",
    "{{ states.camera.door.attributes['access_token'] }}",
    "{{ expand('camera.door') | map(attribute='attributes.access_token') | list }}",
    "{{ state_attr('lock.door', 'code') }}",
    "{{ states.lock.door.attributes.users[0].user_code }}",
    "{{ expand('camera.door') | map(attribute='attributes.config.api_key') | list }}",
    "{{ ['camera.door'] | map('expand') | map(attribute='attributes.password') | list }}",
    "{% include 'x' %}",
    "{% import 'x' as y %}{{ y.z() }}",
    "{% from 'x' import y %}",
    "{% extends 'x' %}",
    "{% set states = 1 %}{{ states }}",
    "{% macro states(x) %}{% endmacro %}",
    "{% for states in [1] %}{% endfor %}",
]


@pytest.mark.parametrize(("template", "expected"), STATIC.items())
def test_names(template: str, expected: str) -> None:
    """Entities and lookups are found, and nothing is called dynamic."""
    found = referenced(template)
    assert not found.dynamic
    assert found.unavailable == set()
    parts = expected.split(",") if expected else []
    ids = {i for part in parts if "=" not in part for i in part.split()}
    lookups = {tuple(part.split("=")) for part in parts if "=" in part}
    assert (found.entity_ids, found.lookups) == (ids, lookups)


@pytest.mark.parametrize("template", DYNAMIC)
def test_dynamic(template: str) -> None:
    """What could reach an entity without naming it is dynamic."""
    assert referenced(template, ["x"]).dynamic


@pytest.mark.parametrize("template", UNAVAILABLE)
def test_unavailable(template: str) -> None:
    """Names that are not available here are found wherever they stand."""
    assert referenced(template).unavailable


async def test_validate(hass: HomeAssistant, home: Ids) -> None:
    """Only templates that name what is available and exposed pass; hidden and unknown are refused alike."""
    exposure = Exposure(hass, ASSISTANT)
    for template in (
        "text",
        "{{ states('light.lamp') }}",
        "{{ is_state('binary_sensor.door', 'on') and trigger.to_state.state == 'on' }}",
        "{{ area_entities('Living Room') | count }} {{ area_name('light.lamp') }} {{ label_name('night') }}",
        "{{ device_entities('ID') }}".replace("ID", home.lamp_device),
        "{{ device_attr('ID', 'model') }} {{ is_device_attr('ID', 'model', 'x') }}".replace("ID", home.lamp_device),
    ):
        await async_validate(hass, exposure, template)
    found = await async_validate(hass, exposure, "{{ states.light.lamp.state ~ answer }}", ["answer"])
    assert found.entity_ids == {"light.lamp"}
    refused = {
        "{{ states('sensor.zebra') }}": "'sensor.zebra' was not found or is not exposed",
        "{{ states('sensor.nowhere') }}": "'sensor.nowhere' was not found or is not exposed",
        "{{ states.sensor.zebra.state }}": "'sensor.zebra' was not found or is not exposed",
        "{{ states.light | list }}": "cannot be checked beforehand",
        "{{ states('sensor.' ~ x) }}": "'x' is undefined",
        "{{ closest(states) }}": "'closest' is not available where Home Assistant itself renders",
        "{{ states.light.lamp | attr('state') }}": "'attr' is not available",
        "{{ entity_name('light.lamp') }}": "'entity_name' is not available",
        "{{ 'x' | issue }}": "No filter named 'issue'",
        "{{ area_entities('Kitchen') }}": "finds nothing, or also entities that are not exposed",
        "{{ area_entities('Quokka room') }}": "finds nothing, or also entities that are not exposed",
        "{{ area_entities('Nowhere') }}": "finds nothing, or also entities that are not exposed",
        "{{ label_entities('night') }}": "finds nothing, or also entities that are not exposed",
        "{{ expand('group.lights') }}": "finds nothing, or also entities that are not exposed",
        "{{ integration_entities('hue') }}": "finds nothing, or also entities that are not exposed",
        "{{ device_name('ID') }}".replace(
            "ID", home.hidden_device
        ): "finds nothing, or also entities that are not exposed",
        "{{ device_attr('ID', 'model') }}".replace("ID", home.hidden_device): "finds nothing",
        "{{ states('light.lamp' }}": "in line 1",
        "text\n{% if %}": "in line 2",
        "{{ " + "x" * 10_000 + " }}": "at most 10000",
    }
    for template, reason in refused.items():
        with pytest.raises(ToolError, match=reason.replace("(", r"\(")):
            await async_validate(hass, exposure, template)
