"""Tests of scripts in functions: what they reach, that fail, or when nobody waits for them any more."""

import asyncio

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.functions import script
from custom_components.extended_assist.functions.yaml_source import FunctionError
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.helpers.script import DATA_NEW_SCRIPT_RUNS_NOT_ALLOWED
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.setup import async_setup_component
from tests.attacks import made
from tests.attacks.actions import REGISTRY_ID
from tests.conftest import expose

from .conftest import Ask, Install
from .test_injection import written

pytestmark = pytest.mark.usefixtures("no_deprecations")


async def test_device_that_goes(hass: HomeAssistant, entry: MockConfigEntry, install: Install, ask: Ask) -> None:
    """A device that is not there is told when the function is saved, and when it is called."""
    assert await async_setup_component(hass, "light", {})
    owner = MockConfigEntry(domain="demo")
    owner.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=owner.entry_id, identifiers={("demo", "lamp")})
    lamp = er.async_get(hass).async_get_or_create("light", "demo", "lamp", device_id=device.id)
    step = f"{{device_id: {device.id}, domain: light, type: turn_on, entity_id: {lamp.id}}}"
    function = written(f"type: script\nsequence: [{step}]")
    await install(function)
    dr.async_get(hass).async_remove_device(device.id)
    await hass.async_block_till_done()
    assert (await ask("probe", error=True)).startswith("The script of this function is not valid: ")
    with pytest.raises(FunctionError, match="The sequence is not valid: "):
        await install(function.replace("probe", "other"))


async def test_shutting_down(hass: HomeAssistant, install: Install, ask: Ask) -> None:
    """While Home Assistant shuts down, it runs nothing any more, and a function does not claim that it did."""
    await install(written("type: script\nsequence: [{event: over}]"))
    hass.data[DATA_NEW_SCRIPT_RUNS_NOT_ALLOWED] = None
    assert await ask("probe", error=True) == "Home Assistant is shutting down, so nothing was done."


async def test_fails_later(
    hass: HomeAssistant, install: Install, ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What fails after it was reported as going on is logged."""
    monkeypatch.setattr(script, "WAIT", 0.05)
    await install(written("type: script\nsequence: [{delay: 0.2}, {action: light.fly}]"))
    assert await ask("probe") == "It has not finished after 0.05 seconds and goes on."
    await asyncio.sleep(0.3)
    await hass.async_block_till_done()
    assert "The script of a function failed after it was reported as going on: ServiceNotFound" in caplog.text


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ('[{stop: "No milk", error: true}]', "failed: sequence[0]: No milk"),
        ('[{condition: "{{ false }}"}, {event: over}]', "ended early at sequence[0], where a condition was not met"),
        ('[{wait_template: "{{ false }}", timeout: 0.01, continue_on_timeout: false}]', "the time to wait was over"),
        ('[{repeat: {count: "{{ 10 ** 6 }}", sequence: []}}]', "repeated 10 times"),
        ('[{if: "{{ true }}", then: [{action: light.fly}]}]', "Action light.fly not found"),
        ('[{variables: {x: "{{ 1 / 0 }}"}}]', "division by zero"),
    ],
)
async def test_what_failed_is_told(
    install: Install, ask: Ask, monkeypatch: pytest.MonkeyPatch, steps: str, error: str
) -> None:
    """A script that was ended before its end is no success."""
    monkeypatch.setattr("custom_components.extended_assist.actions.binding.MAX_ROUNDS", 10)
    await install(written(f"type: script\nsequence: {steps}"))
    assert error in await ask("probe", error=True)


async def test_a_result_before_a_condition(install: Install, ask: Ask) -> None:
    """What a script has said before a condition ends it is its result."""
    await install(
        written('type: script\nsequence: [{set_conversation_response: "It is on"}, {condition: "{{ false }}"}]')
    )
    assert await ask("probe") == "It is on"


async def test_longest(hass: HomeAssistant, install: Install, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script is ended after the longest time."""
    monkeypatch.setattr(script, "LONGEST", 0.05)
    await install(written("type: script\nsequence: [{delay: 60}]"))
    assert "took longer than 0.05 seconds and was ended" in await ask("probe", error=True)


SHAPES = (
    "{action: light.turn_on, target: {entity_id: '{{ x }}'}}",
    "{action: light.turn_on, target: {entity_id: ['{{ x }}']}}",
    "{action: light.turn_on, data: {entity_id: '{{ x }}'}}",
    "{action: light.turn_on, target: '{{ {\"entity_id\": x} }}'}",
    "{action: light.turn_on, data: '{{ {\"entity_id\": x} }}'}",
    "{action: light.turn_on, entity_id: light.lamp, data: {entity_id: '{{ x }}'}}",
    "{action: '{{ \"light.turn_on\" }}', target: {entity_id: '{{ x }}'}}",
    "{variables: {y: '{{ x }}'}}, {action: light.turn_on, target: {entity_id: '{{ y }}'}}",
    "{repeat: {for_each: '{{ [x] }}', sequence: [{action: light.turn_on, target: {entity_id: '{{ repeat.item }}'}}]}}",
)


async def test_made_targets(quiet: None, hass: HomeAssistant, install: Install, ask: Ask) -> None:
    """What a model gives reaches nothing hidden, in whatever way it is written and used; `all` is all that is exposed."""
    done: list[ServiceCall] = []
    hass.services.async_register("light", "turn_on", done.append)
    async_set_service_schema(hass, "light", "turn_on", {"target": {"entity": {"domain": "light"}}, "fields": {}})
    zebra = er.async_get(hass).async_get_or_create("light", "demo", "zebra", suggested_object_id="zebra")
    area = ar.async_get(hass).async_get_or_create("Axolotl room")
    er.async_get(hass).async_update_entity("light.zebra", area_id=area.id)
    for name in ("light.zebra", "light.lamp"):
        hass.states.async_set(name, "off", {"friendly_name": name.removeprefix("light.").capitalize() + " lamp"})
    expose(hass, "light.lamp")
    spellings = [text.replace(REGISTRY_ID, zebra.id).replace("bed_light", "lamp") for text in made.SPELLINGS]
    for number, shape in enumerate(SHAPES):
        function = written(f"type: script\nsequence: [{shape}]", "x").replace("probe", f"probe_{number}")
        await install(function)
    tools = hass.config_entries.async_entries("extended_assist")[0].subentries.values()
    assert len([one for one in tools if one.title.startswith("probe_")]) == len(SHAPES)
    for number in range(len(SHAPES)):
        for given in (*spellings, ["light.lamp", "light.zebra"], {"entity_id": "light.zebra"}):
            await ask(f"probe_{number}", {"x": given}, error=True)
            assert done == [], (SHAPES[number], given, [call.data for call in done])
        if number != 4:
            await ask(f"probe_{number}", {"x": "all"})
            assert all(call.data["entity_id"] == ["light.lamp"] for call in done if "zebra" in str(call.data))
            assert all("all" not in str(call.data) for call in done), SHAPES[number]
            done.clear()


async def test_reads_what_is_exposed(hass: HomeAssistant, install: Install, ask: Ask) -> None:
    """Templates of a script see what is exposed; what its user wrote is acted on and told of all the same."""
    done: list[ServiceCall] = []

    async def answer(call: ServiceCall) -> ServiceResponse:
        done.append(call)
        return {"light.zebra": {"count": 1}, "light.other": {"count": 2}}

    hass.services.async_register("box", "open", answer, supports_response=SupportsResponse.OPTIONAL)
    for name in ("light.zebra", "light.other"):
        hass.states.async_set(name, "blue", {"friendly_name": name.removeprefix("light.")})
    act = "{action: box.open, target: {entity_id: light.zebra}, response_variable: _function_result}"
    await install(written(f"type: script\nsequence: [{act}]"))
    assert await ask("probe") == {"light.zebra": {"count": 1}}
    assert done[0].data["entity_id"] == ["light.zebra"]
    read = "type: script\nsequence: [{variables: {_function_result: \"{{ states('light.zebra') }}\"}}]"
    await install(written(read).replace("probe", "reads"))
    assert await ask("reads") == "unknown"
